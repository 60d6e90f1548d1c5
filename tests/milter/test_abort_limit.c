/* SPDX-License-Identifier: BSD-2-Clause */
/* How many transactions without a recipient are worth an event. */
#include "milter/abort_limit.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

static int
take_many(struct abort_limit *limit, int64_t now_ns, int attempts)
{
	int taken = 0;

	for (int i = 0; i < attempts; i++)
		taken += abort_limit_take(limit, now_ns);
	return taken;
}

static void
lets_a_burst_through_and_then_the_rate(void **state)
{
	int64_t now = 5 * CLOCK_NS_PER_SECOND;
	struct abort_limit limit;

	abort_limit_init(&limit, 10, 100);
	assert_int_equal(take_many(&limit, now, 1000), 100);
	assert_int_equal(take_many(&limit, now, 1000), 0);
	now += CLOCK_NS_PER_SECOND;
	assert_int_equal(take_many(&limit, now, 1000), 10);
	now += 3 * CLOCK_NS_PER_SECOND;
	assert_int_equal(take_many(&limit, now, 1000), 30);
}

static void
a_long_quiet_time_gives_no_more_than_a_burst(void **state)
{
	struct abort_limit limit;

	abort_limit_init(&limit, 10, 100);
	assert_int_equal(
	    take_many(&limit, 1000000 * CLOCK_NS_PER_SECOND, 1000), 100);
}

static void
rate_zero_lets_none_through(void **state)
{
	struct abort_limit limit;

	abort_limit_init(&limit, 0, 100);
	assert_int_equal(take_many(&limit, CLOCK_NS_PER_SECOND, 10), 0);
}

static void *
take_in_thread(void *limit)
{
	return (void *)(intptr_t)take_many(limit, CLOCK_NS_PER_SECOND, 10000);
}

static void
threads_together_get_no_more_than_the_burst(void **state)
{
	struct abort_limit limit;
	pthread_t threads[4];
	intptr_t sum = 0;

	abort_limit_init(&limit, 1, 1000);
	for (int i = 0; i < 4; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, take_in_thread, &limit),
		    0);
	for (int i = 0; i < 4; i++) {
		void *taken;

		pthread_join(threads[i], &taken);
		sum += (intptr_t)taken;
	}
	assert_int_equal(sum, 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lets_a_burst_through_and_then_the_rate),
	    cmocka_unit_test(a_long_quiet_time_gives_no_more_than_a_burst),
	    cmocka_unit_test(rate_zero_lets_none_through),
	    cmocka_unit_test(threads_together_get_no_more_than_the_burst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

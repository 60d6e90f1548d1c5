/* SPDX-License-Identifier: BSD-2-Clause */
/* What a thread had of the processor, and for how long it was queued for it. */
#include "base/processor_time.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/lib/unit.h"

#define SPENT_NS (CLOCK_NS_PER_SECOND / 5)
#define THREADS 3

static void
spend(int64_t ns)
{
	int64_t until_ns = processor_time().spent_ns + ns;

	while (processor_time().spent_ns < until_ns)
		;
}

static void *
spend_and_tell(void *result)
{
	spend(SPENT_NS);
	*(struct processor_time *)result = processor_time();
	return NULL;
}

static void
what_another_thread_spends_is_not_counted(void **state)
{
	struct processor_time before, after, other;
	pthread_t thread;

	(void)state;
	before = processor_time();
	assert_int_equal(
	    pthread_create(&thread, NULL, spend_and_tell, &other), 0);
	pthread_join(thread, NULL);
	after = processor_time();
	assert_true(other.spent_ns >= SPENT_NS);
	assert_true(after.spent_ns - before.spent_ns < SPENT_NS);
	assert_true(after.queued_ns >= before.queued_ns);
}

/* Of three on one processor two are queued. */
static void
who_shares_a_processor_is_queued(void **state)
{
	struct processor_time seen[THREADS];
	pthread_t threads[THREADS];
	int64_t queued_ns = 0;
	cpu_set_t old, one;

	(void)state;
	if (access("/proc/thread-self/schedstat", R_OK) != 0)
		skip();
	assert_int_equal(sched_getaffinity(0, sizeof(old), &old), 0);
	CPU_ZERO(&one);
	for (int i = 0; CPU_COUNT(&one) == 0; i++)
		if (CPU_ISSET(i, &old))
			CPU_SET(i, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, spend_and_tell, &seen[i]),
		    0);
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		queued_ns += seen[i].queued_ns;
	}
	assert_int_equal(sched_setaffinity(0, sizeof(old), &old), 0);
	/* One after another they would wait for 1 and 2 times as long. */
	assert_true(queued_ns > 2 * SPENT_NS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_another_thread_spends_is_not_counted),
	    cmocka_unit_test(who_shares_a_processor_is_queued),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* When messages are looked for next. */
#include "exporter/join/look_times.h"

#include <stdlib.h>

#include "tests/lib/unit.h"

#define START 5000

static int
setup(void **state)
{
	struct look_times *times = look_times_new();

	look_times_set_now(times, START);
	look_times_set_first(times, 60);
	*state = times;
	return 0;
}

static int
teardown(void **state)
{
	struct look_times *times = *state;

	look_times_free(&times);
	return 0;
}

/* How many are due at a time; each must be one of `looks`. */
static unsigned
due_at(struct look_times *times, uint32_t now)
{
	unsigned count = 0;
	struct look *look;

	look_times_set_now(times, now);
	while ((look = look_times_next(times)) != NULL) {
		assert_int_equal(look->due, 0);
		count++;
	}
	return count;
}

static void
without_looks_there_is_nothing_to_wait_for(void **state)
{
	assert_null(look_times_next(*state));
	assert_int_equal(look_times_deadline(*state), 0);
}

static void
a_look_is_due_at_its_second_and_not_before(void **state)
{
	struct look look = {.due = 0};

	look_times_set(*state, &look, START + 10);
	assert_int_equal(look_times_deadline(*state), START + 10);
	assert_int_equal(due_at(*state, START + 9), 0);
	assert_int_equal(due_at(*state, START + 10), 1);
	assert_int_equal(look_times_deadline(*state), 0);
}

static void
one_of_the_past_is_due_at_once(void **state)
{
	struct look look = {.due = 0};

	look_times_set(*state, &look, 1);
	assert_int_equal(due_at(*state, START + 1), 1);
}

static void
one_of_a_far_time_waits_for_it(void **state)
{
	struct look look = {.due = 0};

	look_times_set(*state, &look, START + 100000);
	for (uint32_t now = START; now < START + 100000; now += 777)
		assert_int_equal(due_at(*state, now), 0);
	assert_int_equal(due_at(*state, START + 100000), 1);
}

static void
after_a_long_sleep_all_are_due(void **state)
{
	struct look looks[5000] = {{.due = 0}};

	for (unsigned i = 0; i < COUNT(looks); i++)
		look_times_set(*state, &looks[i], START + 1 + i);
	assert_int_equal(due_at(*state, START + 50000), COUNT(looks));
	assert_int_equal(look_times_deadline(*state), 0);
}

static void
one_that_is_moved_or_cancelled_is_not_due(void **state)
{
	struct look first = {.due = 0}, second = {.due = 0};

	look_times_set(*state, &first, START + 10);
	look_times_set(*state, &second, START + 10);
	look_times_set(*state, &first, START + 20);
	look_times_cancel(*state, &second);
	look_times_cancel(*state, &second);
	assert_int_equal(due_at(*state, START + 19), 0);
	assert_int_equal(due_at(*state, START + 20), 1);
}

static void
one_may_be_cancelled_while_it_is_due(void **state)
{
	struct look looks[3] = {{.due = 0}};
	struct look *next;

	for (unsigned i = 0; i < COUNT(looks); i++)
		look_times_set(*state, &looks[i], START + 1);
	look_times_set_now(*state, START + 2);
	next = look_times_next(*state);
	for (unsigned i = 0; i < COUNT(looks); i++)
		if (&looks[i] != next) {
			look_times_cancel(*state, &looks[i]);
			break;
		}
	assert_int_equal(due_at(*state, START + 2), 1);
}

static void
a_new_message_is_looked_for_when_it_is_old_enough(void **state)
{
	struct look look = {.due = 0};

	look_times_begin(*state, &look);
	assert_int_equal(look.active, START);
	assert_int_equal(due_at(*state, START + 59), 0);
	look_times_begin(*state, &look);
	assert_int_equal(due_at(*state, START + 60), 1);
}

static void
news_may_make_it_due_soon(void **state)
{
	struct look look = {.due = 0};

	look_times_begin(*state, &look);
	look_times_set_now(*state, START + 5);
	look_times_note(*state, &look, false);
	assert_int_equal(look.active, START + 5);
	assert_int_equal(look.due, START + 60);
	look_times_note(*state, &look, true);
	assert_int_equal(due_at(*state, START + 6), 1);
}

static void
whatever_is_done_each_is_taken_once_and_never_early(void **state)
{
	struct look looks[300] = {{.due = 0}};
	uint32_t now = START;
	struct look *look;

	srand(1);
	for (unsigned i = 0; i < COUNT(looks); i++)
		look_times_set(
		    *state, &looks[i], now + 1 + (uint32_t)rand() % 5000);
	for (unsigned step = 0; step < 20000; step++) {
		uint32_t deadline = look_times_deadline(*state);

		for (unsigned i = 0; i < COUNT(looks); i++)
			assert_true(looks[i].due == 0 || deadline != 0);
		now += (uint32_t)rand() % 3;
		look_times_set_now(*state, now);
		for (unsigned i = 0; i < COUNT(looks); i++)
			looks[i].asked = looks[i].due;
		while ((look = look_times_next(*state)) != NULL) {
			assert_true(look->asked != 0 && look->asked <= now);
			look_times_set(
			    *state, look, now + 1 + (uint32_t)rand() % 5000);
			look->asked = 0;
		}
		for (unsigned i = 0; i < COUNT(looks); i++)
			assert_true(looks[i].due > now);
	}
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(without_looks_there_is_nothing_to_wait_for),
	    TEST(a_look_is_due_at_its_second_and_not_before),
	    TEST(one_of_the_past_is_due_at_once),
	    TEST(one_of_a_far_time_waits_for_it),
	    TEST(after_a_long_sleep_all_are_due),
	    TEST(one_that_is_moved_or_cancelled_is_not_due),
	    TEST(one_may_be_cancelled_while_it_is_due),
	    TEST(a_new_message_is_looked_for_when_it_is_old_enough),
	    TEST(news_may_make_it_due_soon),
	    TEST(whatever_is_done_each_is_taken_once_and_never_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

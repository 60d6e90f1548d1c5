/* SPDX-License-Identifier: BSD-2-Clause */
/* How many events a batch may have follows from how long commits take. */
#include "exporter/batch_size.h"

#include "tests/lib/unit.h"

#define MS INT64_C(1000000)
#define MOST 10000
#define COMMITS 100

/* Nothing is waited for. */
static void
learn(struct batch_size *size, int64_t spent_ns)
{
	const struct batch_cost cost = {size->events, spent_ns, 0, 0};

	batch_size_learn(size, &cost);
}

static void
long_commits_make_small_batches(void **state)
{
	struct batch_size size = batch_size_begin(MOST);
	int64_t before = size.events;

	(void)state;
	learn(&size, 40 * MS);
	assert_true(size.events < before);
	for (int i = 0; i < COMMITS; i++)
		learn(&size, 1000 * MS);
	assert_in_range(size.events, 1, 1000);
}

static void
short_commits_make_large_batches(void **state)
{
	struct batch_size size = batch_size_begin(MOST);

	(void)state;
	for (int i = 0; i < COMMITS; i++)
		learn(&size, 1 * MS);
	assert_int_equal(size.events, MOST);
}

/* Thousands would take longer than the few there are now. */
static void
few_events_do_not_make_large_batches(void **state)
{
	struct batch_size size = batch_size_begin(MOST);
	const int64_t before = size.events;
	const struct batch_cost few = {before - 1, 1 * MS, 0, 0};
	const struct batch_cost enough = {before, 1 * MS, 0, 0};

	(void)state;
	for (int i = 0; i < COMMITS; i++)
		batch_size_learn(&size, &few);
	assert_int_equal(size.events, before);
	batch_size_learn(&size, &enough);
	assert_true(size.events > before);
}

/* Commits that take a time for themselves and some for each event. */
static void
batches_settle_where_commits_are_short(void **state)
{
	struct batch_size size = batch_size_begin(MOST);
	int64_t took_ns = 0;

	(void)state;
	for (int i = 0; i < COMMITS; i++) {
		took_ns = 2 * MS + 6000 * size.events;
		learn(&size, took_ns);
	}
	assert_in_range(took_ns, 5 * MS, 25 * MS);
}

/* Who needs the processor for longer is queued for longer. */
static void
a_busy_processor_makes_small_batches(void **state)
{
	struct batch_size size = batch_size_begin(MOST);
	struct batch_cost cost = {0, 0, 0, 0};

	(void)state;
	for (int i = 0; i < COMMITS; i++) {
		cost = (struct batch_cost){
		    size.events, 10000 * size.events, 30000 * size.events, 0};
		batch_size_learn(&size, &cost);
	}
	assert_in_range(cost.queued_ns, 3 * MS, 9 * MS);
}

/* Most commits find the processor idle. */
static void
one_that_was_busy_of_late_is_remembered(void **state)
{
	struct batch_size size = batch_size_begin(MOST);
	int64_t longest_ns = 0;

	(void)state;
	for (int i = 0; i < 10 * COMMITS; i++) {
		struct batch_cost cost = {size.events, 5000 * size.events,
		    i % 10 == 0 ? 50000 * size.events : 0, 0};

		batch_size_learn(&size, &cost);
		if (i > COMMITS && cost.queued_ns > longest_ns)
			longest_ns = cost.queued_ns;
	}
	assert_in_range(longest_ns, 3 * MS, 8 * MS);
	for (int i = 0; i < 10 * COMMITS; i++)
		learn(&size, 1 * MS);
	assert_int_equal(size.events, MOST);
}

/* The more there is to write the longer the disk takes, beside others. */
static void
a_busy_disk_makes_small_batches(void **state)
{
	struct batch_size size = batch_size_begin(MOST);
	struct batch_cost cost = {0, 0, 0, 0};

	(void)state;
	for (int i = 0; i < COMMITS; i++) {
		cost = (struct batch_cost){size.events, 3000 * size.events, 0,
		    2 * MS + 12000 * size.events};
		batch_size_learn(&size, &cost);
	}
	assert_in_range(cost.blocked_ns, 5 * MS, 15 * MS);
}

/* One that takes long whatever there is to write is not asked all the time. */
static void
a_slow_disk_does_not_make_the_smallest_batches(void **state)
{
	const struct batch_cost cost = {MOST, 1 * MS, 0, 1000 * MS};
	const struct batch_cost both = {MOST, 1 * MS, 1000 * MS, 1000 * MS};
	struct batch_size size = batch_size_begin(MOST);

	(void)state;
	for (int i = 0; i < COMMITS; i++)
		batch_size_learn(&size, &cost);
	assert_int_equal(size.events, 400);
	for (int i = 0; i < COMMITS; i++)
		batch_size_learn(&size, &both);
	assert_int_equal(size.events, 100);
	batch_size_learn(&size, &cost);
	assert_int_equal(size.events, 100);
}

static void
no_batch_is_larger_than_it_may_be(void **state)
{
	struct batch_size size = batch_size_begin(1);

	(void)state;
	assert_int_equal(size.events, 1);
	learn(&size, 1 * MS);
	assert_int_equal(size.events, 1);
	learn(&size, 1000 * MS);
	assert_int_equal(size.events, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(long_commits_make_small_batches),
	    cmocka_unit_test(short_commits_make_large_batches),
	    cmocka_unit_test(few_events_do_not_make_large_batches),
	    cmocka_unit_test(batches_settle_where_commits_are_short),
	    cmocka_unit_test(a_busy_processor_makes_small_batches),
	    cmocka_unit_test(one_that_was_busy_of_late_is_remembered),
	    cmocka_unit_test(a_busy_disk_makes_small_batches),
	    cmocka_unit_test(a_slow_disk_does_not_make_the_smallest_batches),
	    cmocka_unit_test(no_batch_is_larger_than_it_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

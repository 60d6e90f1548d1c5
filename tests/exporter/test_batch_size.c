/* SPDX-License-Identifier: BSD-2-Clause */
/* How many events a batch may have follows from how long commits take. */
#include "exporter/batch_size.h"

#include "tests/lib/unit.h"

#define MS INT64_C(1000000)
#define MOST 10000
#define COMMITS 100

static void
long_commits_make_small_batches(void **state)
{
	struct batch_size size = batch_size_begin(MOST);
	int64_t before = size.events;

	(void)state;
	batch_size_learn(&size, 40 * MS);
	assert_true(size.events < before);
	for (int i = 0; i < COMMITS; i++)
		batch_size_learn(&size, 1000 * MS);
	assert_in_range(size.events, 1, 1000);
}

static void
short_commits_make_large_batches(void **state)
{
	struct batch_size size = batch_size_begin(MOST);

	(void)state;
	for (int i = 0; i < COMMITS; i++)
		batch_size_learn(&size, 1 * MS);
	assert_int_equal(size.events, MOST);
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
		batch_size_learn(&size, took_ns);
	}
	assert_in_range(took_ns, 5 * MS, 25 * MS);
}

static void
no_batch_is_larger_than_it_may_be(void **state)
{
	struct batch_size size = batch_size_begin(1);

	(void)state;
	assert_int_equal(size.events, 1);
	batch_size_learn(&size, 1 * MS);
	assert_int_equal(size.events, 1);
	batch_size_learn(&size, 1000 * MS);
	assert_int_equal(size.events, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(long_commits_make_small_batches),
	    cmocka_unit_test(short_commits_make_large_batches),
	    cmocka_unit_test(batches_settle_where_commits_are_short),
	    cmocka_unit_test(no_batch_is_larger_than_it_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

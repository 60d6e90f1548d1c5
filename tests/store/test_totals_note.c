/* SPDX-License-Identifier: BSD-2-Clause */
/* What was counted is noted, and what files lack of it is carried (I3). */
#include "store/totals_note.h"

#include "base/buffer.h"
#include "store/observation.h"
#include "store/totals_writer.h"
#include "tests/store/store_fixture.h"

struct counted {
	uint64_t counters[COUNTERS];
	struct histogram_total histograms[HISTOGRAMS];
};

/* `from` to `until` of a row of observations, each of them counted. */
static struct totals *
count(int from, int until)
{
	struct counted counted = {.counters = {0}};
	struct totals *totals = totals_new(&fixture_names);

	for (int i = from; i < until; i++) {
		const struct observation observation = {
		    .value_ns = INT64_C(1) << i % 40};

		counted.counters[i % COUNTERS] += 1000;
		histogram_total_observe(
		    &counted.histograms[i % HISTOGRAMS], &observation);
	}
	totals_begin(totals);
	totals_add(totals, counted.counters, counted.histograms);
	totals_end(totals);
	return totals;
}

static void
assert_equal(struct totals *totals, struct totals *wanted)
{
	struct counted *is = calloc(1, sizeof(*is));
	struct counted *should_be = calloc(1, sizeof(*should_be));

	totals_snapshot(totals, is->counters, is->histograms);
	totals_snapshot(wanted, should_be->counters, should_be->histograms);
	assert_memory_equal(
	    is->counters, should_be->counters, sizeof(is->counters));
	for (int i = 0; i < HISTOGRAMS; i++) {
		const struct histogram *left = &is->histograms[i].exponential;
		const struct histogram *right =
		    &should_be->histograms[i].exponential;

		assert_int_equal(left->count, right->count);
		assert_int_equal(left->sum_ns, right->sum_ns);
		assert_memory_equal(
		    left->buckets, right->buckets, sizeof(left->buckets));
		assert_memory_equal(is->histograms[i].buckets,
		    should_be->histograms[i].buckets,
		    sizeof(is->histograms[i].buckets));
	}
	free(is);
	free(should_be);
}

static void
a_note_holds_the_sums(void **state)
{
	struct totals *totals = count(0, 200), *again = count(0, 0);
	struct buffer note = {.data = NULL};

	for (int i = 0; i < 2; i++)
		totals_note_write(totals, &note);
	totals_note_add(again, &note);
	assert_equal(again, totals);
	totals_free(&again);
	totals_free(&totals);
	buffer_free(&note);
}

/* The files lose the first part, then go on. */
static void
what_files_lack_is_carried_once(void **state)
{
	struct totals *sums = count(60, 200), *noted = count(0, 200);
	struct totals *carried = count(0, 0), *lost = count(0, 60);
	struct totals *later = count(60, 300), *all = count(0, 300);
	struct buffer note = {.data = NULL};

	assert_true(totals_carry(sums, carried, noted));
	assert_equal(carried, lost);
	totals_free(&noted);
	noted = count(0, 200);
	assert_equal(sums, noted);
	assert_false(totals_carry(sums, carried, noted));

	totals_note_write(carried, &note);
	totals_note_add(later, &note);
	assert_equal(later, all);
	/* The note may lag behind the files. */
	assert_false(totals_carry(later, carried, noted));
	assert_equal(carried, lost);
	assert_equal(later, all);
	totals_free(&sums);
	totals_free(&noted);
	totals_free(&carried);
	totals_free(&lost);
	totals_free(&later);
	totals_free(&all);
	buffer_free(&note);
}

static void
a_note_that_is_cut_adds_what_it_has(void **state)
{
	struct totals *totals = count(0, 200);
	struct buffer note = {.data = NULL};

	totals_note_write(totals, &note);
	for (size_t size = 0; size < note.size; size++) {
		unsigned char *copy = malloc(size + 1);
		struct buffer cut = {.data = copy, .size = size};
		struct totals *some = count(0, 0);
		struct totals *carried = count(0, 0);

		memcpy(copy, note.data, size);
		totals_note_add(some, &cut);
		assert_false(totals_carry(totals, carried, some));
		totals_free(&some);
		totals_free(&carried);
		free(copy);
	}
	totals_free(&totals);
	buffer_free(&note);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_note_holds_the_sums),
	    cmocka_unit_test(what_files_lack_is_carried_once),
	    cmocka_unit_test(a_note_that_is_cut_adds_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exponential histograms: every duration in its bucket, exactly; percentiles
 * within 1.1 %; merging and packing lose nothing.
 */
#include "store/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "tests/lib/unit.h"

#define SECOND INT64_C(1000000000)

static uint64_t random_state = 1;

static uint64_t
next_random(void)
{
	random_state =
	    random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return random_state >> 11;
}

/* Of any size up to about a month, small ones as often as large ones. */
static int64_t
random_duration(void)
{
	return (int64_t)((next_random() >> (next_random() % 42)) + 1);
}

static void
powers_of_two_are_the_last_of_their_bucket(void **state)
{
	/* From the smallest that is whole in nanoseconds to the largest. */
	for (int power = -9; power <= 33; power++) {
		int64_t value = power < 0 ? SECOND >> -power : SECOND << power;

		assert_int_equal(histogram_index(value), 32 * power);
		assert_int_equal(histogram_index(value + 1), 32 * power + 1);
		assert_int_equal(histogram_index(value - 1), 32 * power);
		assert_int_equal(histogram_bound_ns(32 * power), value);
	}
}

static void
a_value_lies_above_the_bound_before_and_not_above_its_own(void **state)
{
	static const int64_t values[] = {
	    1, 2, 3, 5, 31, 32, 33, 999, 1000, 1001, INT64_MAX - 1, INT64_MAX};

	for (size_t i = 0; i < COUNT(values) + 300000; i++) {
		int64_t value =
		    i < COUNT(values) ? values[i] : random_duration();
		int index = histogram_index(value);

		assert_true(index >= HISTOGRAM_INDEX_MIN);
		assert_true(index <= HISTOGRAM_INDEX_MAX);
		assert_true(value <= histogram_bound_ns(index));
		assert_true(index == HISTOGRAM_INDEX_MIN ||
			    value > histogram_bound_ns(index - 1));
	}
}

/* Each bound is the one before times 2^(1/32), rounded down: the product of 32
 * factors is a doubling, within the rounding. */
static void
bounds_double_each_32(void **state)
{
	for (int index = HISTOGRAM_INDEX_MIN + 400;
	     index + 32 <= HISTOGRAM_INDEX_MAX - 64; index++) {
		int64_t twice = 2 * histogram_bound_ns(index);
		int64_t bound = histogram_bound_ns(index + 32);

		assert_true(bound == twice || bound == twice + 1);
		assert_true(bound > histogram_bound_ns(index + 31));
	}
}

static int
by_value(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void
percentiles_are_right_within_1_1_percent(void **state)
{
	enum { VALUES = 20000 };
	static const double quantiles[] = {0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 1};
	static struct histogram histogram;
	static int64_t values[VALUES];

	histogram_init(&histogram);
	for (size_t i = 0; i < VALUES; i++) {
		values[i] = 100000 + random_duration() % (900 * SECOND);
		histogram_observe(&histogram, values[i]);
	}
	qsort(values, VALUES, sizeof(values[0]), by_value);
	for (size_t i = 0; i < COUNT(quantiles); i++) {
		size_t rank = (size_t)(quantiles[i] * VALUES) - 1;
		double wanted = (double)values[rank];
		double got =
		    (double)histogram_quantile_ns(&histogram, quantiles[i]);

		assert_row(i, got >= wanted * 0.989 && got <= wanted * 1.011);
	}
}

static void
an_empty_one_has_no_percentile_and_zeros_are_counted(void **state)
{
	static struct histogram histogram;

	histogram_init(&histogram);
	assert_int_equal(histogram_quantile_ns(&histogram, 0.5), 0);
	histogram_observe(&histogram, 0);
	histogram_observe(&histogram, 0);
	histogram_observe(&histogram, SECOND);
	assert_int_equal(histogram_quantile_ns(&histogram, 0.5), 0);
	assert_true(histogram_quantile_ns(&histogram, 0.99) > 0);
	assert_int_equal(histogram.zero, 2);
	assert_int_equal(histogram.count, 3);
	assert_int_equal(histogram.sum_ns, SECOND);
}

static void
assert_same_buckets(const struct histogram *left, const struct histogram *right)
{
	assert_int_equal(left->zero, right->zero);
	assert_memory_equal(
	    left->buckets, right->buckets, sizeof(left->buckets));
}

static void
merged_halves_are_the_whole(void **state)
{
	static struct histogram halves[2], whole;

	histogram_init(&halves[0]);
	histogram_init(&halves[1]);
	histogram_init(&whole);
	for (size_t i = 0; i < 5000; i++) {
		int64_t value = i % 50 == 0 ? 0 : random_duration();

		histogram_observe(&halves[i % 3 == 0], value);
		histogram_observe(&whole, value);
	}
	histogram_merge(&halves[0], &halves[1]);
	assert_same_buckets(&halves[0], &whole);
	assert_int_equal(halves[0].count, whole.count);
	assert_int_equal(halves[0].sum_ns, whole.sum_ns);
}

static void
packed_and_unpacked_it_is_the_same(void **state)
{
	static struct histogram before, after;
	struct buffer packed = {0};

	for (size_t values = 0; values < 2000; values += 333) {
		histogram_init(&before);
		histogram_init(&after);
		for (size_t i = 0; i < values; i++)
			histogram_observe(&before, random_duration());
		histogram_observe(&before, 1);
		histogram_observe(&before, INT64_MAX);
		buffer_clear(&packed);
		histogram_encode(&before, &packed);
		assert_int_equal(
		    histogram_decode(&after, packed.data, packed.size), 0);
		assert_same_buckets(&before, &after);
		assert_int_equal(before.low, after.low);
		assert_int_equal(before.high, after.high);
		histogram_clear(&before);
		histogram_init(&after);
		assert_memory_equal(&before, &after, sizeof(before));
	}
	buffer_free(&packed);
}

static void
damaged_blobs_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} blobs[] = {
	    {"", 0},                 /* no zeros */
	    {"\0\0\1", 3},           /* no gap */
	    {"\0\1\0", 3},           /* no count */
	    {"\0\1", 2},             /* cut */
	    {"\0\1\x80", 3},         /* cut number */
	    {"\0\xff\x7f\1", 4},     /* beyond the last */
	    {"\0\1\1\xe1\x0f\1", 6}, /* the same, later */
	    {"\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1", 12},
	    {"\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\1", 12},
	};
	static struct histogram histogram;

	histogram_init(&histogram);
	for (size_t i = 0; i < COUNT(blobs); i++)
		assert_row(i, histogram_decode(&histogram, blobs[i].bytes,
				  blobs[i].size) == -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(powers_of_two_are_the_last_of_their_bucket),
	    cmocka_unit_test(
		a_value_lies_above_the_bound_before_and_not_above_its_own),
	    cmocka_unit_test(bounds_double_each_32),
	    cmocka_unit_test(percentiles_are_right_within_1_1_percent),
	    cmocka_unit_test(
		an_empty_one_has_no_percentile_and_zeros_are_counted),
	    cmocka_unit_test(merged_halves_are_the_whole),
	    cmocka_unit_test(packed_and_unpacked_it_is_the_same),
	    cmocka_unit_test(damaged_blobs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

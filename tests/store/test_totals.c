/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums over files: they come back after a restart, never sink, and each
 * duration lies in the bucket whose bound it does not exceed. */
#include "tests/store/store_fixture.h"

#include <sqlite3.h>

#include "store/observation.h"
#include "store/totals_writer.h"

static void
observe(struct histogram_total *total, int64_t value_ns)
{
	histogram_total_observe(
	    total, &(struct observation){.value_ns = value_ns});
}

static void
bounds_are_inclusive_and_the_last_bucket_has_none(void **state)
{
	struct histogram_total total = {0};

	for (size_t i = 0; i < TOTALS_BUCKETS; i++) {
		observe(&total, totals_bounds_ns[i]);
		observe(&total, totals_bounds_ns[i] + 1);
	}
	observe(&total, 0);
	assert_int_equal(total.buckets[0], 2);
	for (size_t i = 1; i < TOTALS_BUCKETS; i++)
		assert_row(i, total.buckets[i] == 2);
	assert_int_equal(total.buckets[TOTALS_BUCKETS], 1);
	assert_int_equal(total.exponential.count, 2 * TOTALS_BUCKETS + 1);
	assert_int_equal(totals_bounds_ns[0], 1000000);
	assert_int_equal(totals_bounds_ns[TOTALS_BUCKETS - 1], 5 * DAY_NS);
	for (size_t i = 1; i < TOTALS_BUCKETS; i++)
		assert_row(i, totals_bounds_ns[i] > totals_bounds_ns[i - 1]);
}

static void
add_one(struct fixture *fixture, int64_t wall_ns, int64_t value_ns)
{
	struct day_file *file =
	    store_file(fixture->store, wall_ns, &fixture->reason);

	assert_non_null(file);
	day_file_count(file, COUNTER_MESSAGES, 1);
	day_file_observe(file, HISTOGRAM_LATENCY, wall_ns, value_ns);
}

static uint64_t
exponentially(const struct histogram_total *total, int64_t value_ns)
{
	return total->exponential
	    .buckets[histogram_index(value_ns) - HISTOGRAM_INDEX_MIN];
}

static void
sums_of_all_files_come_back_after_a_restart(void **state)
{
	struct fixture *fixture = *state;
	struct histogram_total histograms[HISTOGRAMS];
	const struct histogram_total *latency = &histograms[HISTOGRAM_LATENCY];
	uint64_t counters[COUNTERS];

	for (int64_t day = -6; day <= 1; day++)
		for (int i = 0; i < 3; i++)
			add_one(fixture, NOW_NS + day * DAY_NS,
			    (i + 1) * SECOND_NS);
	add_one(fixture, NOW_NS - 100 * DAY_NS, 7 * SECOND_NS);
	assert_int_equal(fixture_counted(fixture, COUNTER_MESSAGES), 0);
	fixture_must_commit(fixture, 1);
	assert_int_equal(fixture_counted(fixture, COUNTER_MESSAGES), 25);
	for (int restart = 0; restart < 3; restart++) {
		/* In a week most of them are past writing. */
		fixture_now_ns += 7 * DAY_NS;
		fixture_reopen(fixture);
		totals_snapshot(fixture->totals, counters, histograms);
		assert_int_equal(counters[COUNTER_MESSAGES], 25);
		assert_int_equal(latency->exponential.count, 25);
		assert_int_equal(
		    latency->exponential.sum_ns, (8 * 6 + 7) * SECOND_NS);
		assert_int_equal(latency->buckets[9], 8);
		assert_int_equal(exponentially(latency, SECOND_NS), 8);
		assert_int_equal(exponentially(latency, 7 * SECOND_NS), 1);
		assert_int_equal(
		    histograms[HISTOGRAM_QUEUE].exponential.count, 0);
	}
}

static struct uuid
observe_message(struct fixture *fixture, int64_t after_ns, int64_t value_ns)
{
	struct uuid id = uuid_new(NOW_NS);
	const struct observation observation = {
	    .histogram = HISTOGRAM_LATENCY,
	    .message = &id,
	    .wall_ns = NOW_NS + after_ns,
	    .value_ns = value_ns,
	};

	day_file_observe_labelled(
	    store_file(fixture->store, NOW_NS, NULL), &observation);
	return id;
}

/* One of each bucket, the last: seen once committed, gone after a restart. */
static void
exemplars_are_the_last_of_their_bucket(void **state)
{
	struct fixture *fixture = *state;
	struct histogram_total histograms[HISTOGRAMS];
	const struct exemplar *seen = histograms[HISTOGRAM_LATENCY].exemplars;
	uint64_t counters[COUNTERS];
	struct uuid last, quick;

	observe_message(fixture, 5, SECOND_NS);
	last = observe_message(fixture, 7, SECOND_NS - 1);
	totals_snapshot(fixture->totals, counters, histograms);
	assert_false(uuid_is_set(&seen[9].message));
	fixture_must_commit(fixture, 1);
	observe_message(fixture, 6, SECOND_NS - 2);
	quick = observe_message(fixture, 1, 2);
	add_one(fixture, NOW_NS, SECOND_NS);
	fixture_must_commit(fixture, 2);
	totals_snapshot(fixture->totals, counters, histograms);
	assert_true(uuid_equal(&seen[9].message, &last));
	assert_int_equal(seen[9].value_ns, SECOND_NS - 1);
	assert_int_equal(seen[9].wall_ns, NOW_NS + 7);
	assert_true(uuid_equal(&seen[0].message, &quick));
	fixture_reopen(fixture);
	totals_snapshot(fixture->totals, counters, histograms);
	for (unsigned i = 0; i <= TOTALS_BUCKETS; i++)
		assert_false(uuid_is_set(&seen[i].message));
}

static int
read_number(void *context, int columns, char **values, char **names)
{
	*(long long *)context = atoll(values[0]);
	return 0;
}

static long long
ask(struct fixture *fixture, const char *sql)
{
	char path[FIXTURE_PATH_SIZE];
	long long number = -1;
	sqlite3 *database;

	fixture_path(fixture, "day-20261130.db", path);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(
	    sqlite3_exec(database, sql, read_number, &number, NULL), SQLITE_OK);
	sqlite3_close(database);
	return number;
}

/* In rows of older versions the blob ends with the classic buckets. */
static void
older_rows_are_spread_by_their_classic_buckets(void **state)
{
	struct fixture *fixture = *state;
	struct histogram_total histograms[HISTOGRAMS];
	const struct histogram_total *latency = &histograms[HISTOGRAM_LATENCY];
	uint64_t counters[COUNTERS];

	add_one(fixture, NOW_NS, 3 * SECOND_NS);
	add_one(fixture, NOW_NS, 4 * SECOND_NS);
	add_one(fixture, NOW_NS, 6 * DAY_NS);
	fixture_must_commit(fixture, 1);
	fixture_close(fixture);
	ask(fixture, "UPDATE total SET buckets = substr(buckets, 1, 25)");
	fixture->totals = totals_new(&fixture_names);
	fixture->store =
	    store_open(&fixture->settings, fixture->totals, &fixture->reason);
	for (int restart = 0; restart < 2; restart++) {
		totals_snapshot(fixture->totals, counters, histograms);
		assert_int_equal(latency->exponential.count, 3 + restart);
		assert_int_equal(exponentially(latency, 3 * SECOND_NS), 0);
		assert_int_equal(exponentially(latency, 5 * SECOND_NS), 2);
		assert_int_equal(exponentially(latency, 5 * DAY_NS + 1), 1);
		assert_int_equal(exponentially(latency, SECOND_NS), restart);
		add_one(fixture, NOW_NS, SECOND_NS);
		fixture_must_commit(fixture, 2 + (uint64_t)restart);
		fixture_reopen(fixture);
	}
}

static void
cells_lie_at_the_minute_and_hour_of_completion(void **state)
{
	struct fixture *fixture = *state;

	for (int batch = 0; batch < 3; batch++) {
		/* 00:59:59, 01:00:00, 01:00:30 */
		for (int i = 0; i < 3; i++)
			day_file_observe(
			    store_file(fixture->store, MIDNIGHT_NS, NULL),
			    HISTOGRAM_LATENCY,
			    MIDNIGHT_NS +
				(3599 + (i > 0) + 30 * (i > 1)) * SECOND_NS,
			    SECOND_NS);
		fixture_must_commit(fixture, (uint64_t)batch + 1);
	}
	assert_int_equal(ask(fixture, "SELECT count(*) FROM minute"), 2);
	assert_int_equal(ask(fixture, "SELECT count(*) FROM hour"), 2);
	assert_int_equal(
	    ask(fixture, "SELECT count FROM minute ORDER BY time"), 6);
	assert_int_equal(
	    ask(fixture, "SELECT count FROM hour ORDER BY time DESC"), 3);
	assert_int_equal(
	    ask(fixture, "SELECT time FROM hour ORDER BY time DESC"),
	    MIDNIGHT_NS / SECOND_NS / 3600);
	assert_int_equal(
	    ask(fixture, "SELECT sum(sum_ns) FROM minute"), 9 * SECOND_NS);
}

static void
names_that_are_not_known_stay_in_the_file(void **state)
{
	static const char *const counters[] = {"deliveries", "new"};
	static const char *const histograms[] = {"queue"};
	static const struct totals_names other = {counters, 2, histograms, 1};
	struct fixture *fixture = *state;
	struct histogram_total histogram;
	uint64_t values[2];

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	fixture_close(fixture);
	fixture->totals = totals_new(&other);
	fixture->store =
	    store_open(&fixture->settings, fixture->totals, &fixture->reason);
	totals_snapshot(fixture->totals, values, &histogram);
	assert_int_equal(values[0], 2);
	assert_int_equal(values[1], 0);
	assert_int_equal(histogram.exponential.count, 2);
	day_file_count(
	    store_file(fixture->store, fixture_message_ns(1), NULL), 1, 5);
	fixture_must_commit(fixture, 2);
	fixture_reopen(fixture);
	assert_int_equal(fixture_counted(fixture, COUNTER_MESSAGES), 1);
	assert_int_equal(fixture_counted(fixture, COUNTER_DELIVERIES), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	    cmocka_unit_test(bounds_are_inclusive_and_the_last_bucket_has_none),
	    TEST(sums_of_all_files_come_back_after_a_restart),
	    TEST(older_rows_are_spread_by_their_classic_buckets),
	    TEST(exemplars_are_the_last_of_their_bucket),
	    TEST(cells_lie_at_the_minute_and_hour_of_completion),
	    TEST(names_that_are_not_known_stay_in_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

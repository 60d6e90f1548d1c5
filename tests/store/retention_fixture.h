/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * retention_fixture: stores of many days, and what must not change when days
 * are purged.
 */
#ifndef TESTS_STORE_RETENTION_FIXTURE_H
#define TESTS_STORE_RETENTION_FIXTURE_H

#include "base/buffer.h"
#include "store/archive.h"
#include "store/layout.h"
#include "store/query_latency.h"
#include "store/series.h"
#include "store/settings.h"

#include <poll.h>
#include <sqlite3.h>

#include "tests/lib/store_disk.h"
#include "tests/store/store_fixture.h"

#define HOUR_NS (3600 * SECOND_NS)
#define FIRST_DAY (MIDNIGHT_NS / DAY_NS)

/* As if days ago, at a minute of that day. */
static inline void
days_put(struct fixture *fixture, int64_t wall_ns, int64_t value_ns)
{
	struct day_file *file =
	    store_file(fixture->store, wall_ns, &fixture->reason);

	if (file == NULL)
		fail_msg("%s", fixture->reason.text);
	day_file_count(file, COUNTER_MESSAGES, 1);
	day_file_observe(file, HISTOGRAM_LATENCY, wall_ns, value_ns);
	/* Complete on the next day. */
	day_file_observe(file, HISTOGRAM_QUEUE, wall_ns + DAY_NS, value_ns);
}

/* Lets the clock go on day by day; each has a few observations in it. */
static inline void
days_pass(struct fixture *fixture, int count)
{
	static uint64_t position;

	for (int i = 0; i < count; i++) {
		for (int hour = 0; hour < 3; hour++)
			days_put(fixture, fixture_now_ns + hour * HOUR_NS,
			    (1 + position % 7) * SECOND_NS);
		fixture_must_commit(fixture, ++position);
		store_disk_wait(fixture->store);
		store_seal(fixture->store);
		fixture_now_ns += DAY_NS;
	}
	store_seal(fixture->store);
}

/* Returns whether a purge was begun. */
static inline bool
days_purge(struct fixture *fixture)
{
	bool is_done = false;

	if (!store_has_purge(fixture->store))
		return false;
	store_purge(fixture->store);
	for (int ms = 0; ms < 60000 && !is_done; ms++) {
		store_is_purging(fixture->store, &is_done);
		poll(NULL, 0, !is_done);
	}
	assert_true(is_done);
	return true;
}

static inline bool
days_has_file(const struct fixture *fixture, int64_t day)
{
	char *path = layout_day_path(fixture->directory, day);
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

static inline uint64_t
days_files(struct fixture *fixture)
{
	struct store_figures figures;

	store_figures(fixture->store, &figures);
	return figures.files;
}

static inline void
describe_latency(struct fixture *fixture, struct buffer *out)
{
	const struct latency_question question = {
	    .series = fixture_histograms,
	    .series_count = HISTOGRAMS,
	    .period.since_wall_ns = MIDNIGHT_NS - 10 * DAY_NS,
	    .period.until_wall_ns = MIDNIGHT_NS + 600 * DAY_NS,
	    .period.step_ns = 12 * HOUR_NS,
	};
	struct latency_answer answer;
	struct store_reader *reader =
	    store_reader_open(fixture->directory, &fixture->reason);

	arena_reset(fixture->arena);
	if (store_latency(reader, &question, fixture->arena, &answer,
		&fixture->reason) != 0 ||
	    answer.gap.is_there)
		fail_msg("%s %s", fixture->reason.text, answer.gap.reason.text);
	for (size_t i = 0; i < answer.count; i++)
		if (answer.points[i].count > 0)
			buffer_append_format(out, "%zu: %lu %ld %ld %ld\n", i,
			    answer.points[i].count, answer.points[i].sum_ns,
			    answer.points[i].quantiles_ns[LATENCY_P50],
			    answer.points[i].quantiles_ns[LATENCY_MAX]);
	store_reader_free(&reader);
}

static inline void
describe_totals(struct fixture *fixture, struct buffer *out)
{
	struct histogram_total histograms[HISTOGRAMS];
	uint64_t counters[COUNTERS];

	totals_snapshot(fixture->totals, counters, histograms);
	for (int i = 0; i < COUNTERS; i++)
		buffer_append_format(out, "counter %lu\n", counters[i]);
	for (int i = 0; i < HISTOGRAMS; i++) {
		buffer_append_format(out, "histogram %lu %ld",
		    histograms[i].exponential.count,
		    histograms[i].exponential.sum_ns);
		for (int j = 0; j <= TOTALS_BUCKETS; j++)
			buffer_append_format(
			    out, " %lu", histograms[i].buckets[j]);
		for (int j = 0; j < HISTOGRAM_BUCKETS; j++)
			if (histograms[i].exponential.buckets[j] > 0)
				buffer_append_format(out, " %d:%lu", j,
				    histograms[i].exponential.buckets[j]);
		buffer_append_string(out, "\n");
	}
}

/* Totals, and percentiles over time. To be freed. */
static inline char *
days_describe(struct fixture *fixture)
{
	struct buffer out = {0};

	describe_totals(fixture, &out);
	describe_latency(fixture, &out);
	buffer_append(&out, "", 1);
	return (char *)out.data;
}

/* To be freed. */
static inline char *
days_totals(struct fixture *fixture)
{
	struct buffer out = {0};

	describe_totals(fixture, &out);
	buffer_append(&out, "", 1);
	return (char *)out.data;
}

/* Nothing of it has changed, nor does with a restart. */
static inline void
assert_described(struct fixture *fixture, const char *wanted)
{
	char *now = days_describe(fixture);

	assert_string_equal(now, wanted);
	free(now);
	fixture_reopen(fixture);
	now = days_describe(fixture);
	assert_string_equal(now, wanted);
	free(now);
}

static inline int
append_row(void *context, int columns, char **values, char **names)
{
	for (int i = 0; i < columns; i++)
		buffer_append_format(context, "%s ", values[i]);
	buffer_append_string(context, "\n");
	return 0;
}

/* The rows of a statement on a file of the store. To be freed. */
static inline char *
days_ask(const struct fixture *fixture, const char *name, const char *sql)
{
	char path[FIXTURE_PATH_SIZE];
	struct buffer out = {0};
	sqlite3 *database;

	fixture_path(fixture, name, path);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	if (sqlite3_exec(database, sql, append_row, &out, NULL) != SQLITE_OK)
		fail_msg("%s: %s", name, sqlite3_errmsg(database));
	sqlite3_close(database);
	buffer_append(&out, "", 1);
	return (char *)out.data;
}

static inline void
days_keep(struct fixture *fixture, int64_t days)
{
	fixture->settings.retention_ns = days * DAY_NS;
	fixture_reopen(fixture);
}

#define FIXTURE_TEST(name)                                                     \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merges cells. Called by the command line, and by the exporter's HTTP threads.
 *
 * Cells of one time may lie in several files. So they are collected as they
 * are, a few dozen bytes each, sorted, and only then unpacked, one step after
 * the other.
 */
#include "store/query_latency.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "store/archive_reader.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/histogram.h"
#include "store/layout.h"
#include "store/reader_file.h"
#include "store/reader_private.h"

/* So many buckets of a histogram are one cell of a heatmap. */
#define CELL_BUCKETS 8

/* A row of a file. */
struct part {
	int64_t wall_ns;
	uint64_t count;
	int64_t sum_ns;
	const void *cells;
	size_t size;
};

struct collection {
	const struct latency_question *question;
	int64_t since_ns, until_ns;
	enum day_sql rows;
	int64_t unit_ns; /* of the rows' times */
	struct arena *arena;
	struct part *parts;
	size_t count;
};

const char *
latency_quantile_name(enum latency_quantile quantile)
{
	static const char *const names[LATENCY_QUANTILES] = {
	    "p50", "p90", "p95", "p99", "max"};

	return names[quantile];
}

static int64_t
series_number(struct day_tables *tables, const char *name)
{
	struct statement *find =
	    database_statement(tables->database, SQL_SERIES_FIND);
	int64_t number = 0;

	bind_string(find, name);
	if (statement_step(find) == 1)
		number = column_integer(find, 0);
	statement_end(find);
	return number;
}

static void
collect_row(struct collection *collection, struct statement *row)
{
	size_t size;
	const void *cells = column_bytes(row, 3, &size);
	void *copy = arena_alloc(collection->arena, size);
	struct part *part = arena_append(collection->arena, &collection->parts,
	    &collection->count, sizeof(*part));

	if (part == NULL || copy == NULL)
		return;
	if (size > 0)
		memcpy(copy, cells, size);
	*part = (struct part){
	    .wall_ns = column_integer(row, 0) * collection->unit_ns,
	    .count = (uint64_t)column_integer(row, 1),
	    .sum_ns = column_integer(row, 2),
	    .cells = copy,
	    .size = size,
	};
}

static void
collect_rows(struct collection *collection, struct statement *rows)
{
	while (statement_step(rows) == 1 && !arena_failed(collection->arena))
		collect_row(collection, rows);
	statement_end(rows);
}

static void
collect_series(
    struct collection *collection, struct day_tables *tables, const char *name)
{
	int64_t series = series_number(tables, name);
	struct statement *rows;

	if (series == 0)
		return;
	rows = database_statement(tables->database, collection->rows);
	bind_integer(rows, series);
	bind_integer(rows, collection->since_ns / collection->unit_ns);
	bind_integer(rows, collection->until_ns / collection->unit_ns);
	collect_rows(collection, rows);
}

static void
miss(struct latency_answer *answer, const struct reason *reason)
{
	answer->incomplete = true;
	answer->reason = *reason;
}

/* Returns whether there is a file that could be read. */
static bool
collect_day(struct store_reader *reader, struct collection *collection,
    int64_t day, struct latency_answer *answer)
{
	const struct latency_question *question = collection->question;
	struct day_tables *tables;
	struct reason reason;
	int opened = reader_file(reader->pool, day, &tables, &reason);
	bool failed = opened < 0;

	if (opened == 1) {
		for (size_t i = 0; i < question->series_count; i++)
			collect_series(collection, tables, question->series[i]);
		failed = database_check(tables->database, &reason) != 0;
		reader_file_done(tables);
	}
	if (failed)
		miss(answer, &reason);
	return opened == 1 && !failed;
}

static void
collect_archived_day(
    struct collection *collection, struct database *archive, int64_t day)
{
	const struct latency_question *question = collection->question;

	for (size_t i = 0; i < question->series_count; i++) {
		const struct archive_hours hours = {
		    .day = day,
		    .series = question->series[i],
		    .since = collection->since_ns / collection->unit_ns,
		    .until = collection->until_ns / collection->unit_ns,
		};

		collect_rows(collection, archive_reader_hours(archive, &hours));
	}
}

static bool
is_among(const int64_t *days, long count, int64_t day)
{
	for (long i = 0; i < count; i++)
		if (days[i] == day)
			return true;
	return false;
}

/* Days whose file was not read. A purge may be under way: after the files, so
 * that none is missed, and without those that were read, so that none counts
 * twice. */
static void
collect_archive(struct store_reader *reader, struct collection *collection,
    const int64_t *read, long read_count, struct latency_answer *answer)
{
	int64_t last = clock_day(collection->until_ns) + 1;
	struct database *archive;
	struct reason reason;
	int64_t *days = NULL;
	int opened = archive_reader(reader, &archive, &reason);
	long count = opened == 1 ? archive_reader_days(archive, &days) : 0;

	for (long i = 0; i < count; i++)
		if (days[i] <= last && !is_among(read, read_count, days[i]))
			collect_archived_day(collection, archive, days[i]);
	free(days);
	if (opened == 1) {
		opened = database_check(archive, &reason);
		archive_reader_done(archive);
	}
	if (opened < 0)
		miss(answer, &reason);
}

static int
by_time(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	return (a->wall_ns > b->wall_ns) - (a->wall_ns < b->wall_ns);
}

/* What was collected of bytes that are no cells counts, but has no buckets. */
static void
add_part(struct histogram *histogram, const struct part *part)
{
	histogram->count += part->count;
	histogram->sum_ns = histogram_sum_ns(histogram->sum_ns, part->sum_ns);
	histogram_decode(histogram, part->cells, part->size);
}

static int
cell_of(int index)
{
	return index > 0 ? (index + CELL_BUCKETS - 1) / CELL_BUCKETS
			 : index / CELL_BUCKETS;
}

static void
add_cell(struct latency_point *point, struct arena *arena, int64_t bound_ns,
    uint64_t count)
{
	struct latency_cell *last =
	    point->cell_count > 0 ? &point->cells[point->cell_count - 1] : NULL;

	if (count == 0)
		return;
	if (last == NULL || last->bound_ns != bound_ns) {
		last = arena_append(
		    arena, &point->cells, &point->cell_count, sizeof(*last));
		if (last == NULL)
			return;
		last->bound_ns = bound_ns;
	}
	last->count += count;
}

static void
describe_cells(const struct histogram *histogram, struct arena *arena,
    struct latency_point *point)
{
	add_cell(point, arena, 0, histogram->zero);
	for (int i = histogram->low; i <= histogram->high; i++) {
		int cell = cell_of(i + HISTOGRAM_INDEX_MIN) * CELL_BUCKETS;

		if (cell > HISTOGRAM_INDEX_MAX)
			cell = HISTOGRAM_INDEX_MAX;
		add_cell(point, arena, histogram_bound_ns(cell),
		    histogram->buckets[i]);
	}
}

static void
describe(const struct histogram *histogram, struct latency_point *point)
{
	static const double quantiles[] = {
	    [LATENCY_P50] = 0.5,
	    [LATENCY_P90] = 0.9,
	    [LATENCY_P95] = 0.95,
	    [LATENCY_P99] = 0.99,
	};

	point->count = histogram->count;
	point->sum_ns = histogram->sum_ns;
	for (int i = 0; i < LATENCY_MAX; i++)
		point->quantiles_ns[i] =
		    histogram_quantile_ns(histogram, quantiles[i]);
	if (histogram->low <= histogram->high)
		point->quantiles_ns[LATENCY_MAX] =
		    histogram_bound_ns(histogram->high + HISTOGRAM_INDEX_MIN);
}

/* The parts lie in the order of time. */
static void
merge(const struct collection *collection, struct latency_answer *answer)
{
	const struct latency_question *question = collection->question;
	struct histogram *step = memory_zeroed(1, sizeof(*step));
	struct histogram *whole = memory_zeroed(1, sizeof(*whole));
	size_t next = 0;

	histogram_init(step);
	histogram_init(whole);
	for (size_t i = 0; i < answer->count; i++) {
		struct latency_point *point = &answer->points[i];
		int64_t end_ns;

		point->start_wall_ns =
		    collection->since_ns + (int64_t)i * question->step_ns;
		end_ns = point->start_wall_ns + question->step_ns;
		while (next < collection->count &&
		       collection->parts[next].wall_ns < end_ns)
			add_part(step, &collection->parts[next++]);
		describe(step, point);
		if (question->with_cells)
			describe_cells(step, collection->arena, point);
		histogram_merge(whole, step);
		histogram_clear(step);
	}
	answer->whole.start_wall_ns = collection->since_ns;
	describe(whole, &answer->whole);
	if (question->with_cells)
		describe_cells(whole, collection->arena, &answer->whole);
	free(step);
	free(whole);
}

/* Of `days` those remain that were read. */
static void
collect(struct store_reader *reader, struct collection *collection,
    int64_t *days, long count, struct latency_answer *answer)
{
	/* Messages of the next day may be complete by a clock behind theirs. */
	int64_t last = clock_day(collection->until_ns) + 1;
	long read_count = 0;

	for (long i = 0; i < count; i++)
		if (days[i] <= last &&
		    collect_day(reader, collection, days[i], answer))
			days[read_count++] = days[i];
	if (collection->rows == SQL_HOURS_READ)
		collect_archive(reader, collection, days, read_count, answer);
	if (collection->count > 0)
		qsort(collection->parts, collection->count,
		    sizeof(*collection->parts), by_time);
}

static bool
is_by_hour(const struct latency_question *question)
{
	return question->step_ns >= LATENCY_HOUR_NS;
}

/* Where the first step begins. */
static int64_t
first_ns(const struct latency_question *question)
{
	return question->since_wall_ns / question->step_ns * question->step_ns;
}

static int64_t
step_count(const struct latency_question *question)
{
	return (question->until_wall_ns - first_ns(question) +
		   question->step_ns - 1) /
	       question->step_ns;
}

int
store_latency_check(
    const struct latency_question *question, struct reason *reason)
{
	int64_t unit_ns =
	    is_by_hour(question) ? LATENCY_HOUR_NS : LATENCY_MINUTE_NS;

	if (question->step_ns <= 0 || question->step_ns % unit_ns != 0)
		return reason_set(
		    reason, "a step is whole minutes, or whole hours");
	if (question->since_wall_ns < 0 ||
	    question->until_wall_ns <= question->since_wall_ns)
		return reason_set(reason, "there is no time in between");
	if (step_count(question) > LATENCY_POINTS_MAX)
		return reason_set(
		    reason, "more than %d steps", LATENCY_POINTS_MAX);
	return 0;
}

/* Makes the steps. */
static void
divide(struct collection *collection, struct latency_answer *answer)
{
	const struct latency_question *question = collection->question;
	bool by_hour = is_by_hour(question);
	int64_t count = step_count(question);

	collection->unit_ns = by_hour ? LATENCY_HOUR_NS : LATENCY_MINUTE_NS;
	collection->rows = by_hour ? SQL_HOURS_READ : SQL_MINUTES_READ;
	collection->since_ns = first_ns(question);
	collection->until_ns = collection->since_ns + count * question->step_ns;
	answer->count = (size_t)count;
	answer->points = arena_alloc(
	    collection->arena, answer->count * sizeof(*answer->points));
}

int
store_latency(struct store_reader *reader,
    const struct latency_question *question, struct arena *arena,
    struct latency_answer *answer_r, struct reason *reason)
{
	struct collection collection = {.question = question, .arena = arena};
	int64_t *days;
	long count;

	*answer_r = (struct latency_answer){.count = 0};
	if (store_latency_check(question, reason) != 0)
		return -1;
	divide(&collection, answer_r);
	count = layout_list(reader->directory, &days, reason);
	if (count < 0)
		return -1;
	collect(reader, &collection, days, count, answer_r);
	free(days);
	if (!arena_failed(arena))
		merge(&collection, answer_r);
	if (arena_failed(arena))
		return reason_set(reason, "too much was found");
	return 0;
}

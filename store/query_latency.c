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
#include "store/schema_archive.h"

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
	int64_t unit_ns; /* of the rows' times */
	struct arena *arena;
	struct part *parts;
	size_t count;
	/* Numbers of the series in the archive. */
	bool knows_archived;
	int64_t *archived;
	size_t archived_count;
};

const char *
latency_quantile_name(enum latency_quantile quantile)
{
	static const char *const names[LATENCY_QUANTILES] = {
	    "p50", "p90", "p95", "p99", "max"};

	return names[quantile];
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

/* The numbers of the series that are asked for, of rows (id, name), in the
 * collection's arena. */
static size_t
find_series(struct collection *collection, struct statement *rows,
    int64_t **numbers_r)
{
	const struct latency_question *question = collection->question;
	size_t count = 0;

	*numbers_r = NULL;
	while (statement_step(rows) == 1) {
		const char *name = column_string(rows, 1, collection->arena);
		int64_t *number = NULL;

		for (size_t i = 0; name != NULL && i < question->series_count;
		     i++)
			if (series_fits(
				name, question->series[i], &question->labels))
				number = arena_append(collection->arena,
				    numbers_r, &count, sizeof(*number));
		if (number != NULL)
			*number = column_integer(rows, 0);
	}
	statement_end(rows);
	return count;
}

static void
collect_file(void *context, struct day_tables *tables, int64_t day)
{
	struct collection *collection = context;
	bool by_hour = query_period_is_by_hour(&collection->question->period);
	int64_t *series;
	size_t count = find_series(collection,
	    database_statement(tables->database, SQL_SERIES_READ), &series);

	for (size_t i = 0; i < count && !arena_failed(collection->arena); i++) {
		struct statement *rows = database_statement(tables->database,
		    by_hour ? SQL_HOURS_READ : SQL_MINUTES_READ);

		bind_integer(rows, series[i]);
		bind_integer(rows, collection->since_ns / collection->unit_ns);
		bind_integer(rows, collection->until_ns / collection->unit_ns);
		collect_rows(collection, rows);
	}
}

static void
collect_archived(void *context, struct database *archive, int64_t day)
{
	struct collection *collection = context;

	if (!collection->knows_archived) {
		collection->archived_count = find_series(collection,
		    database_statement(archive, SQL_ARCHIVE_SERIES_READ),
		    &collection->archived);
		collection->knows_archived = true;
	}
	for (size_t i = 0; i < collection->archived_count &&
			   !arena_failed(collection->arena);
	     i++) {
		const struct archive_hours hours = {
		    .day = day,
		    .series = collection->archived[i],
		    .since = collection->since_ns / collection->unit_ns,
		    .until = collection->until_ns / collection->unit_ns,
		};

		collect_rows(collection, archive_reader_hours(archive, &hours));
	}
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
		    collection->since_ns +
		    (int64_t)i * question->period.step_ns;
		end_ns = point->start_wall_ns + question->period.step_ns;
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

static int
collect(struct store_reader *reader, struct collection *collection,
    struct latency_answer *answer, struct reason *reason)
{
	const struct query_days days = {
	    .first = INT64_MIN,
	    /* Messages of the next day may be complete by a clock behind
	     * theirs. */
	    .last = clock_day(collection->until_ns) + 1,
	    .context = collection,
	    .file = collect_file,
	    .archived =
		query_period_is_by_hour(&collection->question->period)
		    ? collect_archived
		    : NULL,
	};

	if (query_days_visit(reader, &days, &answer->gap, reason) != 0)
		return -1;
	if (collection->count > 0)
		qsort(collection->parts, collection->count,
		    sizeof(*collection->parts), by_time);
	return 0;
}

int
store_latency_check(
    const struct latency_question *question, struct reason *reason)
{
	const struct series_labels *labels = &question->labels;
	bool by_other = labels->relay != NULL || labels->provider != NULL;

	if (labels->relay != NULL && labels->provider != NULL)
		return reason_set(
		    reason, "either a relay or a provider, not both");
	if (query_period_check(&question->period, reason) != 0)
		return -1;
	if (by_other && !query_period_is_by_hour(&question->period))
		return reason_set(
		    reason, "of a relay or a provider, a step is whole hours");
	return 0;
}

/* Makes the steps. */
static void
divide(struct collection *collection, struct latency_answer *answer)
{
	const struct query_period *period = &collection->question->period;

	collection->unit_ns = query_period_unit_ns(period);
	collection->since_ns = query_period_first_ns(period);
	collection->until_ns = query_period_end_ns(period);
	answer->count = query_period_steps(period);
	answer->points = arena_alloc(
	    collection->arena, answer->count * sizeof(*answer->points));
}

int
store_latency(struct store_reader *reader,
    const struct latency_question *question, struct arena *arena,
    struct latency_answer *answer_r, struct reason *reason)
{
	struct collection collection = {.question = question, .arena = arena};

	*answer_r = (struct latency_answer){.count = 0};
	if (store_latency_check(question, reason) != 0)
		return -1;
	divide(&collection, answer_r);
	if (collect(reader, &collection, answer_r, reason) != 0)
		return -1;
	if (!arena_failed(arena))
		merge(&collection, answer_r);
	if (arena_failed(arena))
		return reason_set(reason, "too much was found");
	return 0;
}

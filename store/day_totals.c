/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters, classic histograms and histogram cells of one day file. Called by
 * day_file on the ingest thread.
 *
 * Of a batch only the observations are kept, sixteen bytes each, and sorted
 * into cells when it is written: a batch may spread over any number of minutes
 * when the exporter catches up, so dense histograms would have no bound.
 */
#include "store/day_totals.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/histogram.h"
#include "store/observation.h"
#include "store/series_slots.h"
#include "store/totals_rows.h"
#include "store/totals_writer.h"

#define NS_PER_MINUTE (60 * CLOCK_NS_PER_SECOND)
#define MINUTES_PER_HOUR 60

struct kept {
	int64_t value_ns;
	uint32_t minute; /* since 1970 */
	uint32_t slot;   /* of series_slots */
};

struct day_totals {
	const struct totals_names *names;
	uint64_t *counters; /* the batch's */
	struct histogram_total *added; /* likewise */
	struct series_slots *slots;
	struct kept *observations;
	size_t observation_count, observation_capacity;
	struct histogram minute, hour; /* scratch */
	bool dirty;
};

struct day_totals *
day_totals_new(const struct totals_names *names)
{
	struct day_totals *totals = memory_zeroed(1, sizeof(*totals));
	size_t histograms = names->histogram_count;

	totals->names = names;
	totals->counters =
	    memory_zeroed(names->counter_count, sizeof(*totals->counters));
	totals->added = memory_zeroed(histograms, sizeof(*totals->added));
	totals->slots = series_slots_new(names);
	histogram_init(&totals->minute);
	histogram_init(&totals->hour);
	return totals;
}

void
day_totals_free(struct day_totals **totals)
{
	if (*totals == NULL)
		return;
	free((*totals)->counters);
	free((*totals)->added);
	series_slots_free(&(*totals)->slots);
	free((*totals)->observations);
	free(*totals);
	*totals = NULL;
}

static void
clear_batch(struct day_totals *totals)
{
	const struct totals_names *names = totals->names;

	memset(totals->counters, 0,
	    names->counter_count * sizeof(*totals->counters));
	for (size_t i = 0; i < names->histogram_count; i++)
		histogram_total_clear(&totals->added[i]);
	totals->observation_count = 0;
	totals->dirty = false;
}

void
day_totals_discard(struct day_totals *totals)
{
	clear_batch(totals);
	series_slots_forget(totals->slots);
}

void
day_totals_load(
    struct day_totals *totals, struct day_tables *tables, struct totals *sums)
{
	const struct totals_names *names = totals->names;
	uint64_t *counters =
	    memory_zeroed(names->counter_count, sizeof(*counters));
	struct histogram_total *histograms =
	    memory_zeroed(names->histogram_count, sizeof(*histograms));

	day_totals_discard(totals);
	totals_rows_counters(
	    database_statement(tables->database, SQL_COUNTERS_READ), names,
	    counters);
	totals_rows_histograms(
	    database_statement(tables->database, SQL_TOTALS_READ), names,
	    histograms);
	if (sums != NULL && database_check(tables->database, NULL) == 0) {
		totals_begin(sums);
		totals_add(sums, counters, histograms);
		totals_end(sums);
	}
	free(counters);
	free(histograms);
}

void
day_totals_count(struct day_totals *totals, unsigned counter, uint64_t increase)
{
	totals->counters[counter] += increase;
	totals->dirty = true;
}

static uint32_t
minute_of(int64_t wall_ns)
{
	int64_t minute = wall_ns / NS_PER_MINUTE;

	if (minute < 0)
		return 0;
	return minute > UINT32_MAX ? UINT32_MAX : (uint32_t)minute;
}

static void
add_observation(struct day_totals *totals, unsigned slot,
    const struct observation *observation)
{
	if (totals->observation_count == totals->observation_capacity) {
		totals->observation_capacity =
		    2 * totals->observation_capacity + 64;
		totals->observations = memory_resize(totals->observations,
		    totals->observation_capacity,
		    sizeof(*totals->observations));
	}
	totals->observations[totals->observation_count++] =
	    (struct kept){.value_ns = observation->value_ns,
		.minute = minute_of(observation->wall_ns),
		.slot = slot};
}

/* Kept by relay and by provider beside what is kept by host. */
static void
add_labelled(struct day_totals *totals, struct day_tables *tables,
    const struct observation *observation)
{
	const struct series_labels *labels = &observation->labels;
	const char *const by[SERIES_KINDS] = {
	    labels->host, labels->relay, labels->provider};

	for (unsigned kind = 0; kind < SERIES_KINDS; kind++) {
		const struct series_key key = {observation->histogram,
		    labels->host, (enum series_kind)kind, by[kind]};

		if (kind == SERIES_HOST || by[kind] != NULL)
			add_observation(totals,
			    series_slots_find(totals->slots, tables, &key),
			    observation);
	}
}

void
day_totals_observe(struct day_totals *totals, struct day_tables *tables,
    const struct observation *observation)
{
	unsigned histogram = observation->histogram;

	if (observation->labels.host != NULL)
		add_labelled(totals, tables, observation);
	else
		add_observation(totals, histogram, observation);
	histogram_total_observe(&totals->added[histogram], observation);
	totals->dirty = true;
}

static void
write_counters(struct day_totals *totals, struct day_tables *tables)
{
	const struct totals_names *names = totals->names;

	for (size_t i = 0; i < names->counter_count; i++) {
		struct statement *add;

		if (totals->counters[i] == 0)
			continue;
		add = database_statement(tables->database, SQL_COUNTER_ADD);
		bind_string(add, names->counters[i]);
		bind_integer(add, (int64_t)totals->counters[i]);
		statement_run(add);
	}
}

static void
write_histogram(
    struct day_totals *totals, struct day_tables *tables, size_t histogram)
{
	struct histogram_total sum = {.buckets = {0}};
	int64_t series =
	    series_slots_number(totals->slots, tables, (unsigned)histogram);
	struct statement *read =
	    database_statement(tables->database, SQL_TOTAL_READ);
	struct buffer buckets = {0};
	struct statement *write;

	bind_integer(read, series);
	if (statement_step(read) == 1)
		sum = totals_row_histogram(read);
	statement_end(read);
	histogram_total_add(&sum, &totals->added[histogram]);
	write = database_statement(tables->database, SQL_TOTAL_WRITE);
	bind_integer(write, series);
	totals_row_bind(write, &sum, &buckets);
	statement_run(write);
	buffer_free(&buckets);
}

static void
write_histograms(struct day_totals *totals, struct day_tables *tables)
{
	for (size_t i = 0; i < totals->names->histogram_count; i++) {
		if (totals->added[i].exponential.count > 0)
			write_histogram(totals, tables, i);
	}
}

/* Which cells: minutes or hours. */
struct cell_table {
	enum day_sql read, write;
};

static const struct cell_table minutes = {SQL_MINUTE_READ, SQL_MINUTE_WRITE};
static const struct cell_table hours = {SQL_HOUR_READ, SQL_HOUR_WRITE};

static void
read_cell(struct day_tables *tables, const struct cell_table *table,
    int64_t series, uint32_t time, struct histogram *cell)
{
	struct statement *read =
	    database_statement(tables->database, table->read);
	const void *data;
	size_t size;

	bind_integer(read, series);
	bind_integer(read, time);
	if (statement_step(read) == 1) {
		cell->count += (uint64_t)column_integer(read, 0);
		cell->sum_ns =
		    histogram_sum_ns(cell->sum_ns, column_integer(read, 1));
		data = column_bytes(read, 2, &size);
		if (histogram_decode(cell, data, size) != 0)
			database_damaged(tables->database, "histogram");
	}
	statement_end(read);
}

/* Adds `cell` to what the file has, and empties it. */
static void
write_cell(struct day_tables *tables, const struct cell_table *table,
    int64_t series, uint32_t time, struct histogram *cell)
{
	struct buffer cells = {0};
	struct statement *write;

	if (cell->count == 0)
		return;
	read_cell(tables, table, series, time, cell);
	histogram_encode(cell, &cells);
	write = database_statement(tables->database, table->write);
	bind_integer(write, series);
	bind_integer(write, time);
	bind_integer(write, (int64_t)cell->count);
	bind_integer(write, cell->sum_ns);
	bind_blob(write, cells.data, cells.size);
	statement_run(write);
	buffer_free(&cells);
	histogram_clear(cell);
}

static int
by_cell(const void *left, const void *right)
{
	const struct kept *a = left, *b = right;

	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	return (a->minute > b->minute) - (a->minute < b->minute);
}

/* Those of one slot, in the order of time. */
static void
write_slot(struct day_totals *totals, struct day_tables *tables,
    const struct kept *at, const struct kept *end)
{
	int64_t series = series_slots_number(totals->slots, tables, at->slot);
	bool by_minute = !series_slots_is_by_hour(totals->slots, at->slot);

	for (; at < end; at++) {
		uint32_t hour = at->minute / MINUTES_PER_HOUR;
		bool last = at + 1 == end;

		histogram_observe(&totals->hour, at->value_ns);
		if (by_minute) {
			histogram_observe(&totals->minute, at->value_ns);
			if (last || at[1].minute != at->minute)
				write_cell(tables, &minutes, series, at->minute,
				    &totals->minute);
		}
		if (last || at[1].minute / MINUTES_PER_HOUR != hour)
			write_cell(tables, &hours, series, hour, &totals->hour);
	}
}

static void
write_cells(struct day_totals *totals, struct day_tables *tables)
{
	const struct kept *at = totals->observations, *next;
	const struct kept *end = at + totals->observation_count;

	qsort(totals->observations, totals->observation_count, sizeof(*at),
	    by_cell);
	for (; at < end; at = next) {
		for (next = at + 1; next < end && next->slot == at->slot;)
			next++;
		write_slot(totals, tables, at, next);
	}
}

bool
day_totals_is_dirty(const struct day_totals *totals)
{
	return totals->dirty;
}

void
day_totals_write(struct day_totals *totals, struct day_tables *tables)
{
	if (!totals->dirty)
		return;
	write_counters(totals, tables);
	write_histograms(totals, tables);
	if (totals->observation_count > 0)
		write_cells(totals, tables);
	histogram_clear(&totals->minute);
	histogram_clear(&totals->hour);
}

void
day_totals_publish(struct day_totals *totals, struct totals *sums)
{
	if (!totals->dirty)
		return;
	totals_add(sums, totals->counters, totals->added);
	clear_batch(totals);
}

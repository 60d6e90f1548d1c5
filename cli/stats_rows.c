/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the store. Called by stats.c. */
#include "cli/stats_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "store/query_labels.h"

#define ANSWER_BYTES ((size_t)1 << 30)

/* Adds a line. What is read for it does not stay in memory. */
static int
add_row(const struct stats_question *about, struct stats *stats,
    const struct latency_question *question, const struct stats_row *like,
    struct reason *reason)
{
	struct arena *arena = arena_new(ANSWER_BYTES);
	struct latency_answer answer;
	struct stats_row *row = arena_append(
	    about->arena, &stats->rows, &stats->count, sizeof(*row));
	int result =
	    store_latency(about->reader, question, arena, &answer, reason);

	if (result == 0 && answer.gap.is_there) {
		*reason = answer.gap.reason;
		result = -1;
	}
	if (result == 0 && row == NULL)
		result = reason_set(reason, "too much was found");
	if (result == 0) {
		*row = *like;
		row->point = answer.whole;
		row->point.cells = NULL;
	}
	arena_free(&arena);
	return result;
}

static int
add_series(const struct stats_question *about, struct stats *stats,
    const char *series, const struct stats_row *like, struct reason *reason)
{
	const struct latency_question question = {
	    .series = &series, .series_count = 1, .period = *about->period};

	return add_row(about, stats, &question, like, reason);
}

int
stats_rows_all(const struct stats_question *question, struct stats *stats,
    struct reason *reason)
{
	int result = 0;

	for (unsigned i = 0; i < ROUTES && result == 0; i++)
		result = add_series(question, stats,
		    series_of_route((enum route)i),
		    &(struct stats_row){
			.kind = "route", .name = route_name((enum route)i)},
		    reason);
	for (unsigned i = 0; i < PHASES && result == 0; i++)
		result = add_series(question, stats,
		    series_of_phase((enum phase)i),
		    &(struct stats_row){.kind = "phase",
			.name = phase_describe((enum phase)i)->name},
		    reason);
	return result;
}

static int
most_first(const void *left, const void *right)
{
	const struct stats_row *a = left, *b = right;

	if (a->point.count != b->point.count)
		return a->point.count < b->point.count ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* Those without any are at the end. */
static void
cut(struct stats *stats, size_t limit)
{
	if (stats->count > 0)
		qsort(stats->rows, stats->count, sizeof(*stats->rows),
		    most_first);
	if (stats->count > limit)
		stats->count = limit;
	while (stats->count > 0 &&
	       stats->rows[stats->count - 1].point.count == 0)
		stats->count--;
}

static struct series_labels
labels_of(enum series_kind kind, const char *label)
{
	return (struct series_labels){
	    .host = kind == SERIES_HOST ? label : NULL,
	    .relay = kind == SERIES_RELAY ? label : NULL,
	    .provider = kind == SERIES_PROVIDER ? label : NULL,
	};
}

int
stats_rows_by(const struct stats_question *about, enum series_kind kind,
    size_t limit, struct stats *stats, struct reason *reason)
{
	const char *series[ROUTES];
	struct label_answer found;
	int result = store_latency_labels(
	    about->reader, kind, about->arena, &found, reason);

	if (result == 0 && found.gap.is_there)
		return reason_set(reason, "%s", found.gap.reason.text);
	for (unsigned i = 0; i < ROUTES; i++)
		series[i] = series_of_route((enum route)i);
	for (size_t i = 0; i < found.count && result == 0; i++) {
		const struct latency_question question = {
		    .series = series,
		    .series_count = ROUTES,
		    .period = *about->period,
		    .labels = labels_of(kind, found.labels[i]),
		};

		result = add_row(about, stats, &question,
		    &(struct stats_row){.kind = series_kind_name(kind),
			.name = found.labels[i]},
		    reason);
	}
	cut(stats, limit);
	return result;
}

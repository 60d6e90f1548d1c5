/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query_latency: how long things took, over time.
 *
 * Part of query.h, whose rules hold. Answers come from the histograms' cells
 * alone, never from messages: by the hour where the steps are hours, else by
 * the minute. A duration counts at the time when it was complete, so any file
 * up to that day may have a part of it.
 */
#ifndef STORE_QUERY_LATENCY_H
#define STORE_QUERY_LATENCY_H

#include "store/query_days.h"
#include "store/query_period.h"
#include "store/series.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store_reader;

enum latency_quantile {
	LATENCY_P50,
	LATENCY_P90,
	LATENCY_P95,
	LATENCY_P99,
	LATENCY_MAX, /* the upper end of the highest bucket */
	LATENCY_QUANTILES
};

/* "p50", ..., "max". */
const char *latency_quantile_name(enum latency_quantile quantile);

/* A bucket of a heatmap: so many durations up to its bound, above the one
 * before; four buckets to a doubling. */
struct latency_cell {
	int64_t bound_ns;
	uint64_t count;
};

struct latency_point {
	int64_t start_wall_ns;
	uint64_t count; /* 0: nothing was complete; all else is 0, too */
	int64_t sum_ns;
	int64_t quantiles_ns[LATENCY_QUANTILES]; /* within 1.1 % */
	struct latency_cell *cells; /* unless empty, from low to high */
	size_t cell_count;
};

struct latency_question {
	/* Names of histograms; their sum is asked for. */
	const char *const *series;
	size_t series_count;
	/* Of these only, each as series_label() has it. By relay or provider,
	 * not by both, steps are hours. */
	struct series_labels labels;
	struct query_period period;
	bool with_cells;
};

struct latency_answer {
	struct latency_point *points; /* one a step, in their order */
	size_t count;
	struct latency_point whole; /* all of them together */
	struct query_gap gap;
};

/* Returns 0, or -1 with what is wrong with period and labels. */
int store_latency_check(
    const struct latency_question *question, struct reason *reason);

/* All lives in `arena`. Returns 0, or -1 with a reason: no directory, a wrong
 * period, the arena's limit. */
int store_latency(struct store_reader *reader,
    const struct latency_question *question, struct arena *arena,
    struct latency_answer *answer_r, struct reason *reason);

#endif

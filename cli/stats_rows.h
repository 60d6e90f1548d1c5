/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_rows: the latencies of a period, one question to the store for each
 * line of `postlag stats`.
 */
#ifndef CLI_STATS_ROWS_H
#define CLI_STATS_ROWS_H

#include "cli/stats_text.h"
#include "store/series.h"

struct arena;
struct query_period;
struct reason;
struct store_reader;

struct stats_question {
	struct store_reader *reader;
	const struct query_period *period; /* its steps do not matter */
	struct arena *arena;               /* of all that is answered */
};

/* Of each route and each phase, in their order. Returns 0, or -1 with a reason,
 * also when a file cannot be read. */
int stats_rows_all(const struct stats_question *question, struct stats *stats,
    struct reason *reason);

/* Of each label of a kind that has any, most deliveries first; at most `limit`.
 */
int stats_rows_by(const struct stats_question *question, enum series_kind kind,
    size_t limit, struct stats *stats, struct reason *reason);

#endif

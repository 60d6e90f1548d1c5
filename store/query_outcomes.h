/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query_outcomes: what became of the mail of a period, over time.
 *
 * A recipient counts when its message began, not when its state changed: so
 * each step says what has become, until now, of all the mail that came in it,
 * in flight or not; and the counts are those of a search for the same time.
 * Answers come from the counts alone, never from messages. Mail of a wrong
 * clock (odd.db), whose time nobody knows, is not counted, nor are deliveries
 * that belong to no message. Part of query.h, whose rules hold.
 */
#ifndef STORE_QUERY_OUTCOMES_H
#define STORE_QUERY_OUTCOMES_H

#include "store/query_days.h"
#include "store/query_period.h"
#include "store/record.h"

struct arena;

struct outcome_point {
	int64_t start_wall_ns;
	uint64_t counts[RECIPIENT_STATES];
};

struct outcome_answer {
	struct outcome_point *points; /* one a step, in their order */
	size_t count;
	struct outcome_point whole; /* all of them together */
	struct query_gap gap;
};

/* Where steps are hours, days that are purged count, too. All lives in `arena`.
 * Returns 0, or -1 with a reason: no directory, a wrong period, the arena's
 * limit. */
int store_outcomes(struct store_reader *reader,
    const struct query_period *period, struct arena *arena,
    struct outcome_answer *answer_r, struct reason *reason);

#endif

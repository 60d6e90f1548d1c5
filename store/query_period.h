/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query_period: a period of time and the steps in which it is told.
 *
 * Steps are whole minutes, from an hour on whole hours: what the store counts
 * by. They begin at multiples of themselves since 1970, so the first may begin
 * before the period and the last end behind it. Pure; any thread.
 */
#ifndef STORE_QUERY_PERIOD_H
#define STORE_QUERY_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reason;

#define QUERY_MINUTE_NS INT64_C(60000000000)
#define QUERY_HOUR_NS (60 * QUERY_MINUTE_NS)
#define QUERY_STEPS_MAX 2000

struct query_period {
	int64_t since_wall_ns, until_wall_ns, step_ns;
};

/* Returns 0, or -1 with what is wrong: a step that is none, an empty period,
 * more than QUERY_STEPS_MAX steps. What follows is for periods that are right.
 */
int query_period_check(
    const struct query_period *period, struct reason *reason);

/* Whether it is told from hours, rather than from minutes; and which these are,
 * in nanoseconds. */
bool query_period_is_by_hour(const struct query_period *period);
int64_t query_period_unit_ns(const struct query_period *period);

/* Where the first step begins, and where the last one ends. */
int64_t query_period_first_ns(const struct query_period *period);
int64_t query_period_end_ns(const struct query_period *period);

size_t query_period_steps(const struct query_period *period);

#endif

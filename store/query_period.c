/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides time. Called by queries over time and by whoever asks them. */
#include "store/query_period.h"

#include "base/reason.h"

bool
query_period_is_by_hour(const struct query_period *period)
{
	return period->step_ns >= QUERY_HOUR_NS;
}

int64_t
query_period_unit_ns(const struct query_period *period)
{
	return query_period_is_by_hour(period) ? QUERY_HOUR_NS
					       : QUERY_MINUTE_NS;
}

int64_t
query_period_first_ns(const struct query_period *period)
{
	return period->since_wall_ns / period->step_ns * period->step_ns;
}

static int64_t
step_count(const struct query_period *period)
{
	int64_t length_ns =
	    period->until_wall_ns - query_period_first_ns(period);

	return (length_ns - 1) / period->step_ns + 1;
}

size_t
query_period_steps(const struct query_period *period)
{
	return (size_t)step_count(period);
}

int64_t
query_period_end_ns(const struct query_period *period)
{
	return query_period_first_ns(period) +
	       step_count(period) * period->step_ns;
}

int
query_period_check(const struct query_period *period, struct reason *reason)
{
	if (period->step_ns <= 0 ||
	    period->step_ns % query_period_unit_ns(period) != 0)
		return reason_set(
		    reason, "a step is whole minutes, or whole hours");
	if (period->since_wall_ns < 0 ||
	    period->until_wall_ns <= period->since_wall_ns)
		return reason_set(reason, "there is no time in between");
	if (step_count(period) > QUERY_STEPS_MAX)
		return reason_set(
		    reason, "more than %d steps", QUERY_STEPS_MAX);
	return 0;
}

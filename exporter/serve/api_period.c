/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads times. Called by answers over time, on the HTTP threads. */
#include "exporter/serve/api_period.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/reason.h"
#include "store/query_period.h"
#include "store/search_time.h"

#define LENGTH_NS CLOCK_NS_PER_DAY
#define STEPS_WANTED 100

/* Steps that people read easily. */
static const int64_t steps_ns[] = {
    QUERY_MINUTE_NS,
    5 * QUERY_MINUTE_NS,
    15 * QUERY_MINUTE_NS,
    QUERY_HOUR_NS,
    3 * QUERY_HOUR_NS,
    6 * QUERY_HOUR_NS,
    24 * QUERY_HOUR_NS,
};

static int
read_times(const struct api_period *asked, struct query_period *period,
    struct reason *reason)
{
	int64_t now_ns = clock_stamp().wall_ns;

	period->until_wall_ns = now_ns;
	if (*asked->until != '\0' && search_moment(asked->until, now_ns, true,
					 &period->until_wall_ns) != 0)
		return reason_set(reason, "until takes a time or an age");
	period->since_wall_ns = period->until_wall_ns - LENGTH_NS;
	if (*asked->since != '\0' && search_moment(asked->since, now_ns, false,
					 &period->since_wall_ns) != 0)
		return reason_set(reason, "since takes a time or an age");
	return 0;
}

static void
choose_step(struct query_period *period, bool by_hour)
{
	int64_t length_ns = period->until_wall_ns - period->since_wall_ns;
	size_t i = 0;

	while (i + 1 < sizeof(steps_ns) / sizeof(steps_ns[0]) &&
	       (length_ns / steps_ns[i] > STEPS_WANTED ||
		   (by_hour && steps_ns[i] < QUERY_HOUR_NS)))
		i++;
	period->step_ns = steps_ns[i];
}

int
api_period_read(const struct api_period *asked, bool by_hour,
    struct query_period *period_r, struct reason *reason)
{
	if (read_times(asked, period_r, reason) != 0)
		return -1;
	if (*asked->step == '\0')
		choose_step(period_r, by_hour);
	else if (search_duration(asked->step, &period_r->step_ns) != 0)
		return reason_set(reason, "step takes a duration");
	return query_period_check(period_r, reason);
}

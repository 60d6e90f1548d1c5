/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A token bucket kept as one number, the time at which it would be full again
 * (the generic cell rate algorithm), so that threads need no lock. Pure.
 */
#include "milter/abort_limit.h"

#include "base/clock.h"

void
abort_limit_init(struct abort_limit *limit, int64_t per_second, int64_t burst)
{
	limit->interval_ns =
	    per_second > 0 ? CLOCK_NS_PER_SECOND / per_second : 0;
	limit->burst_ns = (burst - 1) * limit->interval_ns;
	atomic_init(&limit->next_ns, 0);
}

bool
abort_limit_take(struct abort_limit *limit, int64_t now_ns)
{
	int64_t next = atomic_load(&limit->next_ns), from;

	if (limit->interval_ns == 0)
		return false;
	do {
		from = next > now_ns ? next : now_ns;
		if (from - now_ns > limit->burst_ns)
			return false;
	} while (!atomic_compare_exchange_weak(
	    &limit->next_ns, &next, from + limit->interval_ns));
	return true;
}

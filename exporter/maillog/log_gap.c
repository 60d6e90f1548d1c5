/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words for gaps. Pure; any thread.
 */
#include "exporter/maillog/log_gap.h"

const char *
log_gap_name(enum log_gap gap)
{
	static const char *const names[] = {
	    [LOG_GAP_NONE] = "none",
	    [LOG_GAP_COPIED] = "copied",
	    [LOG_GAP_TORN] = "torn",
	    [LOG_GAP_DAMAGED] = "damaged",
	    [LOG_GAP_UNREADABLE] = "unreadable",
	    [LOG_GAP_GONE] = "gone",
	    [LOG_GAP_TRUNCATED] = "truncated",
	    [LOG_GAP_LIMITED] = "limited",
	};

	return gap < LOG_GAPS ? names[gap] : "unknown";
}

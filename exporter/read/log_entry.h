/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_entry: what a follower of a log hands out: a line, or word of a gap.
 */
#ifndef EXPORTER_READ_LOG_ENTRY_H
#define EXPORTER_READ_LOG_ENTRY_H

#include "exporter/maillog/log_gap.h"
#include "exporter/maillog/maillog_line.h"
#include "proto/segment.h"

#include <stdbool.h>
#include <stdint.h>

struct log_entry {
	/* Behind this entry: where to go on after it. */
	struct journal_position position;
	enum log_gap gap; /* not NONE: no line, but a gap */
	/* Of the gap: the times of the lines before and behind it. A start of
	 * 0 is unknown: it reaches back to the last line ever read. */
	int64_t gap_start_wall_ns, gap_end_wall_ns;
	/* Of the line. */
	struct maillog_line line; /* valid until the next call */
	int64_t wall_ns; /* of a line without a time: the line's before it */
	bool is_cut;     /* longer than is read here */
};

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_entry: what a follower of a log hands out: a line, or word of a gap.
 */
#ifndef EXPORTER_LOG_ENTRY_H
#define EXPORTER_LOG_ENTRY_H

#include "exporter/maillog_line.h"
#include "proto/segment.h"

#include <stdbool.h>
#include <stdint.h>

/* Why lines may be missing; the later ones are the worse. */
enum log_gap {
	LOG_GAP_NONE,
	/* Copied and then truncated (logrotate's copytruncate): what was
	 * written in between, as a rule nothing, is lost. */
	LOG_GAP_COPIED,
	LOG_GAP_TORN,    /* a last line without its end */
	LOG_GAP_DAMAGED, /* the end of a file was lost, or a .gz is damaged */
	LOG_GAP_UNREADABLE, /* compressed in a way that is not read here */
	LOG_GAP_GONE,       /* rotated away and removed before it was read */
	LOG_GAP_TRUNCATED,  /* emptied without a copy */
	LOG_GAPS
};

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

/* "copied", ...; "unknown" for what is not in the enum. */
const char *log_gap_name(enum log_gap gap);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_record: a line of a mail log as a source gives it to the join.
 *
 * The views point into the line, which lives until the source's next record.
 */
#ifndef EXPORTER_READ_LOG_RECORD_H
#define EXPORTER_READ_LOG_RECORD_H

#include "exporter/maillog/maillog_record.h"
#include "exporter/read/log_entry.h"
#include "proto/segment.h"

#include <stdint.h>

/* Whose file it is. */
enum log_owner {
	LOG_OF_POSTFIX, /* perhaps with lines of others in it */
	LOG_OF_DOVECOT  /* alone: it says nothing of Postfix's */
};

struct log_record {
	enum log_owner owner;
	enum log_gap gap; /* not NONE: no line; lines are missing that were
			     written from gap_start_wall_ns to wall_ns */
	int64_t gap_start_wall_ns;
	struct maillog_line line;
	struct maillog_record record;
	int64_t wall_ns;      /* when it was written; 0: nobody knows */
	int64_t precision_ns; /* it may have been that much later */
	struct journal_position position; /* behind it */
	struct journal_position start;    /* before it */
};

/* Whether a line is about nothing but itself: it may be read before anything
 * else is known. */
bool log_record_is_preliminary(const struct log_record *record);

#endif

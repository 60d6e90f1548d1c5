/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines by which a syslog daemon tells of lines that are missing. Called by the
 * join for each line of the log, on the ingest thread.
 */
#include "exporter/read/log_trust_record.h"

#include "exporter/read/log_record.h"
#include "exporter/read/log_trust.h"

/* For how long lines were or will be dropped: rate limits count by intervals of
 * 5 s (rsyslogd) or 30 s (journald), and tell only with the next line that they
 * let pass. */
#define DROPPING_NS (60 * CLOCK_NS_PER_SECOND)

static bool
is_by_postfix(enum maillog_program program)
{
	return program != MAILLOG_PROGRAM_UNKNOWN &&
	       program != MAILLOG_PROGRAM_DOVECOT &&
	       program != MAILLOG_PROGRAM_JOURNALD &&
	       program != MAILLOG_PROGRAM_RSYSLOGD;
}

/* When it may have been. */
static int64_t
latest_ns(const struct log_record *record)
{
	return record->wall_ns + record->precision_ns;
}

/* The daemon tells when it begins to drop (without a count) and afterwards. */
static void
lines_are_dropped(struct log_trust *trust, const struct log_record *record)
{
	bool is_over = record->record.fields[MAILLOG_COUNT].size > 0;

	log_trust_gap(trust, record->wall_ns - DROPPING_NS,
	    latest_ns(record) + (is_over ? 0 : DROPPING_NS));
}

static bool
is_ending(const struct log_record *record)
{
	static const struct maillog_view word = MAILLOG_LITERAL("exiting");

	return maillog_view_find(record->line.text, word) != SIZE_MAX;
}

void
log_trust_record(struct log_trust *trust, const char *instance,
    const struct log_record *record)
{
	if (record->wall_ns == 0)
		return;
	if (record->gap != LOG_GAP_NONE) {
		/* A limit that is used up drops lines as long again. */
		int64_t more_ns =
		    record->gap == LOG_GAP_LIMITED
			? record->wall_ns - record->gap_start_wall_ns
			: 0;

		log_trust_gap(trust, record->gap_start_wall_ns,
		    latest_ns(record) + more_ns);
		return;
	}
	log_trust_line(trust,
	    is_by_postfix(record->record.program) ? instance : NULL,
	    record->wall_ns);
	if (record->record.kind == MAILLOG_STOPPED && instance != NULL)
		log_trust_stop(trust, instance);
	/* Queue files that got new names, of which nobody tells. */
	if (record->record.kind == MAILLOG_SUMMARY &&
	    record->record.action == MAILLOG_RENAME)
		log_trust_gap(trust, record->wall_ns, latest_ns(record));
	if (record->record.kind == MAILLOG_LOST)
		lines_are_dropped(trust, record);
	else if (record->record.kind == MAILLOG_LOGGER && is_ending(record))
		log_trust_pause(trust, record->wall_ns);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maillog_line: what stands around the text of a log line.
 *
 *     Nov 30 07:47:42 mx postfix/submission/smtpd[123]: text
 *     2026-11-30T07:47:42.123456+01:00 mx postfix/qmgr[123]: text
 *     <22>1 2026-11-30T07:47:42.123456Z mx postfix/lmtp 123 - - text
 *     Nov 30 07:47:42 lmtp(user)<123><session>: Info: text
 *
 * The last is a file that Dovecot writes itself: no host. Nothing is copied or
 * allocated; the views point into the line. Any thread.
 */
#ifndef EXPORTER_MAILLOG_MAILLOG_LINE_H
#define EXPORTER_MAILLOG_MAILLOG_LINE_H

#include "exporter/maillog/maillog_time.h"
#include "exporter/maillog/maillog_view.h"

/* Postfix cuts its text at this size (MSG_SYSLOG_RECLEN, MSG_LOGGER_RECLEN),
 * without telling. */
#define MAILLOG_TEXT_MAX 2000

struct maillog_line {
	struct maillog_time time;
	struct maillog_view host; /* empty: not told */
	struct maillog_view tag;  /* "postfix/submission/smtpd" */
	/* The tag's two halves, apart at its last slash. */
	struct maillog_view syslog_name; /* empty without a slash */
	struct maillog_view program;
	int64_t pid; /* 0: not told */
	struct maillog_view text;
};

/* Reads a line, without its newline. What is not a log line (no time in front)
 * has no time and is all text. */
void maillog_line_parse(
    const char *data, size_t size, struct maillog_line *line_r);

/* Sets tag, syslog_name and program. */
void maillog_line_set_tag(struct maillog_line *line, struct maillog_view tag);

#endif

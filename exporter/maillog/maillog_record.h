/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maillog_record: what a line of the mail log says.
 *
 * One line in, one record out; no state, no allocation, any thread. The views
 * point into the line. Shapes of lines are tables: maillog_shapes.c for
 * Postfix, maillog_dovecot.c for Dovecot, maillog_notice.c for the log itself.
 * Unknown `name=value` are passed over wherever they stand. What a remote
 * server or a sender wrote is text and never read as fields.
 *
 * Addresses are read as Postfix writes them with info_log_address_format =
 * external, the default: a local part in quotes may hold anything. With
 * `internal` an address that holds ">, " ends there.
 */
#ifndef EXPORTER_MAILLOG_MAILLOG_RECORD_H
#define EXPORTER_MAILLOG_MAILLOG_RECORD_H

#include "exporter/maillog/maillog_field.h"
#include "exporter/maillog/maillog_kind.h"
#include "exporter/maillog/maillog_line.h"

struct maillog_record {
	enum maillog_kind kind;
	enum maillog_program program;
	enum maillog_severity severity;
	enum maillog_action action;
	enum maillog_status status;
	struct maillog_view queue_id; /* empty: none, or NOQUEUE */
	bool noqueue;
	/* The text is as long as Postfix or the syslog daemon let it be: its
	 * end may be missing. */
	bool is_cut;
	unsigned repeats; /* how often it happened: 1, or more where the syslog
			     daemon folded lines */
	struct maillog_view fields[MAILLOG_FIELDS]; /* empty: not there */
};

void maillog_record_parse(
    const struct maillog_line *line, struct maillog_record *record_r);

/* The size of the queue id in front, short or long; 0 when there is none. */
size_t maillog_queue_id_size(struct maillog_view text);

/* The LMTP session id in a good reply of Dovecot's, which ends in
 * "<RECIPIENT> SESSION Saved"; empty when it is none. */
struct maillog_view maillog_reply_session(struct maillog_view reply);

/* Splits NAME[ADDRESS] or NAME[ADDRESS]:PORT. */
void maillog_peer_split(struct maillog_view peer, struct maillog_view *name_r,
    struct maillog_view *address_r);

/* Reads MAILLOG_DELAYS, a/b/c/d, into nanoseconds. Returns 0, or -1. */
int maillog_delays_parse(struct maillog_view delays, int64_t delays_ns_r[4]);

/* Looks a command up in MAILLOG_COMMANDS ("mail=1 rcpt=1/2"): how many were
 * accepted and given. Returns whether it is there. */
bool maillog_command_count(struct maillog_view commands, const char *name,
    int64_t *accepted_r, int64_t *given_r);

#endif

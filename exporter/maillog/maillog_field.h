/* SPDX-License-Identifier: BSD-2-Clause */
/* maillog_field: the parts of a line of the mail log and the words in them. */
#ifndef EXPORTER_MAILLOG_MAILLOG_FIELD_H
#define EXPORTER_MAILLOG_MAILLOG_FIELD_H

/* What was decided (restrictions, checks, milters) or done (postsuper). */
enum maillog_action {
	MAILLOG_NO_ACTION,
	MAILLOG_ACCEPT,
	MAILLOG_BCC,
	MAILLOG_DELAY,
	MAILLOG_DELETE,
	MAILLOG_DISCARD,
	MAILLOG_EXPIRE,
	MAILLOG_FILTER,
	MAILLOG_HANGUP,
	MAILLOG_HOLD,
	MAILLOG_INFORM,
	MAILLOG_PASS,
	MAILLOG_PERMIT,
	MAILLOG_PREPEND,
	MAILLOG_REDIRECT,
	MAILLOG_REJECT,
	MAILLOG_RELEASE,
	MAILLOG_RENAME,
	MAILLOG_REPLACE,
	MAILLOG_REQUEUE,
	MAILLOG_STRIP,
	MAILLOG_WARN, /* also reject_warning: it would have been rejected */
	MAILLOG_ACTIONS
};

enum maillog_status {
	MAILLOG_NO_STATUS,
	MAILLOG_SENT,
	MAILLOG_DEFERRED,
	MAILLOG_BOUNCED,
	MAILLOG_SOFT_BOUNCED, /* deferred, but for soft_bounce = yes bounced */
	MAILLOG_DELIVERABLE,  /* the last three are probes, not mail */
	MAILLOG_UNDELIVERABLE,
	MAILLOG_UNDELIVERABLE_NOT_CACHED,
	MAILLOG_STATUS_EXPIRED,
	MAILLOG_STATUS_FORCE_EXPIRED,
	MAILLOG_STATUS_UNKNOWN,
	MAILLOG_STATUSES
};

enum maillog_field {
	MAILLOG_TO,
	MAILLOG_ORIG_TO,
	MAILLOG_FROM,
	MAILLOG_RELAY,
	MAILLOG_CONN_USE,
	MAILLOG_DELAY_SECONDS,
	MAILLOG_DELAYS,
	MAILLOG_DSN,
	MAILLOG_STATUS,
	MAILLOG_TEXT,
	MAILLOG_SIZE,
	MAILLOG_NRCPT,
	MAILLOG_UID,
	MAILLOG_ORIG_ID,
	MAILLOG_MESSAGE_ID_TEXT,
	MAILLOG_CLIENT_PEER, /* NAME[ADDRESS] or NAME[ADDRESS]:PORT */
	MAILLOG_SASL_METHOD,
	MAILLOG_SASL_USERNAME,
	MAILLOG_SASL_SENDER,
	MAILLOG_ORIG_QUEUE_ID,
	MAILLOG_ORIG_CLIENT,
	MAILLOG_WHERE, /* RCPT, END-OF-MESSAGE, ... */
	MAILLOG_CODE,  /* 550 */
	MAILLOG_PROTO,
	MAILLOG_HELO,
	MAILLOG_PART, /* header, body, mime-error, ... */
	MAILLOG_COMMANDS,
	MAILLOG_NEW_QUEUE_ID,
	MAILLOG_REPORT, /* non-delivery, delay, delivery status */
	MAILLOG_WHOM,   /* sender, postmaster */
	MAILLOG_TRANSPORT,
	MAILLOG_COUNT,
	MAILLOG_SESSION,
	MAILLOG_USER,
	MAILLOG_MAILBOX,
	MAILLOG_FIELDS
};

/* The names in lower case, for people and tests; "unknown" for what is not in
 * the enum. */
const char *maillog_action_name(enum maillog_action action);
const char *maillog_status_name(enum maillog_status status);
const char *maillog_field_name(enum maillog_field field);

#endif

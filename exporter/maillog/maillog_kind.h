/* SPDX-License-Identifier: BSD-2-Clause */
/* maillog_kind: what lines of the mail log can be about, and who says it. */
#ifndef EXPORTER_MAILLOG_MAILLOG_KIND_H
#define EXPORTER_MAILLOG_MAILLOG_KIND_H

/* The fields that each kind has are named behind it. */
enum maillog_kind {
	MAILLOG_OTHER, /* nothing that a fate hangs on: text */

	/* A message and its queue file. Each has a queue id. */
	MAILLOG_CLIENT,     /* at the first accepted RCPT: client, sasl_*,
			       orig_queue_id, orig_client; also NOQUEUE */
	MAILLOG_PICKUP,     /* uid, from, orig_id (postsuper -r) */
	MAILLOG_MESSAGE_ID, /* message_id; may be any text */
	MAILLOG_RESENT_MESSAGE_ID,
	MAILLOG_ACTIVE,   /* at each activation: from, size, nrcpt */
	MAILLOG_DELIVERY, /* to, orig_to, relay, conn_use, delay, delays, dsn,
			     status, text; queue_id of a copy (new_queue_id),
			     LMTP session id (session) */
	MAILLOG_EXPIRED,  /* from, status; all deferred recipients at once */
	MAILLOG_REMOVED,  /* by qmgr: all is done; by postsuper: deleted */
	MAILLOG_SKIPPED,  /* still being delivered */
	MAILLOG_CORRUPT,  /* its file is kept aside */
	MAILLOG_MISSING,  /* its file is not where it was */
	MAILLOG_REFUSED,  /* not queued after all: too large, disk full, a loop
			     of hops, ...: text */
	MAILLOG_PASSING,  /* to, transport; not final */
	MAILLOG_TROUBLE,  /* another server will be tried: text */
	MAILLOG_NOTIFICATION, /* new_queue_id; report, whom */
	MAILLOG_NO_NOTIFICATION,

	/* postsuper's, by queue id, and how many it did at the end: action,
	 * count. With -d ALL and the like the summary is all there is. */
	MAILLOG_REQUEUED,
	MAILLOG_HELD,
	MAILLOG_RELEASED,
	MAILLOG_FORCED_TO_EXPIRE,
	MAILLOG_SUMMARY,

	/* Decisions, with an action. A queue id of NOQUEUE leaves it to the
	 * next `client=` of the same smtpd, if there is one. */
	MAILLOG_RESTRICTION, /* where, client, code, dsn, text, from, to, proto,
				helo */
	MAILLOG_CONTENT,     /* header_checks and body_checks: part, text,
				proto, code, dsn */
	MAILLOG_MILTER,      /* as RESTRICTION */
	MAILLOG_MILTER_CONTENT, /* milter_header_checks: likewise */
	MAILLOG_PROXY,          /* smtpd_proxy_filter: where, text, from, to */

	/* An SMTP session. */
	MAILLOG_CONNECT,    /* client */
	MAILLOG_DISCONNECT, /* client, commands */
	MAILLOG_BROKEN,     /* client, where, text: how it ended */

	/* The mail system. */
	MAILLOG_STARTED,
	MAILLOG_STOPPED,
	MAILLOG_RELOADED,
	MAILLOG_PROCESS_FAILED, /* text */
	MAILLOG_MILTER_FAILED,  /* text */
	MAILLOG_WARNING,        /* text; by severity, also fatal ones */

	/* The log itself. */
	MAILLOG_REPEATED, /* the line before, `repeats` times more */
	MAILLOG_LOST,     /* lines were dropped: count, or 0 for from now on */
	MAILLOG_LOGGER,   /* rsyslogd started, ended or reopened its files */

	/* Dovecot, about one recipient: user, session, message_id. */
	MAILLOG_STORED,     /* mailbox */
	MAILLOG_NOT_STORED, /* mailbox, text; temporary or not */
	MAILLOG_SIEVE_DISCARDED,
	MAILLOG_SIEVE_FORWARDED,     /* to */
	MAILLOG_SIEVE_NOT_FORWARDED, /* to, text */
	MAILLOG_SIEVE_REJECTED,      /* to, text */
	MAILLOG_SIEVE_ANSWERED,      /* vacation: to */
	MAILLOG_SIEVE_NOT_ANSWERED,  /* text */
	MAILLOG_SIEVE_OTHER,         /* piped, notified: text */
	MAILLOG_KINDS
};

enum maillog_program {
	MAILLOG_PROGRAM_UNKNOWN,
	MAILLOG_PROGRAM_ANVIL,
	MAILLOG_PROGRAM_BOUNCE,
	MAILLOG_PROGRAM_CLEANUP,
	MAILLOG_PROGRAM_DISCARD,
	MAILLOG_PROGRAM_DOVECOT,
	MAILLOG_PROGRAM_ERROR,
	MAILLOG_PROGRAM_JOURNALD,
	MAILLOG_PROGRAM_LMTP,
	MAILLOG_PROGRAM_LOCAL,
	MAILLOG_PROGRAM_MASTER,
	MAILLOG_PROGRAM_PICKUP,
	MAILLOG_PROGRAM_PIPE,
	MAILLOG_PROGRAM_POSTFIX_SCRIPT,
	MAILLOG_PROGRAM_POSTSCREEN,
	MAILLOG_PROGRAM_POSTSUPER,
	MAILLOG_PROGRAM_QMGR,
	MAILLOG_PROGRAM_QMQPD,
	MAILLOG_PROGRAM_RSYSLOGD,
	MAILLOG_PROGRAM_SMTP,
	MAILLOG_PROGRAM_SMTPD,
	MAILLOG_PROGRAM_VIRTUAL,
	MAILLOG_PROGRAM_POSTFIX, /* another one of Postfix's */
	MAILLOG_PROGRAMS
};

enum maillog_severity {
	MAILLOG_INFO,
	MAILLOG_SEVERITY_WARNING,
	MAILLOG_SEVERITY_ERROR,
	MAILLOG_SEVERITY_FATAL,
	MAILLOG_SEVERITY_PANIC,
	MAILLOG_SEVERITIES
};

/* The names in lower case, for people and tests; "unknown" for what is not in
 * the enum. */
const char *maillog_kind_name(enum maillog_kind kind);
const char *maillog_program_name(enum maillog_program program);
const char *maillog_severity_name(enum maillog_severity severity);

#endif

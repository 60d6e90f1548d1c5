/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event: what producers record, in memory.
 *
 * Events hold absolute stamps, never durations; a zero stamp, a NULL string and
 * a zero count mean "never supplied". Strings are NUL-terminated, came from
 * outside and may hold any byte but NUL. Nothing here owns memory: strings and
 * arrays belong to the arena of the session, transaction or decoder.
 *
 * Enumerators are numbers on disk: append, never renumber.
 */
#ifndef PROTO_EVENT_H
#define PROTO_EVENT_H

#include "base/clock.h"
#include "base/uuid.h"
#include "proto/operation_event.h"

/* How far an SMTP transaction came. */
enum message_phase {
	MESSAGE_PHASE_NONE,
	MESSAGE_PHASE_CONNECT,
	MESSAGE_PHASE_HELO,
	MESSAGE_PHASE_MAIL,
	MESSAGE_PHASE_RCPT,
	MESSAGE_PHASE_DATA,
	MESSAGE_PHASE_CONTENT,
	MESSAGE_PHASE_EOM,
	MESSAGE_PHASES
};

enum message_ending {
	MESSAGE_ENDING_NONE,
	/* We let it pass at end of message. Postfix may still refuse it
	 * ("ghost"): the milter is never told. */
	MESSAGE_ENDING_ACCEPTED,
	/* RSET, a lost client, a refusal or a discard by Postfix before our end
	 * of message; not the same as "not accepted" (header_checks REDIRECT).
	 */
	MESSAGE_ENDING_ABORTED,
	/* The session closed without an abort. */
	MESSAGE_ENDING_CLOSED,
	/* Not seen by the milter; Postfix's log and the hook tell of it. */
	MESSAGE_ENDING_LOGGED,
	MESSAGE_ENDINGS
};

struct message_recipient {
	const char *address; /* without <> */
	struct stamp rcpt_at;
	bool rejected; /* by Postfix; then why */
	const char *reject_dsn;
	const char *reject_text;
};

/* One SMTP transaction as the milter saw it. */
struct message_event {
	struct uuid id;       /* made at MAIL FROM; its time is that moment */
	struct uuid previous; /* the id in a trusted incoming stamp, if any */
	enum message_ending ending;
	enum message_phase phase;
	const char *queue_id;
	const char *message_id; /* the header's, with <> */
	const char *run;        /* X-Perf-Run */
	const char *sender;     /* "" is the null sender */
	uint64_t session;       /* numbers the sessions of one milter process */
	uint32_t sequence;      /* of this transaction in its session, from 1 */
	uint32_t forged_stamps; /* incoming stamps removed, not believed */
	uint64_t declared_bytes; /* SIZE= of MAIL FROM */

	const char *client_name;
	const char *client_address;
	uint32_t client_port;
	const char *helo;
	const char *daemon_name; /* which smtpd service of master.cf */
	const char *tls_version;
	const char *tls_cipher;
	const char *sasl_method;
	const char *sasl_user;

	/* Arrival of the command at us, before its reply; see proto/phase.h. */
	struct stamp connect_at;
	struct stamp helo_at;
	struct stamp mail_at;
	struct stamp data_at;
	struct stamp content_at; /* first header, or end of message if none */
	struct stamp eom_at;
	struct stamp end_at; /* abort or close, for transactions without EOM */

	struct message_recipient *recipients;
	size_t recipient_count;
	uint32_t recipients_omitted; /* beyond what a session may hold */
};

/* How far an LMTP transaction came. */
enum delivery_phase {
	DELIVERY_PHASE_NONE,
	DELIVERY_PHASE_CONNECT,
	DELIVERY_PHASE_LHLO,
	DELIVERY_PHASE_MAIL,
	DELIVERY_PHASE_RCPT,
	DELIVERY_PHASE_DATA,
	DELIVERY_PHASE_CONTENT_END,
	DELIVERY_PHASES
};

enum delivery_ending {
	DELIVERY_ENDING_NONE,      /* more replies are expected */
	DELIVERY_ENDING_COMPLETED, /* every recipient has its last reply */
	DELIVERY_ENDING_RESET,     /* RSET, QUIT or a new MAIL before the dot */
	/* The client went away. Replies that came nevertheless are there, but
	 * it may not have seen them, and will deliver again. */
	DELIVERY_ENDING_CLIENT_LOST,
	DELIVERY_ENDING_BACKEND_LOST,
	DELIVERY_ENDING_TIMED_OUT,
	DELIVERY_ENDING_STOPPED, /* we were told to stop */
	DELIVERY_ENDINGS
};

/* A reply of the LMTP server. Code 0: none came. */
struct delivery_reply {
	uint32_t code;
	const char *enhanced; /* "2.1.5" */
	const char *text; /* after code and enhanced code; lines joined by \n */
	struct stamp at;  /* its last byte reached us */
};

struct delivery_recipient {
	const char *address; /* without <> */
	/* The n-th RCPT of the transaction, from 0: the same address may come
	 * several times. */
	uint32_t position;
	struct stamp rcpt_at;
	struct delivery_reply envelope; /* to RCPT TO */
	/* After end of data; or DATA's, when the backend refused it. */
	struct delivery_reply final;
};

/*
 * One LMTP transaction as the hook saw it. It is recorded before the replies it
 * tells of are passed on. When they come in several pieces, each piece is
 * recorded, as part 0, 1, ... of the same id: each part repeats the
 * transaction's own members and holds the recipients whose last reply is new. A
 * recipient whose RCPT was refused is in part 0.
 */
struct delivery_event {
	struct uuid id; /* made at LMTP MAIL FROM */
	uint32_t part;
	enum delivery_ending ending; /* NONE in all parts but the last */
	enum delivery_phase phase;
	/* From the topmost Postfix Received: by our own host, else XFORWARD
	 * IDENT, else the stamp's. */
	const char *queue_id;
	const char *ident; /* XFORWARD IDENT: the id mail had on arrival */
	const char *message_id;
	const char *run;
	const char *sender;
	uint64_t session;  /* numbers the connections of one hook process */
	uint32_t sequence; /* of this transaction in its connection, from 1 */
	uint64_t content_bytes; /* between DATA and the dot, as transmitted */
	const char *backend;    /* endpoint text */

	uint32_t stamps_seen; /* stamp headers in the message */
	struct uuid stamp_id; /* the topmost well-formed one's */
	const char *stamp_queue_id;
	int64_t stamp_mail_wall_ns;

	struct stamp connect_at;
	struct stamp mail_at;
	struct stamp data_at;
	struct stamp content_end_at; /* the last byte of the dot reached us */
	struct stamp end_at;

	struct delivery_recipient *recipients;
	size_t recipient_count;
};

struct heartbeat_event {
	struct stamp at;
	bool start; /* the first one of a process */
	/* PRODUCER_COUNTERS of them, see producer_counter.h. */
	uint64_t *increases;
};

enum event_type {
	EVENT_NONE,
	EVENT_MESSAGE,
	EVENT_DELIVERY,
	EVENT_HEARTBEAT,
	EVENT_OPERATION
};

struct event {
	enum event_type type;
	union {
		struct message_event message;
		struct delivery_event delivery;
		struct heartbeat_event heartbeat;
		struct operation_event operation;
	};
};

/* When the transaction ended, at end of message or before it. */
struct stamp message_event_ended_at(const struct message_event *event);

/* Words for people and for JSON; "unknown" for what is not in the enum. */
const char *message_phase_name(enum message_phase phase);
const char *message_ending_name(enum message_ending ending);
const char *delivery_phase_name(enum delivery_phase phase);
const char *delivery_ending_name(enum delivery_ending ending);

#endif

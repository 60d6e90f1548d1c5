/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record: a message as the store gives it back: what was recorded of it, and
 * what became of its recipients.
 *
 * Everything a record points to belongs to the arena it was read into. Stamps
 * have microseconds.
 * Enumerators are numbers on disk: append, never renumber.
 */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "proto/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum recipient_state {
	RECIPIENT_IN_FLIGHT,  /* accepted, no final outcome known */
	RECIPIENT_DELIVERED,  /* the LMTP server answered 2xx for it */
	RECIPIENT_BOUNCED,    /* the LMTP server answered 5xx for it */
	RECIPIENT_REJECTED,   /* Postfix refused RCPT TO: never accepted */
	RECIPIENT_ABORTED,    /* the transaction ended before end of message */
	RECIPIENT_DEFERRED,   /* in the queue after a failed attempt */
	RECIPIENT_HELD,       /* in the hold queue */
	RECIPIENT_RELAYED,    /* another host took it over */
	RECIPIENT_HANDED_OFF, /* a command or content filter took it over */
	RECIPIENT_EXPIRED,    /* returned to sender after its time */
	RECIPIENT_DISCARDED,  /* thrown away as configured */
	RECIPIENT_DELETED,    /* by an administrator */
	RECIPIENT_GHOST,      /* let pass by us, never queued by Postfix */
	RECIPIENT_LOST,     /* gone without a trace, which the log would show */
	RECIPIENT_UNKNOWN,  /* cannot be decided; the reason says why */
	RECIPIENT_EXPANDED, /* other recipients continue it (alias) */
	RECIPIENT_MERGED,   /* Postfix was done with it without a delivery of
			     * its own: a duplicate, or REDIRECT */
	RECIPIENT_STATES
};

/* Why a recipient is in its state, where that is not plain. */
enum fate_reason {
	FATE_REASON_NONE,
	FATE_REASON_REDIRECTED,   /* MERGED: REDIRECT to somebody else */
	FATE_REASON_DUPLICATE,    /* MERGED: the same mailbox as another */
	FATE_REASON_LOG_GAP,      /* UNKNOWN: part of the log is missing */
	FATE_REASON_BULK_DELETE,  /* UNKNOWN: postsuper -d ALL meanwhile */
	FATE_REASON_CORRUPT,      /* LOST: in the corrupt queue */
	FATE_REASON_REFUSED,      /* GHOST: refused after our end of message */
	FATE_REASON_NEVER_QUEUED, /* GHOST: no sign of a queue file */
	/* DELETED: it was lost, and an operator acknowledged that. */
	FATE_REASON_ACKNOWLEDGED,
	/* DELETED: it was unknown, and an operator acknowledged that. */
	FATE_REASON_ACKNOWLEDGED_UNKNOWN,
	/* UNKNOWN: nobody saw it end within the queue lifetime. */
	FATE_REASON_OUTLIVED,
	FATE_REASONS
};

const char *fate_reason_name(enum fate_reason reason);

const char *recipient_state_name(enum recipient_state state);

/* Why a leg belongs to its message, or to none. */
enum leg_state {
	LEG_WAITING,   /* its stamp's message is not known yet */
	LEG_STAMPED,   /* the stamp's id exists, its queue id is the leg's */
	LEG_QUEUE_ID,  /* no believable stamp; the queue id tells */
	LEG_UNSTAMPED, /* no stamp, no message known */
	LEG_FOREIGN,   /* a stamp that is not this mail's: never believed */
	LEG_STATES
};

const char *leg_state_name(enum leg_state state);

/* What Dovecot says it did with a recipient's mail. */
enum filing_action {
	FILING_STORED,    /* in the mailbox `name` */
	FILING_FORWARDED, /* to the address `name` (redirect) */
	FILING_ANSWERED,  /* the same (vacation) */
	FILING_REJECTED,  /* told to the address `name` (reject) */
	FILING_DISCARDED, /* unless it was stored or forwarded */
	FILING_ACTIONS
};

const char *filing_action_name(enum filing_action action);

struct filing_record {
	enum filing_action action;
	const char *name; /* NULL: none */
};

struct recipient_record {
	const char *address;
	enum recipient_state state;
	bool expected; /* named by RCPT TO; false: only seen at delivery */
	struct stamp rcpt_at;
	const char *reject_dsn; /* RECIPIENT_REJECTED */
	const char *reject_text;
	enum fate_reason reason;
	/* The address that Postfix had before aliases, by its log's orig_to;
	 * NULL: the same. */
	const char *original;
	uint32_t attempts; /* LMTP transactions that named it */
	const struct filing_record *filings; /* by action */
	size_t filing_count;
	/* The delivery that decided the state: an index into legs and into that
	 * leg's recipients; -1 while undecided. */
	int leg;
	int leg_recipient;
};

/* All parts of one LMTP transaction together. */
struct leg_record {
	int64_t row; /* in its file */
	struct delivery_event event;
	enum leg_state state;
	const char *instance;
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
};

/* One delivery agent's line in Postfix's log. */
struct attempt_record {
	int64_t wall_ns;    /* of the line */
	uint32_t recipient; /* index into the message's recipients */
	const char *queue_id;
	const char *agent; /* "lmtp", "smtp", "pipe", ... */
	const char *relay;
	const char *dsn;
	const char *status; /* "sent", "deferred", "bounced", ... */
	const char *text;   /* between the parentheses */
};

/* What an operator said of a message. */
struct operation_record {
	enum operation_kind kind;
	int64_t wall_ns;
	const char *who;
	const char *comment; /* NULL: none */
};

/*
 * `event.recipients` is not filled: `recipients` has them, with their states. A
 * mail that was delivered without a known message (unstamped, foreign) is a
 * record whose event.id is not set and which has one leg.
 */
struct message_record {
	struct message_event event;
	const char *instance;
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
	struct recipient_record *recipients;
	size_t recipient_count;
	struct leg_record *legs; /* in the order they began */
	size_t leg_count;
	/* See exporter/join/fate.h; opaque here but for this bit: the message
	 * was submitted, see store/route.h. */
#define RECORD_SUBMITTED (UINT32_C(1) << 19)
	uint32_t evidence;
	uint64_t size_bytes; /* by the log; 0: unknown */
	/* In the queue file, by the log: the same at each activation, aliases
	 * being expanded and duplicates left out. 0: unknown. What local(8)
	 * makes of its recipients is not in it, so that nobody can count
	 * then. */
#define RECORD_UNCOUNTED UINT32_MAX
	uint32_t queue_recipients;
	struct attempt_record *attempts; /* by the log, in its order */
	size_t attempt_count;
	/* Further queue ids it had: postsuper -r, content filters. */
	const char **queue_ids;
	size_t queue_id_count;
	struct operation_record *operations; /* in the order of time */
	size_t operation_count;
};

/* When it began: MAIL FROM, what the id says where that is not known, or the
 * MAIL of its leg when there is no message. */
int64_t record_begin_ns(const struct message_record *record);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fate: from evidence to what became of a recipient.
 *
 * Each source (milter, hook, log, queue look-up, operator) only says what it
 * saw; bits of evidence are collected per message and per recipient, and a
 * recipient's state is a pure function of both sets. So it does not matter
 * which source was read first: the same evidence gives the same state. A bit
 * belongs to one source, which keeps its own order and may therefore also take
 * a bit back (HELD, ABSENT); nobody else touches it, but for ACKNOWLEDGED.
 *
 * The rules are those of a Postfix queue: a queue file goes away only when
 * every recipient record in it is done, so REMOVED accounts for all of them.
 */
#ifndef EXPORTER_JOIN_FATE_H
#define EXPORTER_JOIN_FATE_H

#include "store/record.h"

#include <stdbool.h>
#include <stdint.h>

/* Of a message. Numbers on disk: append, never renumber. */
enum message_evidence {
	/* Milter: it let the message pass at end of message. */
	MESSAGE_ACCEPTED = 1 << 0,
	/* Hook: a delivery was begun, so there is a queue file. */
	MESSAGE_SEEN_BY_HOOK = 1 << 1,
	/* Log: (queue active), or any delivery agent's line. */
	MESSAGE_QUEUED = 1 << 2,
	MESSAGE_REMOVED = 1 << 3,    /* Log: qmgr removed it */
	MESSAGE_DELETED = 1 << 4,    /* Log: postsuper -d */
	MESSAGE_EXPIRED = 1 << 5,    /* Log: returned to sender */
	MESSAGE_DISCARDED = 1 << 6,  /* Log: DISCARD of a map or a milter */
	MESSAGE_REFUSED = 1 << 7,    /* Log: refused after our end of message */
	MESSAGE_REDIRECTED = 1 << 8, /* Log: REDIRECT: others vanish silently */
	MESSAGE_HELD = 1 << 9,       /* Log: in the hold queue */
	MESSAGE_CORRUPT = 1 << 10,   /* Log: moved to the corrupt queue */
	/* Log: a `postsuper -d ALL` that names nobody, while it was open. */
	MESSAGE_BULK_DELETED = 1 << 11,
	/* Log: what it says of the message's time is not complete. */
	MESSAGE_LOG_GAP = 1 << 12,
	/* Queue look-up: in no queue directory, twice, minutes apart, and old
	 * enough. */
	MESSAGE_ABSENT = 1 << 13,
	/* Queue look-up: there is, or was, a committed queue file. */
	MESSAGE_IN_QUEUE = 1 << 14,
	/* Operator: who is lost or unknown is accounted for. The queue look-up
	 * takes it back when it finds the message in the queue again: what was
	 * said of one loss does not hold for the next. */
	MESSAGE_ACKNOWLEDGED = 1 << 15,
	/* Queue look-up: it is in the hold queue, in the corrupt queue. */
	MESSAGE_SEEN_HELD = 1 << 16,
	MESSAGE_SEEN_CORRUPT = 1 << 17,
	/* Queue look-up: when it was found absent, the log did not tell
	 * everything of its time. */
	MESSAGE_BLIND = 1 << 18,
	/* Milter, or the log of what no milter saw: it was submitted. Means
	 * nothing to fate_of(). */
	MESSAGE_SUBMITTED = RECORD_SUBMITTED,
	/* Log: one bit for each of the queue ids of a message that has several:
	 * it is removed. Means nothing to fate_of(): REMOVED is all of them. */
	MESSAGE_GONE_FIRST = 1 << 20,
	MESSAGE_GONE_LAST = 1 << 27,
	/* Log: it told of a message that the milter did not, and did so from
	 * its beginning. */
	MESSAGE_TOLD = 1 << 28,
	MESSAGE_BEGUN = 1 << 29,
	/* Time: nobody has seen it end within the queue lifetime. */
	MESSAGE_OUTLIVED = 1 << 30
};

/* What a message is from the beginning, by whoever told of it. */
#define MESSAGES_OWN (MESSAGE_TOLD | MESSAGE_BEGUN | MESSAGE_SUBMITTED)

/* Of a recipient. */
enum recipient_evidence {
	EVIDENCE_NAMED = 1 << 0,          /* Milter: by an accepted RCPT TO */
	EVIDENCE_REFUSED = 1 << 1,        /* Milter: by a rejected one */
	EVIDENCE_HOOK_DELIVERED = 1 << 2, /* Hook: 2xx after the content */
	EVIDENCE_HOOK_REFUSED = 1 << 3,   /* Hook: 5xx */
	EVIDENCE_HOOK_DEFERRED = 1 << 4,  /* Hook: 4xx or no answer */
	EVIDENCE_LOG_DELIVERED = 1 << 5,  /* Log: sent to a mailbox */
	EVIDENCE_LOG_RELAYED = 1 << 6,    /* Log: sent to another host */
	EVIDENCE_LOG_HANDED_OFF = 1 << 7, /* Log: to a command or filter */
	EVIDENCE_LOG_DISCARDED = 1 << 8,  /* Log: discard(8), /dev/null */
	EVIDENCE_LOG_BOUNCED = 1 << 9,
	EVIDENCE_LOG_DEFERRED = 1 << 10,
	/* Log: the orig_to of another recipient, which continues it. */
	EVIDENCE_LOG_EXPANDED = 1 << 11,
	/* Dovecot, of a delivery: stored in a mailbox; by Sieve redirected,
	 * rejected with a message to the sender, discarded. */
	EVIDENCE_STORED = 1 << 12,
	EVIDENCE_SIEVE_FORWARDED = 1 << 13,
	EVIDENCE_SIEVE_REJECTED = 1 << 14,
	EVIDENCE_SIEVE_DISCARDED = 1 << 15
};

struct fate {
	enum recipient_state state;
	enum fate_reason reason;
};

/* Any thread; no side effects. */
struct fate fate_of(uint32_t message_evidence, uint32_t recipient_evidence);

/* Whether the state may still change by what Postfix does: queued, deferred or
 * held. */
bool fate_is_open(enum recipient_state state);

/* Whether nobody can say what became of it: lost or unknown, which an operator
 * may acknowledge. */
bool fate_is_missing(enum recipient_state state);

/* Whether the mail is lost, as far as is known, acknowledged or not. */
bool fate_is_loss(struct fate fate);

#endif

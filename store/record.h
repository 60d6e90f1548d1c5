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
	RECIPIENT_IN_FLIGHT, /* accepted, no final outcome known */
	RECIPIENT_DELIVERED, /* the LMTP server answered 2xx for it */
	RECIPIENT_BOUNCED,   /* the LMTP server answered 5xx for it */
	RECIPIENT_REJECTED,  /* Postfix refused RCPT TO: never accepted */
	RECIPIENT_ABORTED,   /* the transaction ended before end of message */
	RECIPIENT_STATES
};

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

struct recipient_record {
	const char *address;
	enum recipient_state state;
	bool expected; /* named by RCPT TO; false: only seen at delivery */
	struct stamp rcpt_at;
	const char *reject_dsn; /* RECIPIENT_REJECTED */
	const char *reject_text;
	uint32_t attempts; /* LMTP transactions that named it */
	/* The delivery that decided the state: an index into legs and into that
	 * leg's recipients; -1 while undecided. */
	int leg;
	int leg_recipient;
};

/* All parts of one LMTP transaction together. */
struct leg_record {
	struct delivery_event event;
	enum leg_state state;
	const char *instance;
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
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
};

#endif

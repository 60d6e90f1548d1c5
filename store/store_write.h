/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_write: what the join writes into a day file: messages, recipients,
 * legs.
 *
 * Part of store.h, whose rules hold. Each function begins the file's
 * transaction if the batch has not yet. What is said of messages and recipients
 * is written when the batch ends (unwritten.h): then store_commit() fails if
 * one that was to be changed is not there.
 */
#ifndef STORE_STORE_WRITE_H
#define STORE_STORE_WRITE_H

#include "store/record.h"

#include <stdint.h>

struct day_file;
struct reason;
struct segment_header;

/* A message's place: its file and its row. */
struct message_key {
	struct day_file *file;
	int64_t row;
};

/* What is said of a new message and its recipients besides the event. */
struct recipient_verdict {
	enum recipient_state state;
	enum fate_reason reason;
	uint32_t evidence;
};

struct message_verdict {
	uint32_t evidence;
	/* One for each of event->recipients. */
	const struct recipient_verdict *recipients;
};

/* Adds a message with its recipients. One that only the log tells of has no
 * boot id in segment->boot_id and may lack any stamp; its id says the day.
 * Returns 0, or -1. */
int store_add_message(struct day_file *file, const struct message_event *event,
    const struct segment_header *segment, const struct message_verdict *verdict,
    struct message_key *key_r, struct reason *reason);

/* What the log adds to a message. Set members replace, others are kept. */
struct message_change {
	uint32_t evidence;
	uint64_t size_bytes;       /* 0: keep */
	uint32_t queue_recipients; /* 0: keep */
};

int store_change_message(const struct message_key *key,
    const struct message_change *change, struct reason *reason);

/* Counts that recipient `number`, which had waited in the queue, left it at
 * `wall_ns`: what tells how fast a queue drains (query_drain.h). */
int store_add_departure(const struct message_key *key, uint32_t number,
    int64_t wall_ns, struct reason *reason);

/* A further queue id of a message: what bears it from `since_wall_ns` on is
 * this message, until somebody else claims it. */
struct queue_id_claim {
	const char *instance;
	const char *queue_id;
	int64_t since_wall_ns;
};

/* From now on the message is found by it, too. One that it has already keeps
 * its time. */
int store_add_queue_id(const struct message_key *key,
    const struct queue_id_claim *claim, struct reason *reason);

/* What is known of the recipient that a line is about. */
struct attempt_subject {
	const char *address;
	int64_t leg_row; /* the delivery that decided so far; 0: none */
};

/* Adds a line of a delivery agent; attempt->recipient is the number. A queue id
 * that is the message's own may be left out (NULL). `subject` may be NULL:
 * then the recipient is looked up. */
int store_add_attempt(const struct message_key *key,
    const struct attempt_record *attempt, const struct attempt_subject *subject,
    struct reason *reason);

/* Adds what an operator said of it. */
int store_add_operation(const struct message_key *key,
    const struct operation_event *operation, struct reason *reason);

/* What the join may say of recipient `number`, which counts from 0 in the order
 * of the envelope, then as added. */
struct recipient_change {
	uint32_t number;
	enum recipient_state former; /* the state until now */
	enum recipient_state state;
	enum fate_reason reason;
	uint32_t evidence; /* 24 bits are kept */
	uint32_t attempts;
	int64_t leg_row;       /* the delivery that decided; 0: none */
	uint32_t leg_position; /* delivery_recipient.position in it */
	bool has_one_leg;      /* no other one is known to have decided */
	const char *original;  /* orig_to; NULL: keep what is known */
};

/* Adds a recipient that was not in the envelope, as change->number, which must
 * be the next one. */
int store_add_recipient(const struct message_key *key, const char *address,
    const struct recipient_change *change, struct reason *reason);

int store_change_recipient(const struct message_key *key,
    const struct recipient_change *change, struct reason *reason);

/* What is said of a leg besides its event. `message` is NULL for a leg without
 * a message, else in the leg's own file. */
struct leg_verdict {
	enum leg_state state;
	const struct message_key *message;
};

/* Adds one part of a delivery to `file`. All parts of a delivery must be given
 * the same file, in their order; *leg_row_r, never 0, is the same for all. What
 * the verdict on a later part says of a leg that has its message is ignored. */
int store_add_leg(struct day_file *file, const struct delivery_event *event,
    const struct segment_header *segment, const struct leg_verdict *verdict,
    int64_t *leg_row_r, struct reason *reason);

/* Tells who watch the store of what a leg that belongs to no message said of
 * its recipients. Returns 0, or -1. */
int store_tell_leg(struct day_file *file, int64_t leg_row,
    const struct delivery_event *event, struct reason *reason);

/* Decides what was LEG_WAITING, or finds the message of a leg that had none. */
int store_settle_leg(struct day_file *file, int64_t leg_row,
    const struct leg_verdict *verdict, struct reason *reason);

#endif

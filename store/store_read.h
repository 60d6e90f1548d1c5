/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_read: what the join asks the store: is this message or leg there, and
 * what was open when the exporter stopped.
 *
 * Part of store.h, whose rules hold.
 */
#ifndef STORE_STORE_READ_H
#define STORE_STORE_READ_H

#include "store/record.h"
#include "store/store_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct reason;
struct store;

/* What the join keeps of a message: enough to join deliveries to it. A million
 * of them are held: order and sizes leave no room between the fields. */
struct open_recipient {
	const char *address;
	enum recipient_state state : 8;
	enum fate_reason reason : 8;
	bool expected;
	uint32_t evidence;
	uint32_t attempts;
	uint32_t leg_position;
	int64_t leg_row;      /* the delivery that decided; 0: none */
	const char *original; /* orig_to; NULL: not known */
};

struct open_message {
	struct message_key key;
	struct uuid id;
	const char *instance;
	const char *queue_id;
	enum message_ending ending;
	uint32_t evidence;
	uint64_t size_bytes; /* by the log; 0: not known */
	struct stamp mail_at;
	struct stamp ended_at; /* see message_event_ended_at() */
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
	struct open_recipient *recipients;
	/* Those that it got later; the one it began with is not among them. */
	struct queue_id_claim *queue_ids;
	size_t queue_id_count;
	uint32_t recipient_count;
	uint32_t queue_recipients; /* see record.h */
};

/* Finds a message by id in the file of the id's day, however old, in those of
 * the days next to it, where it is if others told of it first, and in odd.db.
 * What the running batch has written is found too. Returns 1 with *message_r in
 * `arena`, 0 if there is none, -1. */
int store_find_message(struct store *store, const struct uuid *id,
    struct arena *arena, struct open_message *message_r, struct reason *reason);

/* The message that was the last to claim this queue id of `instance` not later
 * than `before_wall_ns`, in the files that may still be written. The claim on
 * the id that a message began with is as old as its MAIL FROM (or its id, where
 * that is not known), on one that it got later as store_add_queue_id() said. */
struct queue_id_key {
	const char *instance;
	const char *queue_id;
	int64_t before_wall_ns;
};

/* No message in the files that may still be written began, or got a queue id,
 * later than *wall_ns_r, but for what is in odd.db. Returns 0, or -1. */
int store_newest(
    struct store *store, int64_t *wall_ns_r, struct reason *reason);

int store_find_queue_id(struct store *store, const struct queue_id_key *key,
    struct arena *arena, struct open_message *message_r, struct reason *reason);

/* Whether part `part` of delivery `id` is in some writable file already.
 * Returns 1 with its file and row (either may be NULL), 0, or -1. */
int store_has_leg(struct store *store, const struct uuid *id, uint32_t part,
    struct message_key *leg_r, struct reason *reason);

/* A delivery of which a part is in some writable file already. */
struct found_leg {
	struct message_key key; /* the leg's file and row */
	enum leg_state state;
	int64_t message_row; /* in the same file; 0: none */
};

/* Returns 1 with *leg_r, 0 or -1. */
int store_find_leg(struct store *store, const struct uuid *id,
    struct found_leg *leg_r, struct reason *reason);

/* The message in a place that is known. Returns 1 with *message_r in `arena`,
 * 0 if there is none, -1. */
int store_read_message(const struct message_key *key, struct arena *arena,
    struct open_message *message_r, struct reason *reason);

/* When the log told of its first delivery attempt. Returns 1, 0 if of none, -1.
 */
int store_first_attempt(const struct message_key *key, struct arena *arena,
    int64_t *wall_ns_r, struct reason *reason);

/* Calls `each` for every message with a recipient in flight, deferred or held
 * in the writable files: how the join's memory is rebuilt at start. `each`
 * returns 0 to go on; anything else ends the walk and is returned. What it is
 * given lives until it returns. It must not write. */
int store_each_open(struct store *store,
    int (*each)(void *context, const struct open_message *message),
    void *context, struct reason *reason);

/* The same for every LEG_WAITING, with its whole event: all its parts together,
 * event.part being the last one's. */
struct waiting_leg {
	struct message_key key; /* the leg's file and row */
	struct delivery_event event;
	const char *instance;
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
};

int store_each_waiting(struct store *store,
    int (*each)(void *context, const struct waiting_leg *leg), void *context,
    struct reason *reason);

#endif

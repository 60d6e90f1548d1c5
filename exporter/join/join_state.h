/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join_state: what the parts of the join share: its memory and the event at
 * hand. Included by join*.c only.
 */
#ifndef EXPORTER_JOIN_JOIN_STATE_H
#define EXPORTER_JOIN_JOIN_STATE_H

#include "exporter/join/join.h"
#include "exporter/join/waiting.h"

#define SECOND_NS INT64_C(1000000000)
/* By how much the clocks of log, milter and hook may differ. */
#define CLOCKS_DIFFER_NS (2 * SECOND_NS)

struct arena;
struct log_contexts;
struct log_instances;
struct log_trust;
struct lmtp_sessions;
struct open_messages;
struct tracked;

struct join {
	struct store *store;
	struct open_messages *messages;
	struct waiting *waiting;
	int64_t stamp_wait_ns;
	struct arena *scratch; /* of one event */
	/* Memory has every message that began, or was continued, later. */
	int64_t stored_until_wall_ns;

	/* Of Dovecot's log; unused when reads_sessions is false. */
	struct lmtp_sessions *sessions;
	bool reads_sessions;

	/* Of Postfix's log; instances is NULL when none is read. */
	struct log_instances *instances;
	struct log_contexts *contexts;
	struct log_trust *trust;        /* NULL: nobody asks for it */
	int64_t log_wall_ns;            /* the latest line read */
	int64_t counted_by_log_wall_ns; /* see log_boundary.h */
	/* What the running postsuper has removed by name. */
	int64_t postsuper_pid;
	uint64_t postsuper_removed;
};

/* An event to apply. */
struct join_input {
	const char *source;
	const struct journal_record *record;
	int64_t now_ns;
};

int join_message(
    struct join *join, const struct join_input *input, struct reason *reason);
int join_delivery(
    struct join *join, const struct join_input *input, struct reason *reason);
int join_heartbeat(
    struct join *join, const struct join_input *input, struct reason *reason);

int join_operation(
    struct join *join, const struct join_input *input, struct reason *reason);

/* Whether a stamp that names `message` is this delivery's own. */
bool join_belongs(const struct tracked *message,
    const struct delivery_event *delivery, const char *instance);

/* Decides a waiting leg: it belongs to `message`, or, when that is NULL, its
 * stamp is foreign. Removes the entry. */
int join_settle(struct join *join, const struct waiting_entry *entry,
    struct tracked *message, struct reason *reason);

/* The same for all legs that wait for `message` and are its own by now. With a
 * log, the others wait on: it may link their queue ids to the message. */
int join_settle_waiting(
    struct join *join, struct tracked *message, struct reason *reason);

/* Holds what the store found, unless it is held already. */
struct tracked *join_hold(struct join *join, const struct open_message *found);

/* Finds a message by its id, held or in the store. Returns 1, 0, or -1. */
int join_find(struct join *join, const struct uuid *id,
    struct tracked **message_r, struct reason *reason);

/* Finds a message by a queue id in the store. Returns 1, 0, or -1. */
int join_find_stored(struct join *join, const struct queue_id_key *key,
    struct tracked **message_r, struct reason *reason);

/* The claim by which a message that was found bears the queue id. */
int64_t join_claimed_since(
    const struct open_message *message, const char *queue_id);

/* A message that the milter did not see, as the log or the hook tells of it:
 * event->mail_at is when its queue id began, event->queue_id is set. */
struct unseen_message {
	struct message_event event;
	const char *instance;
	bool is_internal; /* made by Postfix itself */
	uint32_t evidence;
	/* NULL: the file of the id's day. */
	struct day_file *file;
};

/* What the log has said of a queue id before its message was known is applied.
 * Returns 0, or -1. */
int join_log_message_came(
    struct join *join, struct tracked *message, struct reason *reason);

/* Whether, of the messages that bore a queue id at that time, `message` is not
 * the last: the log has begun another one, which it has not made out yet. */
bool join_log_began_later(struct join *join, const struct tracked *message,
    const struct queue_id_claim *claim);

/* The log's part of join_expire() and join_deadline(). */
int join_log_expire(struct join *join, int64_t now_ns, struct reason *reason);
int64_t join_log_deadline(const struct join *join);

/* The sessions that replies are to be told to; NULL: nobody asks. */
struct lmtp_sessions *join_sessions(struct join *join);

/* A line of Dovecot's, and its part of join_expire() and join_deadline(). */
int join_dovecot_line(struct join *join, const char *source,
    const struct log_record *record, int64_t now_ns, struct reason *reason);
int join_dovecot_expire(
    struct join *join, int64_t now_ns, struct reason *reason);
int64_t join_dovecot_deadline(const struct join *join);
/* A message as it comes, or comes again. */
struct join_addition {
	const struct message_event *event;
	const struct segment_header *segment;
	const struct message_verdict *verdict;
};

/* Adds it to the store and to memory; nothing is counted. Returns 0, or -1. */
int join_add_message(struct join *join, struct day_file *file,
    const struct join_addition *addition, struct tracked **message_r,
    struct reason *reason);

/* Whether only the hook has told of it: once the log does, it is part of what
 * the log tells. */
bool join_is_hooks_only(const struct open_message *message);

/* Adds it, under an id that follows from instance, queue id and time. Counts it
 * as unstamped. */
int join_add_unseen(struct join *join, struct unseen_message *unseen,
    struct tracked **message_r, struct reason *reason);

#endif

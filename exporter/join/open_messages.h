/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open_messages: the messages with a recipient in flight, deferred or held, in
 * memory.
 *
 * What the join asks for most, found by id or queue id without asking the
 * store. A cache with a rule: it holds every message that has an open
 * recipient, so that its sums are the gauges; of the others, the ones used
 * last. Built anew from the store at start and after a failed commit. Not
 * thread-safe.
 */
#ifndef EXPORTER_JOIN_OPEN_MESSAGES_H
#define EXPORTER_JOIN_OPEN_MESSAGES_H

#include "exporter/join/look_times.h"
#include "exporter/join/queue_ids.h"
#include "exporter/metrics/revision.h"
#include "store/store.h"

#include <stddef.h>
#include <stdint.h>

struct open_messages;
struct tracked;

/* `kept_max`: how many messages without an open recipient are kept. */
struct open_messages *open_messages_new(size_t kept_max);
void open_messages_clear(struct open_messages *messages);
void open_messages_free(struct open_messages **messages);

/* NULL when it is not held. */
struct tracked *open_messages_find(
    struct open_messages *messages, const struct uuid *id);

/* As store_find_queue_id(), of those that are held and, unless `fits` is NULL,
 * fit. */
struct tracked *open_messages_find_queue_id(struct open_messages *messages,
    const struct queue_id_key *key, queue_id_fits *fits, const void *context);

/* Holds a copy. The id must not be held yet. */
struct tracked *open_messages_add(
    struct open_messages *messages, const struct open_message *message);

/* What is held; valid until the message is changed or let go. */
const struct open_message *tracked_message(const struct tracked *tracked);

/* Sets what is known of the message itself. */
void tracked_set_evidence(struct open_messages *messages,
    struct tracked *tracked, const struct message_change *change);

/* A message's claims on queue ids: 0 is that on the one it began with, which it
 * must have, 1 and up those on further ones. */
struct queue_id_claim tracked_claim(
    const struct tracked *tracked, uint32_t number);

void tracked_add_queue_id(struct open_messages *messages,
    struct tracked *tracked, const struct queue_id_claim *claim);

/* Sets what is known of recipient `number`; the next number after the last
 * adds one, with `address` copied, which is not used otherwise. */
void tracked_set_recipient(struct open_messages *messages,
    struct tracked *tracked, const char *address,
    const struct recipient_change *change);

/* To be called when a message has been used: lets it or another one go unless
 * it has an open recipient. */
void open_messages_settle(
    struct open_messages *messages, struct tracked *tracked);

/* While messages are told anew, what becomes of recipients is not counted, but
 * tallied; NULL: it is counted. Borrowed. */
struct tally;
void open_messages_set_tally(
    struct open_messages *messages, struct tally *tally);
struct tally *open_messages_tally(const struct open_messages *messages);

/* Forgets a message that is not what it seemed. */
void open_messages_remove(
    struct open_messages *messages, struct tracked *tracked);

/* Messages have been let go that others than the milter told of, or continued
 * under a further queue id, up to then. INT64_MIN: none was. */
int64_t open_messages_told_until(const struct open_messages *messages);

/* Calls `each` for every message with an open recipient; it may change them but
 * neither add nor settle. Stops when it returns anything but 0, and returns
 * that. */
int open_messages_each(struct open_messages *messages,
    int (*each)(void *context, struct tracked *tracked), void *context);

/* When the held messages' queue files are to be looked for: those that have an
 * open recipient, and others that somebody sets while they are held. */
struct look_times *open_messages_looks(struct open_messages *messages);
struct look *tracked_look(struct tracked *tracked);
struct tracked *look_tracked(struct look *look);

/* Lets go of those that are only kept. */
void open_messages_forget_kept(struct open_messages *messages);

struct open_messages_figures {
	size_t messages;
	size_t recipients[OPEN_STATES]; /* see open_state_number() */
	int64_t oldest_wall_ns;         /* MAIL FROM; 0 when there is none */
};

struct open_messages_figures open_messages_figures(
    struct open_messages *messages);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table of deep copies, a table of their queue ids, and a list of those
 * that are only kept for a while. Owned by the join, on the ingest thread.
 */
#include "exporter/open_messages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <uthash.h>

#include "base/memory.h"
#include "exporter/fate.h"

struct tracked {
	struct open_message message; /* its memory is the entry's own */
	size_t capacity;             /* of message.recipients */
	size_t open;                 /* recipients */
	bool is_kept;                /* in the list of those */
	TAILQ_ENTRY(tracked) by_use;
	struct look look;
	UT_hash_handle hh;
};

TAILQ_HEAD(tracked_list, tracked);

struct open_messages {
	struct tracked *table;
	struct queue_ids *queue_ids;
	struct look_times *looks;
	struct tracked_list kept; /* used last at the end */
	size_t kept_count;
	size_t kept_max;
	size_t open; /* messages */
	size_t recipients[OPEN_STATES];
	int64_t oldest_wall_ns;
	bool oldest_is_gone; /* oldest_wall_ns must be looked for again */
};

struct open_messages *
open_messages_new(size_t kept_max)
{
	struct open_messages *messages = memory_zeroed(1, sizeof(*messages));

	messages->queue_ids = queue_ids_new();
	messages->looks = look_times_new();
	messages->kept_max = kept_max;
	TAILQ_INIT(&messages->kept);
	return messages;
}

/* Memory of one's own is told as const to everybody else. */
static void
free_const(const void *memory)
{
	free((void *)(uintptr_t)memory);
}

static void
tracked_free(struct tracked *tracked)
{
	struct open_message *message = &tracked->message;

	for (size_t i = 0; i < message->recipient_count; i++) {
		free_const(message->recipients[i].address);
		free_const(message->recipients[i].original);
	}
	for (size_t i = 0; i < message->queue_id_count; i++) {
		free_const(message->queue_ids[i].instance);
		free_const(message->queue_ids[i].queue_id);
	}
	free(message->queue_ids);
	free(message->recipients);
	free_const(message->instance);
	free_const(message->queue_id);
	free(tracked);
}

void
open_messages_clear(struct open_messages *messages)
{
	struct tracked *tracked, *next;

	HASH_ITER(hh, messages->table, tracked, next)
	{
		HASH_DEL(messages->table, tracked);
		tracked_free(tracked);
	}
	queue_ids_free(&messages->queue_ids);
	look_times_clear(messages->looks);
	*messages = (struct open_messages){
	    .queue_ids = queue_ids_new(),
	    .looks = messages->looks,
	    .kept_max = messages->kept_max,
	};
	TAILQ_INIT(&messages->kept);
}

void
open_messages_free(struct open_messages **messages)
{
	if (*messages == NULL)
		return;
	open_messages_clear(*messages);
	queue_ids_free(&(*messages)->queue_ids);
	look_times_free(&(*messages)->looks);
	free(*messages);
	*messages = NULL;
}

/* What is in use is not the next to be let go. */
static struct tracked *
use(struct open_messages *messages, struct tracked *tracked)
{
	if (tracked != NULL && tracked->is_kept) {
		TAILQ_REMOVE(&messages->kept, tracked, by_use);
		TAILQ_INSERT_TAIL(&messages->kept, tracked, by_use);
	}
	return tracked;
}

struct tracked *
open_messages_find(struct open_messages *messages, const struct uuid *id)
{
	struct tracked *tracked;

	HASH_FIND(hh, messages->table, id, sizeof(*id), tracked);
	return use(messages, tracked);
}

struct tracked *
open_messages_find_queue_id(struct open_messages *messages,
    const struct queue_id_key *key, queue_id_fits *fits, const void *context)
{
	return use(
	    messages, queue_ids_find(messages->queue_ids, key, fits, context));
}

const struct open_message *
tracked_message(const struct tracked *tracked)
{
	return &tracked->message;
}

static void
set_identity(struct tracked *tracked, const struct open_message *message)
{
	tracked->message.id = message->id;
	tracked->message.ending = message->ending;
	tracked->message.evidence = message->evidence;
	tracked->message.mail_at = message->mail_at;
	tracked->message.eom_at = message->eom_at;
	memcpy(tracked->message.boot_id, message->boot_id,
	    sizeof(message->boot_id));
}

/* The claim on the queue id that a message began with. */
static struct queue_id_claim
own_claim(const struct tracked *tracked)
{
	return (struct queue_id_claim){tracked->message.instance,
	    tracked->message.queue_id, tracked->message.mail_at.wall_ns};
}

static void
claim_own(struct open_messages *messages, struct tracked *tracked)
{
	const struct queue_id_claim claim = own_claim(tracked);

	if (claim.queue_id != NULL)
		queue_ids_add(messages->queue_ids, &claim, tracked);
}

static void
disclaim_own(struct open_messages *messages, struct tracked *tracked)
{
	const struct queue_id_claim claim = own_claim(tracked);

	if (claim.queue_id != NULL)
		queue_ids_remove(messages->queue_ids, &claim, tracked);
}

struct tracked *
open_messages_add(
    struct open_messages *messages, const struct open_message *message)
{
	struct tracked *tracked = memory_zeroed(1, sizeof(*tracked));

	tracked->message.key = message->key;
	set_identity(tracked, message);
	tracked->message.instance = memory_string(message->instance);
	if (message->queue_id != NULL)
		tracked->message.queue_id = memory_string(message->queue_id);
	HASH_ADD(hh, messages->table, message.id, sizeof(message->id), tracked);
	claim_own(messages, tracked);
	for (size_t i = 0; i < message->queue_id_count; i++)
		tracked_add_queue_id(messages, tracked, &message->queue_ids[i]);
	for (size_t i = 0; i < message->recipient_count; i++) {
		const struct open_recipient *recipient =
		    &message->recipients[i];
		const struct recipient_change change = {
		    .number = (uint32_t)i,
		    .state = recipient->state,
		    .reason = recipient->reason,
		    .evidence = recipient->evidence,
		    .attempts = recipient->attempts,
		    .leg_row = recipient->leg_row,
		    .leg_position = recipient->leg_position,
		    .original = recipient->original,
		};

		tracked_set_recipient(
		    messages, tracked, recipient->address, &change);
		tracked->message.recipients[i].expected = recipient->expected;
	}
	return tracked;
}

struct look_times *
open_messages_looks(struct open_messages *messages)
{
	return messages->looks;
}

struct look *
tracked_look(struct tracked *tracked)
{
	return &tracked->look;
}

struct tracked *
look_tracked(struct look *look)
{
	return (struct tracked *)(void *)((char *)look -
					  offsetof(struct tracked, look));
}

/* What the last look saw may no longer be so. */
static void
note_news(struct open_messages *messages, struct tracked *tracked)
{
	const uint32_t seen =
	    MESSAGE_ABSENT | MESSAGE_SEEN_HELD | MESSAGE_SEEN_CORRUPT;

	look_times_note(messages->looks, &tracked->look,
	    (tracked->message.evidence & seen) != 0);
}

void
tracked_set_evidence(
    struct open_messages *messages, struct tracked *tracked, uint32_t evidence)
{
	tracked->message.evidence = evidence;
	note_news(messages, tracked);
}

void
tracked_rename(struct open_messages *messages, struct tracked *tracked,
    const struct open_message *message)
{
	disclaim_own(messages, tracked);
	HASH_DEL(messages->table, tracked);
	set_identity(tracked, message);
	HASH_ADD(hh, messages->table, message.id, sizeof(message->id), tracked);
	claim_own(messages, tracked);
	messages->oldest_is_gone = true;
}

void
tracked_add_queue_id(struct open_messages *messages, struct tracked *tracked,
    const struct queue_id_claim *claim)
{
	struct open_message *message = &tracked->message;
	size_t number = message->queue_id_count++;

	message->queue_ids = memory_resize(message->queue_ids,
	    message->queue_id_count, sizeof(*message->queue_ids));
	message->queue_ids[number] =
	    (struct queue_id_claim){memory_string(claim->instance),
		memory_string(claim->queue_id), claim->since_wall_ns};
	queue_ids_add(
	    messages->queue_ids, &message->queue_ids[number], tracked);
}

static struct open_recipient *
recipient_add(struct tracked *tracked, const char *address)
{
	struct open_message *message = &tracked->message;
	size_t number = message->recipient_count++;

	if (number == tracked->capacity) {
		tracked->capacity += tracked->capacity / 2 + 1;
		message->recipients = memory_resize(message->recipients,
		    tracked->capacity, sizeof(*message->recipients));
	}
	message->recipients[number] = (struct open_recipient){
	    .address = memory_string(address),
	    .state = RECIPIENT_STATES,
	};
	return &message->recipients[number];
}

static void
count_open(struct open_messages *messages, struct tracked *tracked)
{
	int64_t mail_wall_ns = tracked->message.mail_at.wall_ns;

	if (tracked->open++ > 0)
		return;
	look_times_begin(messages->looks, &tracked->look);
	if (messages->open++ == 0 || mail_wall_ns < messages->oldest_wall_ns) {
		messages->oldest_wall_ns = mail_wall_ns;
		messages->oldest_is_gone = false;
	}
}

static void
count_closed(struct open_messages *messages, struct tracked *tracked)
{
	if (--tracked->open > 0)
		return;
	messages->open--;
	if (tracked->message.mail_at.wall_ns == messages->oldest_wall_ns)
		messages->oldest_is_gone = true;
}

static void
count(struct open_messages *messages, struct tracked *tracked,
    enum recipient_state from, enum recipient_state to)
{
	if (from == to)
		return;
	if (fate_is_open(to)) {
		messages->recipients[open_state_number(to)]++;
		count_open(messages, tracked);
	}
	if (fate_is_open(from)) {
		messages->recipients[open_state_number(from)]--;
		count_closed(messages, tracked);
	}
}

void
tracked_set_recipient(struct open_messages *messages, struct tracked *tracked,
    const char *address, const struct recipient_change *change)
{
	struct open_recipient *recipient;

	if (change->number < tracked->message.recipient_count)
		recipient = &tracked->message.recipients[change->number];
	else
		recipient = recipient_add(tracked, address);
	count(messages, tracked, recipient->state, change->state);
	recipient->state = change->state;
	recipient->reason = change->reason;
	recipient->evidence = change->evidence;
	recipient->attempts = change->attempts;
	recipient->leg_row = change->leg_row;
	recipient->leg_position = change->leg_position;
	if (change->original != NULL &&
	    change->original != recipient->original) {
		free_const(recipient->original);
		recipient->original = memory_string(change->original);
	}
	note_news(messages, tracked);
}

static void
unkeep(struct open_messages *messages, struct tracked *tracked)
{
	if (!tracked->is_kept)
		return;
	TAILQ_REMOVE(&messages->kept, tracked, by_use);
	tracked->is_kept = false;
	messages->kept_count--;
}

static void
let_go(struct open_messages *messages, struct tracked *tracked)
{
	unkeep(messages, tracked);
	look_times_cancel(messages->looks, &tracked->look);
	disclaim_own(messages, tracked);
	for (size_t i = 0; i < tracked->message.queue_id_count; i++)
		queue_ids_remove(messages->queue_ids,
		    &tracked->message.queue_ids[i], tracked);
	HASH_DEL(messages->table, tracked);
	tracked_free(tracked);
}

void
open_messages_settle(struct open_messages *messages, struct tracked *tracked)
{
	unkeep(messages, tracked);
	if (tracked->open > 0)
		return;
	TAILQ_INSERT_TAIL(&messages->kept, tracked, by_use);
	tracked->is_kept = true;
	messages->kept_count++;
	if (messages->kept_count > messages->kept_max)
		let_go(messages, TAILQ_FIRST(&messages->kept));
}

int
open_messages_each(struct open_messages *messages,
    int (*each)(void *context, struct tracked *tracked), void *context)
{
	struct tracked *tracked, *next;
	int result = 0;

	for (tracked = messages->table; tracked != NULL && result == 0;
	     tracked = next) {
		next = tracked->hh.next;
		if (tracked->open > 0)
			result = each(context, tracked);
	}
	return result;
}

static int64_t
oldest_wall_ns(const struct open_messages *messages)
{
	const struct tracked *tracked = messages->table;
	int64_t oldest = INT64_MAX;

	for (; tracked != NULL; tracked = tracked->hh.next)
		if (tracked->open > 0 &&
		    tracked->message.mail_at.wall_ns < oldest)
			oldest = tracked->message.mail_at.wall_ns;
	return oldest;
}

struct open_messages_figures
open_messages_figures(struct open_messages *messages)
{
	struct open_messages_figures figures = {.messages = messages->open};

	memcpy(figures.recipients, messages->recipients,
	    sizeof(figures.recipients));
	if (messages->open == 0)
		return figures;
	if (messages->oldest_is_gone) {
		messages->oldest_wall_ns = oldest_wall_ns(messages);
		messages->oldest_is_gone = false;
	}
	figures.oldest_wall_ns = messages->oldest_wall_ns;
	return figures;
}

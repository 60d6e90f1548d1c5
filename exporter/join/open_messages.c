/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table of deep copies, a table of their queue ids, and a list of those
 * that are only kept for a while. Owned by the join, on the ingest thread.
 */
#include "exporter/join/open_messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "exporter/join/fate.h"
#include "exporter/join/slot_table.h"
#include "exporter/join/tracked.h"

TAILQ_HEAD(tracked_list, tracked);

struct open_messages {
	struct slot_table table; /* by id */
	struct queue_ids *queue_ids;
	struct look_times *looks;
	char **instances; /* every one that was ever named */
	size_t instance_count;
	struct tracked_list kept; /* used last at the end */
	size_t kept_count;
	size_t kept_max;
	size_t open; /* messages */
	size_t recipients[OPEN_STATES];
	int64_t oldest_wall_ns;
	bool oldest_is_gone; /* oldest_wall_ns must be looked for again */
	int64_t told_until_wall_ns;
	struct tally *tally;
};

struct open_messages *
open_messages_new(size_t kept_max)
{
	struct open_messages *messages = memory_zeroed(1, sizeof(*messages));

	messages->queue_ids = queue_ids_new();
	messages->looks = look_times_new();
	messages->kept_max = kept_max;
	messages->told_until_wall_ns = INT64_MIN;
	TAILQ_INIT(&messages->kept);
	return messages;
}

void
open_messages_clear(struct open_messages *messages)
{
	const struct slot *slot;
	size_t at = 0;

	while ((slot = slot_table_each(&messages->table, &at)) != NULL)
		tracked_free(slot->item);
	slot_table_free(&messages->table);
	queue_ids_free(&messages->queue_ids);
	look_times_clear(messages->looks);
	*messages = (struct open_messages){
	    .queue_ids = queue_ids_new(),
	    .looks = messages->looks,
	    .instances = messages->instances,
	    .instance_count = messages->instance_count,
	    .kept_max = messages->kept_max,
	    .told_until_wall_ns = INT64_MIN,
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
	for (size_t i = 0; i < (*messages)->instance_count; i++)
		free((*messages)->instances[i]);
	free((*messages)->instances);
	free(*messages);
	*messages = NULL;
}

/* There are few, and they stay. */
static const char *
keep_instance(struct open_messages *messages, const char *instance)
{
	size_t count = messages->instance_count;

	for (size_t i = 0; i < count; i++)
		if (strcmp(messages->instances[i], instance) == 0)
			return messages->instances[i];
	messages->instances = memory_resize(
	    messages->instances, count + 1, sizeof(*messages->instances));
	messages->instances[count] = memory_string(instance);
	messages->instance_count++;
	return messages->instances[count];
}

/* An id ends in random bits. */
static uint32_t
hash(const struct uuid *id)
{
	uint32_t value;

	memcpy(&value, id->bytes + UUID_BYTES - sizeof(value), sizeof(value));
	return value;
}

static const struct slot *
find(const struct open_messages *messages, const struct uuid *id)
{
	const struct slot *slot;
	size_t at = 0;

	while (
	    (slot = slot_table_find(&messages->table, hash(id), &at)) != NULL) {
		const struct tracked *tracked = slot->item;

		if (memcmp(&tracked->message.id, id, sizeof(*id)) == 0)
			break;
	}
	return slot;
}

static void
insert(struct open_messages *messages, struct tracked *tracked)
{
	slot_table_add(&messages->table,
	    (struct slot){.item = tracked, .hash = hash(&tracked->message.id)});
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
	const struct slot *slot = find(messages, id);

	return slot != NULL ? use(messages, slot->item) : NULL;
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
set_state(struct open_messages *messages, struct tracked *tracked,
    struct open_recipient *recipient, enum recipient_state to)
{
	enum recipient_state from = recipient->state;

	recipient->state = to;
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

struct queue_id_claim
tracked_claim(const struct tracked *tracked, uint32_t number)
{
	const struct open_message *message = &tracked->message;

	if (number > 0)
		return message->queue_ids[number - 1];
	return (struct queue_id_claim){
	    message->instance, message->queue_id, message->mail_at.wall_ns};
}

struct tracked *
open_messages_add(
    struct open_messages *messages, const struct open_message *message)
{
	struct tracked *tracked =
	    tracked_new(message, keep_instance(messages, message->instance));

	insert(messages, tracked);
	if (message->queue_id != NULL)
		queue_ids_add(messages->queue_ids, tracked, 0);
	for (size_t i = 0; i < message->queue_id_count; i++)
		tracked_add_queue_id(messages, tracked, &message->queue_ids[i]);
	for (size_t i = 0; i < message->recipient_count; i++)
		set_state(messages, tracked, &tracked->message.recipients[i],
		    message->recipients[i].state);
	/* What was absent may be back, and what is told of it now, as one more
	 * deferral, need not say so. */
	if (message->evidence & MESSAGE_ABSENT)
		look_times_begin(messages->looks, &tracked->look);
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
tracked_set_evidence(struct open_messages *messages, struct tracked *tracked,
    const struct message_change *change)
{
	tracked->message.evidence = change->evidence;
	tracked->message.size_bytes = change->size_bytes;
	tracked->message.queue_recipients = change->queue_recipients;
	note_news(messages, tracked);
}

void
tracked_add_queue_id(struct open_messages *messages, struct tracked *tracked,
    const struct queue_id_claim *claim)
{
	const struct queue_id_claim kept = {
	    keep_instance(messages, claim->instance), claim->queue_id,
	    claim->since_wall_ns};

	tracked_add_claim(tracked, &kept);
	queue_ids_add(messages->queue_ids, tracked,
	    (uint32_t)tracked->message.queue_id_count);
}

void
tracked_set_recipient(struct open_messages *messages, struct tracked *tracked,
    const char *address, const struct recipient_change *change)
{
	struct open_recipient *recipient =
	    change->number < tracked->message.recipient_count
		? &tracked->message.recipients[change->number]
		: tracked_add_recipient(tracked, address);

	set_state(messages, tracked, recipient, change->state);
	recipient->reason = change->reason;
	recipient->evidence = change->evidence;
	recipient->attempts = change->attempts;
	recipient->leg_row = change->leg_row;
	recipient->leg_position = change->leg_position;
	tracked_set_original(tracked, recipient, change->original);
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
forget(struct open_messages *messages, struct tracked *tracked)
{
	unkeep(messages, tracked);
	look_times_cancel(messages->looks, &tracked->look);
	if (tracked->message.queue_id != NULL)
		queue_ids_remove(messages->queue_ids, tracked, 0);
	for (size_t i = 0; i < tracked->message.queue_id_count; i++)
		queue_ids_remove(messages->queue_ids, tracked, (uint32_t)i + 1);
	slot_table_remove(
	    &messages->table, find(messages, &tracked->message.id));
	tracked_free(tracked);
}

void
open_messages_set_tally(struct open_messages *messages, struct tally *tally)
{
	messages->tally = tally;
}

struct tally *
open_messages_tally(const struct open_messages *messages)
{
	return messages->tally;
}

static void
note_told(struct open_messages *messages, int64_t wall_ns)
{
	if (wall_ns > messages->told_until_wall_ns)
		messages->told_until_wall_ns = wall_ns;
}

static void
let_go(struct open_messages *messages, struct tracked *tracked)
{
	const struct open_message *message = &tracked->message;

	if (message->ending == MESSAGE_ENDING_LOGGED)
		note_told(messages, message->mail_at.wall_ns);
	for (size_t i = 0; i < message->queue_id_count; i++)
		note_told(messages, message->queue_ids[i].since_wall_ns);
	forget(messages, tracked);
}

void
open_messages_remove(struct open_messages *messages, struct tracked *tracked)
{
	for (size_t i = 0; i < tracked->message.recipient_count; i++)
		set_state(messages, tracked, &tracked->message.recipients[i],
		    RECIPIENT_STATES);
	forget(messages, tracked);
}

int64_t
open_messages_told_until(const struct open_messages *messages)
{
	return messages->told_until_wall_ns;
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

void
open_messages_forget_kept(struct open_messages *messages)
{
	struct tracked *tracked;

	while ((tracked = TAILQ_FIRST(&messages->kept)) != NULL)
		let_go(messages, tracked);
}

int
open_messages_each(struct open_messages *messages,
    int (*each)(void *context, struct tracked *tracked), void *context)
{
	const struct slot *slot;
	size_t at = 0;
	int result = 0;

	while (result == 0 &&
	       (slot = slot_table_each(&messages->table, &at)) != NULL) {
		struct tracked *tracked = slot->item;

		if (tracked->open > 0)
			result = each(context, tracked);
	}
	return result;
}

static int64_t
oldest_wall_ns(const struct open_messages *messages)
{
	int64_t oldest = INT64_MAX;
	const struct slot *slot;
	size_t at = 0;

	while ((slot = slot_table_each(&messages->table, &at)) != NULL) {
		const struct tracked *tracked = slot->item;

		if (tracked->open > 0 &&
		    tracked->message.mail_at.wall_ns < oldest)
			oldest = tracked->message.mail_at.wall_ns;
	}
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

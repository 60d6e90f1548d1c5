/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table of deep copies, each in one piece of memory but for recipients.
 * Owned by the join, on the ingest thread.
 */
#include "exporter/open_messages.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/memory.h"

struct tracked {
	struct open_message message; /* its strings are the following */
	char *instance;
	char *queue_id;
	char **addresses;
	size_t capacity; /* of addresses and of message.recipients */
	size_t in_flight;
	UT_hash_handle hh;
};

struct open_messages {
	struct tracked *table;
	size_t in_flight; /* recipients */
	int64_t oldest_wall_ns;
	bool oldest_is_gone; /* oldest_wall_ns must be looked for again */
};

struct open_messages *
open_messages_new(void)
{
	return memory_zeroed(1, sizeof(struct open_messages));
}

static void
tracked_free(struct tracked *tracked)
{
	for (size_t i = 0; i < tracked->message.recipient_count; i++)
		free(tracked->addresses[i]);
	free(tracked->addresses);
	free(tracked->message.recipients);
	free(tracked->instance);
	free(tracked->queue_id);
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
	*messages = (struct open_messages){.table = NULL};
}

void
open_messages_free(struct open_messages **messages)
{
	if (*messages == NULL)
		return;
	open_messages_clear(*messages);
	free(*messages);
	*messages = NULL;
}

struct tracked *
open_messages_find(struct open_messages *messages, const struct uuid *id)
{
	struct tracked *tracked;

	HASH_FIND(hh, messages->table, id, sizeof(*id), tracked);
	return tracked;
}

const struct open_message *
tracked_message(const struct tracked *tracked)
{
	return &tracked->message;
}

struct tracked *
open_messages_add(
    struct open_messages *messages, const struct open_message *message)
{
	struct tracked *tracked = memory_zeroed(1, sizeof(*tracked));

	tracked->message = *message;
	tracked->message.recipients = NULL;
	tracked->message.recipient_count = 0;
	tracked->instance = memory_string(message->instance);
	tracked->message.instance = tracked->instance;
	if (message->queue_id != NULL)
		tracked->queue_id = memory_string(message->queue_id);
	tracked->message.queue_id = tracked->queue_id;
	HASH_ADD(hh, messages->table, message.id, sizeof(message->id), tracked);
	for (size_t i = 0; i < message->recipient_count; i++) {
		const struct open_recipient *recipient =
		    &message->recipients[i];
		const struct recipient_change change = {
		    .number = (uint32_t)i,
		    .state = recipient->state,
		    .attempts = recipient->attempts,
		    .leg_row = recipient->leg_row,
		};

		tracked_set_recipient(
		    messages, tracked, recipient->address, &change);
		tracked->message.recipients[i].expected = recipient->expected;
	}
	return tracked;
}

static struct open_recipient *
recipient_add(struct tracked *tracked, const char *address)
{
	struct open_message *message = &tracked->message;
	size_t number = message->recipient_count++;

	if (number == tracked->capacity) {
		tracked->capacity += tracked->capacity / 2 + 1;
		tracked->addresses = memory_resize(tracked->addresses,
		    tracked->capacity, sizeof(*tracked->addresses));
		message->recipients = memory_resize(message->recipients,
		    tracked->capacity, sizeof(*message->recipients));
	}
	tracked->addresses[number] = memory_string(address);
	message->recipients[number] = (struct open_recipient){
	    .address = tracked->addresses[number],
	    .state = RECIPIENT_STATES,
	};
	return &message->recipients[number];
}

static void
count_in_flight(struct open_messages *messages, struct tracked *tracked,
    enum recipient_state from, enum recipient_state to)
{
	int change =
	    (to == RECIPIENT_IN_FLIGHT) - (from == RECIPIENT_IN_FLIGHT);
	int64_t mail_wall_ns = tracked->message.mail_at.wall_ns;

	if (change == 1 && tracked->in_flight == 0 &&
	    (messages->in_flight == 0 ||
		mail_wall_ns < messages->oldest_wall_ns)) {
		messages->oldest_wall_ns = mail_wall_ns;
		messages->oldest_is_gone = false;
	}
	messages->in_flight += (size_t)change;
	tracked->in_flight += (size_t)change;
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
	count_in_flight(messages, tracked, recipient->state, change->state);
	recipient->state = change->state;
	recipient->attempts = change->attempts;
	recipient->leg_row = change->leg_row;
}

void
open_messages_settle(struct open_messages *messages, struct tracked *tracked)
{
	if (tracked->in_flight > 0)
		return;
	if (tracked->message.mail_at.wall_ns == messages->oldest_wall_ns)
		messages->oldest_is_gone = true;
	HASH_DEL(messages->table, tracked);
	tracked_free(tracked);
}

static int64_t
oldest_wall_ns(const struct open_messages *messages)
{
	const struct tracked *tracked = messages->table;
	int64_t oldest = tracked->message.mail_at.wall_ns;

	for (; tracked != NULL; tracked = tracked->hh.next)
		if (tracked->message.mail_at.wall_ns < oldest)
			oldest = tracked->message.mail_at.wall_ns;
	return oldest;
}

struct open_messages_figures
open_messages_figures(struct open_messages *messages)
{
	struct open_messages_figures figures = {
	    .messages = HASH_COUNT(messages->table),
	    .recipients = messages->in_flight,
	};

	if (figures.messages == 0)
		return figures;
	if (messages->oldest_is_gone) {
		messages->oldest_wall_ns = oldest_wall_ns(messages);
		messages->oldest_is_gone = false;
	}
	figures.oldest_wall_ns = messages->oldest_wall_ns;
	return figures;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of a message that is held: what lies in its one piece, and what
 * was added later. Called by open_messages.c, on the ingest thread.
 */
#include "exporter/join/tracked.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static size_t
text_size(const char *text)
{
	return text != NULL ? strlen(text) + 1 : 0;
}

static size_t
size_of(const struct open_message *message)
{
	size_t size = sizeof(struct tracked) + text_size(message->queue_id) +
		      message->recipient_count * sizeof(*message->recipients);

	for (size_t i = 0; i < message->recipient_count; i++)
		size += text_size(message->recipients[i].address) +
			text_size(message->recipients[i].original);
	return size;
}

/* Copies text to *at, behind which more may follow. */
static const char *
place_text(char **at, const char *text)
{
	size_t size = text_size(text);
	char *copy = *at;

	if (size == 0)
		return NULL;
	memcpy(copy, text, size);
	*at += size;
	return copy;
}

static void
place_recipients(
    struct open_message *message, const struct open_message *from, char **at)
{
	for (size_t i = 0; i < message->recipient_count; i++) {
		struct open_recipient *recipient = &message->recipients[i];

		*recipient = from->recipients[i];
		recipient->address = place_text(at, recipient->address);
		recipient->original = place_text(at, recipient->original);
		recipient->state = RECIPIENT_STATES;
	}
}

struct tracked *
tracked_new(const struct open_message *message, const char *instance)
{
	size_t size = size_of(message);
	struct tracked *tracked = memory_zeroed(1, size);
	struct open_message *own = &tracked->message;
	char *at;

	*own = *message;
	own->instance = instance;
	own->queue_ids = NULL;
	own->queue_id_count = 0;
	at = (char *)(tracked + 1);
	own->recipients = own->recipient_count > 0 ? (void *)at : NULL;
	at += own->recipient_count * sizeof(*own->recipients);
	own->queue_id = place_text(&at, message->queue_id);
	place_recipients(own, message, &at);
	tracked->capacity = own->recipient_count;
	tracked->size_bytes = (uint32_t)size;
	return tracked;
}

/* Memory of one's own is told as const to everybody else. Frees what is not
 * part of the one piece. */
static void
free_part(const struct tracked *tracked, const void *memory)
{
	uintptr_t offset = (uintptr_t)memory - (uintptr_t)tracked;

	if (memory != NULL && offset >= tracked->size_bytes)
		free((void *)(uintptr_t)memory);
}

void
tracked_free(struct tracked *tracked)
{
	struct open_message *message = &tracked->message;

	for (size_t i = 0; i < message->recipient_count; i++) {
		free_part(tracked, message->recipients[i].address);
		free_part(tracked, message->recipients[i].original);
	}
	for (size_t i = 0; i < message->queue_id_count; i++)
		free_part(tracked, message->queue_ids[i].queue_id);
	free(message->queue_ids);
	free_part(tracked, message->recipients);
	free(tracked);
}

static void
grow(struct tracked *tracked)
{
	struct open_message *message = &tracked->message;
	struct open_recipient *recipients;

	tracked->capacity += tracked->capacity / 2 + 1;
	recipients = memory_zeroed(tracked->capacity, sizeof(*recipients));
	if (message->recipient_count > 0)
		memcpy(recipients, message->recipients,
		    message->recipient_count * sizeof(*recipients));
	free_part(tracked, message->recipients);
	message->recipients = recipients;
}

struct open_recipient *
tracked_add_recipient(struct tracked *tracked, const char *address)
{
	struct open_message *message = &tracked->message;
	struct open_recipient *recipient;

	if (message->recipient_count == tracked->capacity)
		grow(tracked);
	recipient = &message->recipients[message->recipient_count++];
	*recipient = (struct open_recipient){
	    .address = memory_string(address),
	    .state = RECIPIENT_STATES,
	};
	return recipient;
}

void
tracked_set_original(struct tracked *tracked, struct open_recipient *recipient,
    const char *original)
{
	if (original == NULL || original == recipient->original)
		return;
	free_part(tracked, recipient->original);
	recipient->original = memory_string(original);
}

void
tracked_add_claim(struct tracked *tracked, const struct queue_id_claim *claim)
{
	struct open_message *message = &tracked->message;
	size_t number = message->queue_id_count++;

	message->queue_ids = memory_resize(message->queue_ids,
	    message->queue_id_count, sizeof(*message->queue_ids));
	message->queue_ids[number] = (struct queue_id_claim){claim->instance,
	    memory_string(claim->queue_id), claim->since_wall_ns};
}

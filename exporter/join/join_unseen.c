/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages that the milter did not see: unstamped mail of all kinds, of which
 * the log and the hook tell. Called by the parts of the join that read these,
 * on the ingest thread.
 */
#include <string.h>

#include "base/arena.h"
#include "base/reason.h"
#include "exporter/join/evidence.h"
#include "exporter/join/join_state.h"
#include "exporter/join/open_messages.h"
#include "exporter/metrics/effect.h"
#include "store/hash.h"

struct tracked *
join_hold(struct join *join, const struct open_message *found)
{
	struct tracked *tracked =
	    open_messages_find(join->messages, &found->id);
	struct open_message complete = *found;

	if (tracked != NULL)
		return tracked;
	evidence_complete(&complete);
	return open_messages_add(join->messages, &complete);
}

int
join_find(struct join *join, const struct uuid *id, struct tracked **message_r,
    struct reason *reason)
{
	struct open_message found;
	int result;

	*message_r = open_messages_find(join->messages, id);
	if (*message_r != NULL)
		return 1;
	result =
	    store_find_message(join->store, id, join->scratch, &found, reason);
	if (result == 1)
		*message_r = join_hold(join, &found);
	return result;
}

int
join_find_stored(struct join *join, const struct queue_id_key *key,
    struct tracked **message_r, struct reason *reason)
{
	struct open_message found;
	int result = store_find_queue_id(
	    join->store, key, join->scratch, &found, reason);

	*message_r = result == 1 ? join_hold(join, &found) : NULL;
	return result;
}

int64_t
join_claimed_since(const struct open_message *message, const char *queue_id)
{
	for (size_t i = 0; i < message->queue_id_count; i++)
		if (strcmp(message->queue_ids[i].queue_id, queue_id) == 0)
			return message->queue_ids[i].since_wall_ns;
	return message->mail_at.wall_ns;
}

bool
join_is_hooks_only(const struct open_message *message)
{
	const uint32_t by_log =
	    MESSAGE_TOLD | MESSAGE_QUEUED | MESSAGE_REMOVED | MESSAGE_DELETED |
	    MESSAGE_EXPIRED | MESSAGE_DISCARDED | MESSAGE_HELD;

	return message->ending == MESSAGE_ENDING_LOGGED &&
	       (message->evidence & by_log) == 0;
}

/* The random part of an id, from what tells the message from every other. */
static void
derive_id(struct uuid *id, const struct unseen_message *unseen)
{
	const struct message_event *event = &unseen->event;
	uint64_t hashes[2];

	*id = uuid_new(event->mail_at.wall_ns);
	for (unsigned i = 0; i < 2; i++) {
		hashes[i] = hash_bytes(unseen->instance,
		    strlen(unseen->instance), (uint64_t)event->mail_at.wall_ns);
		hashes[i] = hash_bytes(
		    event->queue_id, strlen(event->queue_id), hashes[i] + i);
	}
	memcpy(id->bytes + 8, &hashes[0], 8);
	memcpy(id->bytes + 6, &hashes[1], 2);
	id->bytes[6] = (uint8_t)(0x70 | (id->bytes[6] & 0x0f));
	id->bytes[8] = (uint8_t)(0x80 | (id->bytes[8] & 0x3f));
}

/* NULL without memory. */
static struct open_recipient *
open_recipients(struct arena *arena, const struct join_addition *addition)
{
	const struct message_event *event = addition->event;
	size_t count = event->recipient_count;
	struct open_recipient *recipients =
	    arena_alloc(arena, count * sizeof(*recipients));

	for (size_t i = 0; recipients != NULL && i < count; i++)
		recipients[i] = (struct open_recipient){
		    .address = event->recipients[i].address,
		    .state = addition->verdict->recipients[i].state,
		    .evidence = addition->verdict->recipients[i].evidence,
		};
	return recipients;
}

int
join_add_message(struct join *join, struct day_file *file,
    const struct join_addition *addition, struct tracked **message_r,
    struct reason *reason)
{
	const struct message_event *event = addition->event;
	struct open_message message = {
	    .id = event->id,
	    .instance = addition->segment->instance,
	    .queue_id = event->queue_id,
	    .ending = event->ending,
	    .evidence = addition->verdict->evidence,
	    .mail_at = event->mail_at,
	    .ended_at = message_event_ended_at(event),
	    .recipients = open_recipients(join->scratch, addition),
	    .recipient_count = (uint32_t)event->recipient_count,
	};

	if (message.recipients == NULL)
		return reason_set(reason, "too many recipients");
	if (store_add_message(file, event, addition->segment, addition->verdict,
		&message.key, reason) != 0)
		return -1;
	memcpy(
	    message.boot_id, addition->segment->boot_id, CLOCK_BOOT_ID_BYTES);
	*message_r = open_messages_add(join->messages, &message);
	return 0;
}

static int
add(struct join *join, const struct unseen_message *unseen,
    struct tracked **message_r, struct reason *reason)
{
	const struct segment_header segment = {.instance = unseen->instance};
	const struct message_verdict verdict = {.evidence = unseen->evidence};
	const struct join_addition addition = {
	    &unseen->event, &segment, &verdict};
	struct day_file *file = unseen->file;

	if (file == NULL)
		file = store_file(
		    join->store, unseen->event.mail_at.wall_ns, reason);
	if (file == NULL ||
	    join_add_message(join, file, &addition, message_r, reason) != 0)
		return -1;
	effect_count(file, METRIC_UNSTAMPED,
	    unseen->is_internal ? UNSTAMPED_INTERNAL : UNSTAMPED_NO_MESSAGE, 1);
	return 0;
}

int
join_add_unseen(struct join *join, struct unseen_message *unseen,
    struct tracked **message_r, struct reason *reason)
{
	struct message_event *event = &unseen->event;
	int known;

	event->ending = MESSAGE_ENDING_LOGGED;
	derive_id(&event->id, unseen);
	known = join_find(join, &event->id, message_r, reason);
	if (known != 0)
		return known < 0 ? -1 : 0;
	return add(join, unseen, message_r, reason);
}

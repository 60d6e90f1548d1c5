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

static int
add(struct join *join, const struct unseen_message *unseen,
    struct tracked **message_r, struct reason *reason)
{
	const struct segment_header segment = {.instance = unseen->instance};
	const struct message_verdict verdict = {.evidence = 0};
	const struct message_event *event = &unseen->event;
	struct open_message message = {
	    .id = event->id,
	    .instance = unseen->instance,
	    .queue_id = event->queue_id,
	    .ending = event->ending,
	    .mail_at = event->mail_at,
	    .eom_at = event->eom_at,
	};

	message.key.file = unseen->file;
	if (message.key.file == NULL)
		message.key.file =
		    store_file(join->store, event->mail_at.wall_ns, reason);
	if (message.key.file == NULL ||
	    store_add_message(message.key.file, event, &segment, &verdict,
		&message.key, reason) != 0)
		return -1;
	effect_count(message.key.file, METRIC_UNSTAMPED,
	    unseen->is_internal ? UNSTAMPED_INTERNAL : UNSTAMPED_NO_MESSAGE, 1);
	*message_r = open_messages_add(join->messages, &message);
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

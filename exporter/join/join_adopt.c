/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who told of a message before it was known. Called by the parts of the join
 * that get to know one, on the ingest thread.
 */
#include "exporter/join/join_adopt.h"

#include <string.h>

#include "exporter/join/fate.h"
#include "exporter/join/join_retell.h"
#include "exporter/join/open_messages.h"
#include "exporter/join/tally.h"

/* Where nothing says when the transaction ended. */
#define TRANSACTION_MAX_NS (3600 * SECOND_NS)

/* Whom one looks for. */
struct wanted {
	struct queue_id_key key;
	uint32_t begun; /* MESSAGE_BEGUN or 0 */
	int64_t from_wall_ns, to_wall_ns;
	const struct day_file *file; /* NULL: in any */
	bool is_hooks_only;
};

static bool
fits(const void *context, const struct tracked *tracked, int64_t since_wall_ns)
{
	const struct wanted *wanted = context;
	const struct open_message *message = tracked_message(tracked);

	if (message->ending != MESSAGE_ENDING_LOGGED ||
	    message->queue_id == NULL ||
	    strcmp(message->queue_id, wanted->key.queue_id) != 0)
		return false;
	if (wanted->is_hooks_only
		? !join_is_hooks_only(message)
		: (message->evidence & MESSAGE_BEGUN) != wanted->begun)
		return false;
	return (wanted->file == NULL || message->key.file == wanted->file) &&
	       since_wall_ns >= wanted->from_wall_ns &&
	       since_wall_ns <= wanted->to_wall_ns;
}

bool
join_may_be_stored(struct join *join, int64_t since_wall_ns)
{
	int64_t until_ns = open_messages_told_until(join->messages);

	if (join->stored_until_wall_ns > until_ns)
		until_ns = join->stored_until_wall_ns;
	return since_wall_ns <= until_ns + JOIN_BEFORE_NS;
}

int
join_is_borne(struct join *join, const struct message_event *event,
    const char *instance, struct reason *reason)
{
	const struct queue_id_key key = {instance, event->queue_id, INT64_MAX};
	struct tracked *tracked;
	int found;

	if (open_messages_find_queue_id(join->messages, &key, NULL, NULL) !=
	    NULL)
		return 1;
	if (!join_may_be_stored(join, event->mail_at.wall_ns - JOIN_BEFORE_NS))
		return 0;
	found = join_find_stored(join, &key, &tracked, reason);
	if (found == 1)
		open_messages_settle(join->messages, tracked);
	return found;
}

int64_t
join_end_ns(const struct message_event *event)
{
	const struct stamp ended_at = message_event_ended_at(event);

	return stamp_is_set(&ended_at)
		   ? ended_at.wall_ns
		   : event->mail_at.wall_ns + TRANSACTION_MAX_NS;
}

/* Walks back through those that the store knows. Returns 1, 0, or -1. */
static int
find_stored(struct join *join, const struct wanted *wanted,
    struct tracked **found_r, struct reason *reason)
{
	struct queue_id_key key = wanted->key;
	struct tracked *tracked;
	int64_t since_wall_ns;
	int found;

	while ((found = join_find_stored(join, &key, &tracked, reason)) == 1) {
		since_wall_ns =
		    join_claimed_since(tracked_message(tracked), key.queue_id);
		if (fits(wanted, tracked, since_wall_ns)) {
			*found_r = tracked;
			return 1;
		}
		key.before_wall_ns = since_wall_ns - 1;
		open_messages_settle(join->messages, tracked);
		if (since_wall_ns < wanted->from_wall_ns)
			return 0;
	}
	return found;
}

/* The first that fits. */
static int
find_first(struct join *join, struct wanted *wanted, struct tracked **found_r,
    struct reason *reason)
{
	struct tracked *tracked;
	int found = 0;

	*found_r = NULL;
	while ((tracked = open_messages_find_queue_id(
		    join->messages, &wanted->key, fits, wanted)) != NULL) {
		*found_r = tracked;
		wanted->key.before_wall_ns =
		    tracked_message(tracked)->mail_at.wall_ns - 1;
	}
	if (*found_r != NULL)
		return 1;
	if (join_may_be_stored(join, wanted->from_wall_ns))
		found = find_stored(join, wanted, found_r, reason);
	return found;
}

int
join_find_told(struct join *join, const struct message_event *event,
    const char *instance, struct tracked **told_r, struct reason *reason)
{
	struct wanted wanted = {
	    .key = {instance, event->queue_id, INT64_MAX},
	    .begun = MESSAGE_BEGUN,
	    .from_wall_ns = event->mail_at.wall_ns - JOIN_BEFORE_NS,
	    .to_wall_ns = join_end_ns(event) + CLOCKS_DIFFER_NS,
	};
	int found;

	*told_r = NULL;
	if (event->queue_id == NULL || *event->queue_id == '\0')
		return 0;
	found = find_first(join, &wanted, told_r, reason);
	if (found != 0)
		return found;
	/* Of what is told from the middle on, nothing says when it began. */
	wanted.key.before_wall_ns = wanted.to_wall_ns = INT64_MAX;
	wanted.begun = 0;
	return find_first(join, &wanted, told_r, reason);
}

int
join_find_hooks(struct join *join, const struct queue_id_claim *claim,
    const struct day_file *file, struct tracked **hooks_r,
    struct reason *reason)
{
	struct wanted wanted = {
	    .key = {claim->instance, claim->queue_id, INT64_MAX},
	    .from_wall_ns = claim->since_wall_ns - JOIN_BEFORE_NS,
	    .to_wall_ns = INT64_MAX,
	    .file = file,
	    .is_hooks_only = true,
	};

	return find_first(join, &wanted, hooks_r, reason);
}

int
join_give_hooks(struct join *join, struct tracked *hooks, struct reason *reason)
{
	const struct message_key key = tracked_message(hooks)->key;
	struct tally tally = {.ghosts = 0};
	struct taken_message taken;
	int result;

	open_messages_set_tally(join->messages, &tally);
	result = join_take(join, hooks, &taken, reason);
	if (result == 0)
		result = join_retell_legs(join, &key, &taken, reason);
	open_messages_set_tally(join->messages, NULL);
	store_taken_is_told(key.file);
	if (result == 0)
		tally_count(&tally, key.file);
	return result;
}

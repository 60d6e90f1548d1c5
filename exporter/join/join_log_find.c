/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which message a line of the log is about. Queue ids are used again; what
 * tells one's generations apart is their time and the order of the log. Called
 * by join_log*.c, on the ingest thread.
 */
#include <string.h>

#include "base/arena.h"
#include "exporter/join/join_adopt.h"
#include "exporter/join/join_log_state.h"
#include "exporter/join/open_messages.h"
#include "exporter/maillog/log_instances.h"

/* A message of which the end is not known may still be the one meant. */
#define TRANSACTION_MAX_NS (3600 * SECOND_NS)

#define BY_LOG                                                                 \
	(MESSAGE_QUEUED | MESSAGE_EXPIRED | MESSAGE_HELD | MESSAGE_REDIRECTED)
/* Nothing more is said of what was discarded: nobody removes it. */
#define GONE (MESSAGE_REMOVED | MESSAGE_DELETED | MESSAGE_DISCARDED)

const char *
join_log_string(struct join *join, struct maillog_view view)
{
	return view.size > 0
		   ? arena_string_sized(join->scratch, view.at, view.size)
		   : NULL;
}

/* Whoever the log may speak of. */
static bool
is_known(
    const void *context, const struct tracked *tracked, int64_t since_wall_ns)
{
	return !join_is_hooks_only(tracked_message(tracked));
}

/* A line without a context goes on with what the log has begun. */
static bool
is_under_way(
    const void *context, const struct tracked *tracked, int64_t since_wall_ns)
{
	uint32_t evidence = tracked_message(tracked)->evidence;

	return (evidence & BY_LOG) != 0 && (evidence & GONE) == 0;
}

/* As join_find_stored(), but for what only the hook has told of. */
static int
find_known_stored(struct join *join, const struct queue_id_key *key,
    struct tracked **message_r, struct reason *reason)
{
	struct queue_id_key earlier = *key;
	const struct open_message *message;
	int found;

	while ((found = join_find_stored(join, &earlier, message_r, reason)) ==
	       1) {
		message = tracked_message(*message_r);
		if (!join_is_hooks_only(message))
			return 1;
		earlier.before_wall_ns =
		    join_claimed_since(message, key->queue_id) - 1;
		open_messages_settle(join->messages, *message_r);
		*message_r = NULL;
	}
	return found;
}

int
join_log_find(struct join *join, const struct log_input *input,
    struct maillog_view queue_id, struct tracked **message_r,
    struct reason *reason)
{
	const struct queue_id_key key = {
	    .instance = input->instance,
	    .queue_id = join_log_string(join, queue_id),
	    .before_wall_ns =
		input->wall_ns + input->precision_ns + CLOCKS_DIFFER_NS,
	};

	*message_r = open_messages_find_queue_id(
	    join->messages, &key, is_under_way, NULL);
	if (*message_r == NULL)
		*message_r = open_messages_find_queue_id(
		    join->messages, &key, is_known, NULL);
	if (*message_r != NULL)
		return 1;
	return find_known_stored(join, &key, message_r, reason);
}

/* A further queue id was claimed when its context began. */
static bool
claim_fits(const struct log_context *context, int64_t since_wall_ns)
{
	int64_t differs_ns = since_wall_ns - context->begin_wall_ns;

	return differs_ns >= -CLOCKS_DIFFER_NS &&
	       differs_ns <= CLOCKS_DIFFER_NS;
}

/* The milter knows a queue id when the queue file was begun, and with it the
 * context, however the transaction ended then. */
static bool
seen_fits(const struct log_context *context, const struct open_message *message)
{
	int64_t begin_ns = context->begin_wall_ns;
	int64_t end_ns = stamp_is_set(&message->ended_at)
			     ? message->ended_at.wall_ns
			     : message->mail_at.wall_ns + TRANSACTION_MAX_NS;

	return message->mail_at.wall_ns - CLOCKS_DIFFER_NS <=
		   begin_ns + context->precision_ns &&
	       begin_ns <= end_ns + CLOCKS_DIFFER_NS;
}

static bool
context_fits(
    const void *opaque, const struct tracked *tracked, int64_t since_wall_ns)
{
	const struct log_context *context = opaque;
	const struct open_message *message = tracked_message(tracked);

	if (message->queue_id == NULL ||
	    strcmp(message->queue_id, context->queue_id) != 0)
		return claim_fits(context, since_wall_ns);
	if (message->ending != MESSAGE_ENDING_LOGGED)
		return seen_fits(context, message);
	if (join_is_hooks_only(message))
		return false;
	/* It was made of the same context, or of what lies in front of it. */
	return since_wall_ns == context->begin_wall_ns ||
	       since_wall_ns == context->resumed_since_wall_ns;
}

struct tracked *
join_log_known(struct join *join, const struct log_context *context)
{
	const struct queue_id_key key = {
	    context->instance, context->queue_id, INT64_MAX};

	return open_messages_find_queue_id(
	    join->messages, &key, context_fits, context);
}

bool
join_log_began_later(struct join *join, const struct tracked *message,
    const struct queue_id_claim *claim)
{
	const char *instance =
	    log_instances_find_instance(join->instances, claim->instance);
	const struct log_context *context;

	if (instance == NULL)
		return false;
	context = log_contexts_find(
	    join->contexts, instance, maillog_view_of(claim->queue_id));
	return context != NULL &&
	       context->begin_wall_ns <=
		   claim->since_wall_ns + CLOCKS_DIFFER_NS &&
	       join_claimed_since(tracked_message(message), claim->queue_id) +
		       JOIN_BEFORE_NS <
		   context->begin_wall_ns &&
	       !context_fits(context, message,
		   join_claimed_since(
		       tracked_message(message), claim->queue_id));
}

static int
find_in_store(struct join *join, struct log_context *context,
    struct tracked **message_r, struct reason *reason)
{
	const struct queue_id_key key = {
	    .instance = context->instance,
	    .queue_id = context->queue_id,
	    .before_wall_ns = context->begin_wall_ns + context->precision_ns +
			      CLOCKS_DIFFER_NS,
	};
	int found;

	if (context->is_store_asked)
		return 0;
	context->is_store_asked = true;
	found = find_known_stored(join, &key, message_r, reason);
	if (found != 1)
		return found;
	if (context_fits(context, *message_r,
		join_claimed_since(
		    tracked_message(*message_r), context->queue_id)))
		return 1;
	open_messages_settle(join->messages, *message_r);
	*message_r = NULL;
	return 0;
}

/* What cleanup(8) says of a message comes before any attempt to deliver it: so
 * another generation's is told from the message's own. */
static int
is_resumed(struct join *join, const struct log_context *context,
    const struct open_message *message, struct reason *reason)
{
	int64_t since_ns = join_claimed_since(message, context->queue_id);
	int64_t first_ns;
	int found;

	if (since_ns > context->begin_wall_ns ||
	    since_ns + TRANSACTION_MAX_NS < context->begin_wall_ns)
		return 0;
	found = store_first_attempt(
	    &message->key, join->scratch, &first_ns, reason);
	return found < 0 ? -1
			 : found == 0 || first_ns >= context->begin_wall_ns;
}

int
join_log_resume(struct join *join, const struct log_input *input,
    struct log_context *context, struct reason *reason)
{
	struct tracked *message;
	int found;

	if (!store_is_replay(join->store, input->source, input->position))
		return 0;
	found = join_log_find(
	    join, input, maillog_view_of(context->queue_id), &message, reason);
	if (found != 1)
		return found;
	found = is_resumed(join, context, tracked_message(message), reason);
	if (found == 1)
		context->resumed_since_wall_ns = join_claimed_since(
		    tracked_message(message), context->queue_id);
	open_messages_settle(join->messages, message);
	return found < 0 ? -1 : 0;
}

/* The message that had another queue id before. */
static int
find_original(struct join *join, const struct log_input *input,
    const struct log_context *context, struct tracked **message_r,
    struct reason *reason)
{
	const struct maillog_view queue_id = {
	    context->orig_queue_id, strlen(context->orig_queue_id)};
	struct log_context *original =
	    log_contexts_find(join->contexts, context->instance, queue_id);
	struct log_input about = *input;

	about.instance = context->instance;
	about.wall_ns = context->begin_wall_ns;
	about.precision_ns = context->precision_ns;
	if (original != NULL && !original->is_busy &&
	    join_log_flush(join, input, original, reason) != 0)
		return -1;
	return join_log_find(join, &about, queue_id, message_r, reason);
}

int
join_log_resolve(struct join *join, const struct log_input *input,
    struct log_context *context, struct tracked **message_r,
    struct reason *reason)
{
	int found;

	*message_r = join_log_known(join, context);
	if (*message_r != NULL)
		return 1;
	found = find_in_store(join, context, message_r, reason);
	if (found != 0 || context->orig_queue_id == NULL)
		return found;
	context->is_busy = true;
	found = find_original(join, input, context, message_r, reason);
	context->is_busy = false;
	if (found == 1 &&
	    join_log_continue(join, context, *message_r, reason) != 0)
		return -1;
	return found;
}

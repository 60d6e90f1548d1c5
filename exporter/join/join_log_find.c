/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which message a line of the log is about. Queue ids are used again; what
 * tells one's generations apart is their time and the order of the log. Called
 * by join_log*.c, on the ingest thread.
 */
#include <string.h>

#include "base/arena.h"
#include "exporter/join/join_log_state.h"
#include "exporter/join/open_messages.h"

/* A message of which the end is not known may still be the one meant. */
#define TRANSACTION_MAX_NS (3600 * SECOND_NS)

#define BY_LOG                                                                 \
	(MESSAGE_QUEUED | MESSAGE_REMOVED | MESSAGE_DELETED |                  \
	    MESSAGE_EXPIRED | MESSAGE_DISCARDED | MESSAGE_HELD)
#define GONE (MESSAGE_REMOVED | MESSAGE_DELETED)

const char *
join_log_string(struct join *join, struct maillog_view view)
{
	return view.size > 0
		   ? arena_string_sized(join->scratch, view.at, view.size)
		   : NULL;
}

/* A line without a context goes on with what the log has begun. */
static bool
is_under_way(
    const void *context, const struct tracked *tracked, int64_t since_wall_ns)
{
	uint32_t evidence = tracked_message(tracked)->evidence;

	return (evidence & BY_LOG) != 0 && (evidence & GONE) == 0;
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
		    join->messages, &key, NULL, NULL);
	if (*message_r != NULL)
		return 1;
	return join_find_stored(join, &key, message_r, reason);
}

/* A context whose message is looked for. */
struct search {
	const struct log_context *context;
	const struct log_input *input; /* NULL: not for a line */
};

/* One that was made of the same context, or of which the hook told first: the
 * log has told nothing of it yet, or tells it again. */
static bool
unseen_fits(const struct search *search, const struct tracked *tracked,
    int64_t since_wall_ns)
{
	int64_t begin_wall_ns = search->context->begin_wall_ns;

	if (since_wall_ns == begin_wall_ns)
		return true;
	if (since_wall_ns < begin_wall_ns - CLOCKS_DIFFER_NS)
		return false;
	return (tracked_message(tracked)->evidence & BY_LOG) == 0 ||
	       (search->input != NULL &&
		   join_log_is_applied(search->input, tracked));
}

/* A further queue id was claimed when its context began. */
static bool
claim_fits(const struct log_context *context, int64_t since_wall_ns)
{
	int64_t differs_ns = since_wall_ns - context->begin_wall_ns;

	return differs_ns >= -CLOCKS_DIFFER_NS &&
	       differs_ns <= CLOCKS_DIFFER_NS;
}

static bool
seen_fits(const struct log_context *context, const struct open_message *message)
{
	int64_t begin_ns = context->begin_wall_ns;
	int64_t end_ns = stamp_is_set(&message->eom_at)
			     ? message->eom_at.wall_ns
			     : message->mail_at.wall_ns + TRANSACTION_MAX_NS;

	return message->mail_at.wall_ns - CLOCKS_DIFFER_NS <=
		   begin_ns + context->precision_ns &&
	       begin_ns <= end_ns + CLOCKS_DIFFER_NS;
}

static bool
context_fits(
    const void *opaque, const struct tracked *tracked, int64_t since_wall_ns)
{
	const struct search *search = opaque;
	const struct log_context *context = search->context;
	const struct open_message *message = tracked_message(tracked);

	if (message->queue_id == NULL ||
	    strcmp(message->queue_id, context->queue_id) != 0)
		return claim_fits(context, since_wall_ns);
	return message->ending == MESSAGE_ENDING_LOGGED
		   ? unseen_fits(search, tracked, since_wall_ns)
		   : seen_fits(context, message);
}

static struct tracked *
find_in_memory(struct join *join, const struct search *search)
{
	const struct queue_id_key key = {
	    search->context->instance, search->context->queue_id, INT64_MAX};

	return open_messages_find_queue_id(
	    join->messages, &key, context_fits, search);
}

bool
join_log_knows(struct join *join, const struct log_context *context)
{
	const struct search search = {context, NULL};

	return find_in_memory(join, &search) != NULL;
}

/* The claim by which a message that was found bears the context's queue id. */
static int64_t
claimed_since(
    const struct log_context *context, const struct open_message *message)
{
	for (size_t i = 0; i < message->queue_id_count; i++)
		if (strcmp(message->queue_ids[i].queue_id, context->queue_id) ==
		    0)
			return message->queue_ids[i].since_wall_ns;
	return message->mail_at.wall_ns;
}

static int
find_in_store(struct join *join, const struct log_input *input,
    struct log_context *context, struct tracked **message_r,
    struct reason *reason)
{
	const struct search search = {context, input};
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
	found = join_find_stored(join, &key, message_r, reason);
	if (found != 1)
		return found;
	if (context_fits(&search, *message_r,
		claimed_since(context, tracked_message(*message_r))))
		return 1;
	open_messages_settle(join->messages, *message_r);
	*message_r = NULL;
	return 0;
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
	const struct search search = {context, input};
	int found;

	*message_r = find_in_memory(join, &search);
	if (*message_r != NULL)
		return 1;
	found = find_in_store(join, input, context, message_r, reason);
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

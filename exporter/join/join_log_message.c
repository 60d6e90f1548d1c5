/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the context of a queue id to its message: an existing one, or one that
 * only the log tells of. Called by join_log*.c, on the ingest thread.
 */
#include <stdlib.h>
#include <string.h>

#include "exporter/join/join_adopt.h"
#include "exporter/join/join_log_state.h"
#include "exporter/join/open_messages.h"
#include "exporter/maillog/log_instances.h"

/* An LMTP transaction takes no longer. */
#define DELIVERY_MAX_NS (3600 * SECOND_NS)

bool
join_log_is_applied(
    const struct log_input *input, const struct tracked *message)
{
	if (input->position.segment == 0 && input->position.offset == 0)
		return false;
	return day_file_has(
	    tracked_message(message)->key.file, input->source, input->position);
}

int
join_log_evidence(struct join *join, struct tracked *message, uint32_t set,
    uint32_t clear, struct reason *reason)
{
	const struct subject subject = {join->messages, message};
	const struct message_news news = {
	    .set = set, .clear = clear, .wall_ns = join->log_wall_ns};

	return evidence_of_message(&subject, &news, reason);
}

/* Which of its queue ids, in the order of the bits; 0 is the first. */
static unsigned
queue_id_number(const struct open_message *message, const char *queue_id)
{
	size_t number = 0;

	while (number < message->queue_id_count &&
	       strcmp(message->queue_ids[number].queue_id, queue_id) != 0)
		number++;
	return number < message->queue_id_count ? (unsigned)number + 1 : 0;
}

uint32_t
join_log_gone_bit(unsigned number)
{
	uint32_t bit = (uint32_t)MESSAGE_GONE_FIRST << number;

	return bit < MESSAGE_GONE_LAST ? bit : MESSAGE_GONE_LAST;
}

/* The bits of the first `count` queue ids. */
static uint32_t
gone_bits(size_t count)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < count; i++)
		bits |= join_log_gone_bit(i);
	return bits;
}

int
join_log_removed(struct join *join, struct tracked *message,
    const char *queue_id, uint32_t how, struct reason *reason)
{
	const struct open_message *known = tracked_message(message);
	size_t count = 1 + known->queue_id_count;
	uint32_t gone = known->evidence;

	if (count == 1)
		return join_log_evidence(join, message, how, 0, reason);
	gone |= join_log_gone_bit(queue_id_number(known, queue_id));
	if ((gone & gone_bits(count)) == gone_bits(count))
		gone |= how;
	return join_log_evidence(join, message, gone, 0, reason);
}

/* What the hook told of a context's queue id before the log did. */
static int
find_hooks(struct join *join, const struct log_context *context,
    const struct day_file *file, struct tracked **hooks_r,
    struct reason *reason)
{
	struct queue_id_claim claim = {
	    context->instance, context->queue_id, context->begin_wall_ns};

	/* Told from the middle on, the delivery began before. */
	if (context->origin == LOG_ORIGIN_INTERNAL && !context->has_message_id)
		claim.since_wall_ns -= DELIVERY_MAX_NS;
	return join_find_hooks(join, &claim, file, hooks_r, reason);
}

/* The queue ids that it had so far are gone if it seemed removed. */
int
join_log_continue(struct join *join, const struct log_context *context,
    struct tracked *message, struct reason *reason)
{
	const struct open_message *known = tracked_message(message);
	const struct queue_id_claim claim = {
	    context->instance, context->queue_id, context->begin_wall_ns};
	struct tracked *hooks;
	uint32_t gone = 0;

	if (known->evidence & MESSAGE_REMOVED)
		gone = gone_bits(1 + known->queue_id_count);
	if (context->is_requeue)
		gone |= join_log_gone_bit(
		    queue_id_number(known, context->orig_queue_id));
	if (store_add_queue_id(&known->key, &claim, reason) != 0)
		return -1;
	tracked_add_queue_id(join->messages, message, &claim);
	if (join_log_evidence(join, message, gone, MESSAGE_REMOVED, reason) !=
		0 ||
	    find_hooks(join, context, known->key.file, &hooks, reason) < 0)
		return -1;
	if (hooks != NULL && join_give_hooks(join, hooks, reason) != 0)
		return -1;
	return join_settle_waiting(join, message, reason);
}

int
join_log_create(struct join *join, const struct log_context *context,
    const struct uuid *previous, struct tracked **message_r,
    struct reason *reason)
{
	struct unseen_message unseen = {
	    .event =
		{
		    .queue_id = context->queue_id,
		    .message_id = context->message_id,
		    .sender = context->sender,
		    .client_name = context->client_name,
		    .client_address = context->client_address,
		    .sasl_method = context->sasl_method,
		    .sasl_user = context->sasl_user,
		    .mail_at = {context->begin_wall_ns, 0},
		},
	    .instance = context->instance,
	    .is_internal = context->origin == LOG_ORIGIN_INTERNAL,
	    .evidence = MESSAGE_TOLD,
	};
	struct tracked *hooks;

	if (context->origin != LOG_ORIGIN_INTERNAL || context->has_message_id)
		unseen.evidence |= MESSAGE_BEGUN;

	if (previous != NULL)
		unseen.event.previous = *previous;
	if (find_hooks(join, context, NULL, &hooks, reason) < 0)
		return -1;
	if (hooks != NULL)
		unseen.file = tracked_message(hooks)->key.file;
	if (join_add_unseen(join, &unseen, message_r, reason) != 0)
		return -1;
	return hooks != NULL ? join_give_hooks(join, hooks, reason) : 0;
}

static int
apply_pending(struct join *join, const struct log_input *input,
    const struct log_context *context, struct tracked *message,
    struct reason *reason)
{
	for (size_t i = 0; i < context->pending_count; i++) {
		struct log_input about = *input;
		struct log_record record;

		log_context_read(&context->pending[i], &record);
		about.record = &record;
		about.instance = context->instance;
		about.wall_ns = record.wall_ns;
		about.precision_ns = record.precision_ns;
		if (join_log_line(join, &about, message, reason) != 0)
			return -1;
	}
	return 0;
}

/* A decision on a message that nobody else knows is on somebody. */
static int
add_decided(struct join *join, const struct log_context *context,
    struct tracked *message, struct reason *reason)
{
	static const struct recipient_news nothing;
	const struct subject subject = {join->messages, message};
	const struct open_message *known = tracked_message(message);

	if (context->decided_for == NULL ||
	    known->ending != MESSAGE_ENDING_LOGGED ||
	    known->recipient_count > 0 ||
	    (known->evidence & (MESSAGE_DISCARDED | MESSAGE_HELD)) == 0)
		return 0;
	return evidence_new_recipient(
	    &subject, context->decided_for, &nothing, reason);
}

/* What no milter saw is submitted or not as its first queue id was. */
static bool
is_submitted(
    const struct log_context *context, const struct open_message *message)
{
	if (message->ending != MESSAGE_ENDING_LOGGED ||
	    message->queue_id == NULL ||
	    strcmp(message->queue_id, context->queue_id) != 0)
		return false;
	return context->origin != LOG_ORIGIN_CLIENT || context->is_local ||
	       context->sasl_user != NULL;
}

int
join_log_bind(struct join *join, const struct log_input *input,
    struct log_context *context, struct tracked *message, struct reason *reason)
{
	const struct open_message *known = tracked_message(message);
	uint32_t set = context->evidence;
	int result = 0;

	if (is_submitted(context, known))
		set |= MESSAGE_SUBMITTED;
	/* What was active has been released since. */
	if (known->evidence & MESSAGE_QUEUED)
		set &= ~(uint32_t)MESSAGE_HELD;
	context->is_busy = true;
	if (!join_log_is_applied(input, message)) {
		result = join_log_evidence(join, message, set, 0, reason);
		if (result == 0)
			result = add_decided(join, context, message, reason);
		if (result == 0)
			result = apply_pending(
			    join, input, context, message, reason);
	}
	log_contexts_remove(join->contexts, context);
	return result;
}

/* Whether the log has said enough to believe in a message. */
static bool
is_message(const struct log_context *context)
{
	if (context->is_probe)
		return false;
	return context->pending_count > 0 ||
	       (context->evidence & MESSAGE_DISCARDED) != 0 ||
	       ((context->evidence & MESSAGE_HELD) != 0 &&
		   context->has_message_id);
}

int
join_log_flush(struct join *join, const struct log_input *input,
    struct log_context *context, struct reason *reason)
{
	struct tracked *message;
	int found;

	log_contexts_set_due(join->contexts, context, 0, 0);
	found = join_log_resolve(join, input, context, &message, reason);
	/* The milter may yet tell that it took a probe for mail. */
	if (found == 0 && !is_message(context))
		return 0;
	if (found == 0 &&
	    join_log_create(join, context, NULL, &message, reason) != 0)
		found = -1;
	if (found < 0 ||
	    join_log_bind(join, input, context, message, reason) != 0)
		return -1;
	open_messages_settle(join->messages, message);
	return 0;
}

/* At once: once the message is committed, lines that are read again are taken
 * as applied to it. */
int
join_log_message_came(
    struct join *join, struct tracked *message, struct reason *reason)
{
	const struct open_message *known = tracked_message(message);
	const struct log_input input = {
	    .source = "", .wall_ns = join->log_wall_ns};
	struct log_context *context = NULL;

	if (join->instances != NULL && known->queue_id != NULL)
		context = log_contexts_find(join->contexts,
		    log_instances_find_instance(
			join->instances, known->instance),
		    maillog_view_of(known->queue_id));
	if (context == NULL ||
	    (context->evidence == 0 && context->pending_count == 0) ||
	    join_log_known(join, context) != message)
		return 0;
	return join_log_bind(join, &input, context, message, reason);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of the log about a message in the queue, each a bit of evidence.
 * Called by join_log*.c, on the ingest thread.
 */
#include <string.h>

#include "exporter/join/join_log_state.h"
#include "exporter/join/open_messages.h"

/* How many recipients the queue file has; 0: it is that of another id. */
static uint32_t
recipients_of(const struct open_message *message, struct maillog_view queue_id,
    struct maillog_view count)
{
	int64_t number;

	if (message->queue_id == NULL ||
	    !maillog_view_equal(queue_id, maillog_view_of(message->queue_id)) ||
	    maillog_view_number(count, &number) != 0 || number < 0 ||
	    number >= RECORD_UNCOUNTED)
		return 0;
	return (uint32_t)number;
}

static int
apply_active(struct join *join, const struct log_input *input,
    struct tracked *message, struct reason *reason)
{
	const struct subject subject = {join->messages, message};
	struct message_news news = {.set = MESSAGE_QUEUED,
	    .clear = MESSAGE_HELD,
	    .queue_recipients = recipients_of(tracked_message(message),
		input->record->record.queue_id,
		input->record->record.fields[MAILLOG_NRCPT])};
	int64_t size_bytes;

	if ((tracked_message(message)->evidence & MESSAGE_QUEUED) == 0 &&
	    maillog_view_number(
		input->record->record.fields[MAILLOG_SIZE], &size_bytes) == 0)
		news.size_bytes = (uint64_t)size_bytes;
	return evidence_of_message(&subject, &news, reason);
}

static int
apply_removed(struct join *join, const struct log_input *input,
    struct tracked *message, struct reason *reason)
{
	const struct maillog_record *record = &input->record->record;

	return join_log_removed(join, message,
	    join_log_string(join, record->queue_id),
	    record->program == MAILLOG_PROGRAM_POSTSUPER ? MESSAGE_DELETED
							 : MESSAGE_REMOVED,
	    reason);
}

/* What bounce(8) sends to a sender is from nobody. */
static bool
is_to_sender(const struct log_record *record)
{
	static const char words[] = ": sender ";

	return memmem(record->line.text.at, record->line.text.size, words,
		   sizeof(words) - 1) != NULL;
}

/* The notification is a message of its own. */
static int
apply_notification(struct join *join, const struct log_input *input,
    struct tracked *message, struct reason *reason)
{
	struct log_context *context =
	    log_contexts_find(join->contexts, input->instance,
		input->record->record.fields[MAILLOG_NEW_QUEUE_ID]);
	struct tracked *notification;
	int found;

	if (context == NULL || context->is_busy)
		return 0;
	/* Whether its own lines have told of its sender yet is chance. */
	if (is_to_sender(input->record))
		log_context_set_sender(context, (struct maillog_view){"", 0});
	found = join_log_resolve(join, input, context, &notification, reason);
	if (found == 0 &&
	    join_log_create(join, context, &tracked_message(message)->id,
		&notification, reason) != 0)
		found = -1;
	if (found < 0 ||
	    join_log_bind(join, input, context, notification, reason) != 0)
		return -1;
	if (notification != message)
		open_messages_settle(join->messages, notification);
	return 0;
}

int
join_log_line(struct join *join, const struct log_input *input,
    struct tracked *message, struct reason *reason)
{
	switch (input->record->record.kind) {
	case MAILLOG_ACTIVE:
		return apply_active(join, input, message, reason);
	case MAILLOG_DELIVERY:
		return join_log_delivery(join, input, message, reason);
	case MAILLOG_REMOVED:
		return apply_removed(join, input, message, reason);
	case MAILLOG_NOTIFICATION:
		return apply_notification(join, input, message, reason);
	case MAILLOG_EXPIRED:
		return join_log_evidence(
		    join, message, MESSAGE_EXPIRED, 0, reason);
	case MAILLOG_CORRUPT:
		return join_log_evidence(
		    join, message, MESSAGE_CORRUPT, 0, reason);
	case MAILLOG_HELD:
		return join_log_evidence(
		    join, message, MESSAGE_QUEUED | MESSAGE_HELD, 0, reason);
	case MAILLOG_RELEASED:
		return join_log_evidence(
		    join, message, MESSAGE_QUEUED, MESSAGE_HELD, reason);
	default:
		return 0;
	}
}

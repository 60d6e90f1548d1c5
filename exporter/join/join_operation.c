/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What operators say, mostly of messages. Called by the join on the ingest
 * thread.
 *
 * The command line writes only of messages that it found in the store, so that
 * they are known here, too, unless their file was removed since.
 */
#include "exporter/join/join_state.h"

#include "base/log.h"
#include "exporter/join/evidence.h"
#include "exporter/join/open_messages.h"

static bool
is_missing(const struct open_message *message)
{
	for (size_t i = 0; i < message->recipient_count; i++)
		if (fate_is_missing(message->recipients[i].state))
			return true;
	return false;
}

static void
ignore(const struct join_input *input, const char *why)
{
	char id[UUID_TEXT_SIZE];

	uuid_format(&input->record->event.operation.message, id);
	log_warn("source=%s message=%s reason=\"%s\"", input->source, id, why);
}

/* Nothing is said in advance: what has come back meanwhile may still be lost
 * another time. */
static int
acknowledge(struct join *join, const struct join_input *input,
    struct tracked *tracked, struct reason *reason)
{
	static const struct message_news news = {.set = MESSAGE_ACKNOWLEDGED};
	const struct subject subject = {join->messages, tracked};
	const struct open_message *message = tracked_message(tracked);

	if (day_file_has(
		message->key.file, input->source, input->record->position))
		return 0;
	if (!is_missing(message)) {
		ignore(input, "nothing of it is lost or unknown any more");
		return 0;
	}
	if (store_add_operation(
		&message->key, &input->record->event.operation, reason) != 0)
		return -1;
	return evidence_of_message(&subject, &news, reason);
}

int
join_operation(
    struct join *join, const struct join_input *input, struct reason *reason)
{
	const struct operation_event *operation =
	    &input->record->event.operation;
	struct tracked *tracked;
	int found;

	if (operation->kind == OPERATION_FORGET)
		return operation->address != NULL
			   ? store_forget(join->store, operation->address,
				 input->record->position, reason)
			   : 0;
	if (operation->kind != OPERATION_ACKNOWLEDGE) {
		ignore(input, "an operation of a newer version");
		return 0;
	}
	found = join_find(join, &operation->message, &tracked, reason);
	if (found < 0)
		return -1;
	if (found == 0) {
		ignore(input, "no such message");
		return 0;
	}
	found = acknowledge(join, input, tracked, reason);
	open_messages_settle(join->messages, tracked);
	return found;
}

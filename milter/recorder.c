/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides what of a session is recorded and owns the milter's journal. Called
 * by callbacks.c on libmilter's threads, opened and abandoned by main.c.
 */
#include "milter/recorder.h"

#include "base/log.h"
#include "base/uuid.h"
#include "milter/abort_limit.h"
#include "proto/event.h"
#include "proto/journal_writer.h"
#include "proto/producer_counter.h"

static struct journal_writer *writer;
static struct abort_limit abort_limit;

static const enum producer_counter abort_counters[MESSAGE_PHASES] = {
    [MESSAGE_PHASE_NONE] = PRODUCER_ABORTS_CONNECT,
    [MESSAGE_PHASE_CONNECT] = PRODUCER_ABORTS_CONNECT,
    [MESSAGE_PHASE_HELO] = PRODUCER_ABORTS_HELO,
    [MESSAGE_PHASE_MAIL] = PRODUCER_ABORTS_MAIL,
    [MESSAGE_PHASE_RCPT] = PRODUCER_ABORTS_RCPT,
    [MESSAGE_PHASE_DATA] = PRODUCER_ABORTS_DATA,
    [MESSAGE_PHASE_CONTENT] = PRODUCER_ABORTS_CONTENT,
    [MESSAGE_PHASE_EOM] = PRODUCER_ABORTS_CONTENT,
};

int
recorder_open(const struct journal_writer_settings *journal,
    int64_t aborts_per_second, int64_t aborts_burst, struct reason *reason)
{
	abort_limit_init(&abort_limit, aborts_per_second, aborts_burst);
	writer = journal_writer_open(journal, reason);
	return writer != NULL ? 0 : -1;
}

static void
tell(const struct message_event *event)
{
	char id[UUID_TEXT_SIZE];

	uuid_format(&event->id, id);
	log_debug("id=%s queue_id=%s session=%llu sequence=%u ending=%s "
		  "phase=%s recipients=%zu",
	    id, event->queue_id != NULL ? event->queue_id : "",
	    (unsigned long long)event->session, event->sequence,
	    message_ending_name(event->ending),
	    message_phase_name(event->phase),
	    event->recipient_count + event->recipients_omitted);
}

static bool
append(const struct message_event *message, enum journal_share share)
{
	struct event event = {.type = EVENT_MESSAGE, .message = *message};

	tell(message);
	return journal_writer_append(writer, &event, share) == 1;
}

bool
recorder_accepted(const struct message_event *event)
{
	return append(event, JOURNAL_SHARE_ALL);
}

void
recorder_ended(const struct message_event *event, bool has_recipient)
{
	if (has_recipient)
		append(event, JOURNAL_SHARE_ALL);
	else if (abort_limit_take(&abort_limit, event->end_at.monotonic_ns))
		append(event, JOURNAL_SHARE_HALF);
	else
		producer_count(abort_counters[event->phase], 1);
}

void
recorder_empty_session(bool said_helo)
{
	producer_count(
	    said_helo ? PRODUCER_ABORTS_HELO : PRODUCER_ABORTS_CONNECT, 1);
}

void
recorder_abandon(void)
{
	journal_writer_abandon(writer);
}

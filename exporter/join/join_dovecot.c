/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dovecot's log: what its LMTP server and Sieve did with each recipient's mail.
 * Called by the join, on the ingest thread.
 *
 * Mostly a line comes before its reply, which then finds it. One that comes
 * later finds the reply in memory, or, after a restart, in the store, which is
 * asked only about lines that have waited a while.
 */
#include <string.h>

#include "base/arena.h"
#include "exporter/join/filing.h"
#include "exporter/join/join_state.h"
#include "exporter/join/lmtp_sessions.h"
#include "exporter/join/open_messages.h"
#include "exporter/read/log_record.h"

#define SECOND_NS INT64_C(1000000000)
/* A line has waited long enough for its reply to be one that came before our
 * start. */
#define ASK_WAIT_NS (5 * SECOND_NS)
/* The same session may be answered to a further recipient. */
#define ANSWERED_HOLD_NS (10 * SECOND_NS)
/* So much longer than a delivery waits for its message: then there is no reply;
 * it was not a good one, or not to our Postfix. */
#define UNANSWERED_HOLD_NS (60 * SECOND_NS)
/* Beyond this many the oldest is not waited for. */
#define HELD_MAX 100000

static enum filing_action
action_of(enum maillog_kind kind)
{
	switch (kind) {
	case MAILLOG_STORED:
		return FILING_STORED;
	case MAILLOG_SIEVE_FORWARDED:
		return FILING_FORWARDED;
	case MAILLOG_SIEVE_ANSWERED:
		return FILING_ANSWERED;
	case MAILLOG_SIEVE_REJECTED:
		return FILING_REJECTED;
	case MAILLOG_SIEVE_DISCARDED:
		return FILING_DISCARDED;
	default:
		return FILING_ACTIONS;
	}
}

/* Returns 1, 0 when the message is not there any more, or -1. */
static int
find_message(struct join *join, const struct uuid *id,
    struct tracked **message_r, struct reason *reason)
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

static int
tell(struct join *join, struct tracked *message, uint32_t number,
    const struct lmtp_session *session, struct reason *reason)
{
	const struct subject subject = {join->messages, message};
	int result = 0;

	if (number < tracked_message(message)->recipient_count)
		result = filing_tell(&subject, number, session, reason);
	open_messages_settle(join->messages, message);
	return result;
}

static int
tell_recipients(struct join *join, const struct lmtp_session *session,
    struct reason *reason)
{
	for (size_t i = 0; i < session->recipient_count; i++) {
		const struct answered_recipient *recipient =
		    &session->recipients[i];
		struct tracked *message;
		int found =
		    find_message(join, &recipient->message, &message, reason);

		if (found < 0 ||
		    (found == 1 && tell(join, message, recipient->number,
				       session, reason) != 0))
			return -1;
	}
	return 0;
}

/* A recipient that was answered before our memory began. */
static int
tell_stored(struct join *join, struct lmtp_session *session,
    const struct recipient_key *key, struct reason *reason)
{
	const struct maillog_view id = {session->id, strlen(session->id)};
	struct answered_recipient recipient = {.number = key->number};
	struct open_message found;
	int result =
	    store_read_message(&key->message, join->scratch, &found, reason);

	if (result != 1)
		return result;
	recipient.message = found.id;
	lmtp_sessions_add_recipient(join->sessions, id, &recipient);
	return tell(
	    join, join_hold(join, &found), key->number, session, reason);
}

static int
ask_store(
    struct join *join, struct lmtp_session *session, struct reason *reason)
{
	struct recipient_keys recipients;

	lmtp_sessions_set_asked(join->sessions, session);
	if (store_find_session(join->store, session->id, join->scratch,
		&recipients, reason) != 0)
		return -1;
	for (size_t i = 0; i < recipients.count; i++)
		if (tell_stored(join, session, &recipients.items[i], reason) !=
		    0)
			return -1;
	return 0;
}

static int
let_go_first(struct join *join, struct reason *reason)
{
	struct lmtp_session *session = lmtp_sessions_first_held(join->sessions);
	int result = 0;

	if (session->recipient_count == 0)
		result = ask_store(join, session, reason);
	lmtp_sessions_let_go(join->sessions, session);
	return result;
}

int
join_dovecot_line(struct join *join, const char *source,
    const struct log_record *record, int64_t now_ns, struct reason *reason)
{
	const struct maillog_view *fields = record->record.fields;
	const struct filing_line line = {
	    .session = fields[MAILLOG_SESSION],
	    .source = source,
	    .start = record->start,
	    .action = action_of(record->record.kind),
	    .name = record->record.kind == MAILLOG_STORED
			? fields[MAILLOG_MAILBOX]
			: fields[MAILLOG_TO],
	    .now_ns = now_ns,
	};
	struct lmtp_session *session;

	if (line.action == FILING_ACTIONS || line.session.size == 0)
		return 0;
	session = lmtp_sessions_add_line(join->sessions, &line);
	if (session != NULL && tell_recipients(join, session, reason) != 0)
		return -1;
	if (lmtp_sessions_held(join->sessions) > HELD_MAX)
		return let_go_first(join, reason);
	return 0;
}

/* A gap in it says nothing of mail. */
int
join_apply_dovecot(struct join *join, const char *source,
    const struct log_record *record, int64_t now_ns, struct reason *reason)
{
	int result = 0;

	if (record->gap == LOG_GAP_NONE)
		result =
		    join_dovecot_line(join, source, record, now_ns, reason);
	arena_reset(join->scratch);
	return result;
}

static int64_t
held_until_ns(const struct join *join, const struct lmtp_session *session)
{
	if (session->recipient_count > 0)
		return session->since_ns + ANSWERED_HOLD_NS;
	return session->since_ns + join->stamp_wait_ns + UNANSWERED_HOLD_NS;
}

int
join_dovecot_expire(struct join *join, int64_t now_ns, struct reason *reason)
{
	struct lmtp_session *session;

	while (
	    (session = lmtp_sessions_first_unasked(join->sessions)) != NULL &&
	    session->since_ns + ASK_WAIT_NS <= now_ns) {
		if (ask_store(join, session, reason) != 0)
			return -1;
		arena_reset(join->scratch);
	}
	while ((session = lmtp_sessions_first_held(join->sessions)) != NULL &&
	       held_until_ns(join, session) <= now_ns)
		lmtp_sessions_let_go(join->sessions, session);
	return 0;
}

int64_t
join_dovecot_deadline(const struct join *join)
{
	const struct lmtp_session *unasked =
	    lmtp_sessions_first_unasked(join->sessions);
	const struct lmtp_session *held =
	    lmtp_sessions_first_held(join->sessions);
	int64_t deadline_ns = held != NULL ? held_until_ns(join, held) : 0;

	if (unasked != NULL && unasked->since_ns + ASK_WAIT_NS < deadline_ns)
		deadline_ns = unasked->since_ns + ASK_WAIT_NS;
	return deadline_ns;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines and deliveries told again. Called by the parts of the join that find
 * out that a message is not what it seemed, on the ingest thread.
 */
#include "exporter/join/join_retell.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/reason.h"
#include "exporter/join/filing.h"
#include "exporter/join/join_finding.h"
#include "exporter/join/join_log_state.h"
#include "exporter/join/open_messages.h"
#include "exporter/join/outcome.h"
#include "exporter/join/tally.h"

/* What was not counted is not taken back. */
static void
tally_taken(struct tally *tally, const struct open_message *message,
    const struct open_recipient *recipient)
{
	bool is_named = (recipient->evidence & EVIDENCE_NAMED) != 0;
	enum metric_added added = ADDED_EXPANDED;

	if (recipient->evidence & EVIDENCE_REFUSED)
		return;
	tally_remove(tally, (struct fate){recipient->state, recipient->reason});
	if (is_named && (message->ending == MESSAGE_ENDING_ACCEPTED ||
			    recipient->state == RECIPIENT_ABORTED))
		return;
	if (is_named)
		added = ADDED_ABORTED;
	else if (message->ending == MESSAGE_ENDING_LOGGED)
		added = ADDED_UNSTAMPED;
	tally->added[added]--;
}

static int
forget_sessions(const struct message_key *key,
    const struct message_record *record, struct arena *arena,
    struct reason *reason)
{
	for (size_t i = 0; i < record->leg_count; i++) {
		const struct delivery_event *event = &record->legs[i].event;

		for (size_t j = 0; j < event->recipient_count; j++) {
			struct maillog_view session =
			    outcome_session(&event->recipients[j]);

			if (session.size > 0 &&
			    store_forget_session(key,
				arena_string_sized(
				    arena, session.at, session.size),
				reason) != 0)
				return -1;
		}
	}
	return 0;
}

int
join_take(struct join *join, struct tracked *tracked,
    struct taken_message *taken_r, struct reason *reason)
{
	const struct open_message *message = tracked_message(tracked);
	struct tally *tally = open_messages_tally(join->messages);

	if (store_take_message(&message->key, join->scratch, taken_r, reason) !=
		0 ||
	    (join->reads_sessions &&
		forget_sessions(&message->key, &taken_r->record, join->scratch,
		    reason) != 0))
		return -1;
	/* With what need not be stored. */
	taken_r->record.evidence |= message->evidence;
	for (size_t i = 0; i < message->recipient_count; i++)
		tally_taken(tally, message, &message->recipients[i]);
	tally->ghosts -= evidence_has_ghost(message);
	open_messages_remove(join->messages, tracked);
	return 0;
}

static void
put_field(struct buffer *text, const char *name, const char *value)
{
	if (value != NULL)
		buffer_append_format(text, ", %s=%s", name, value);
}

/* The line, as far as it matters, that an attempt was made of. */
int
join_retold_line(struct arena *arena, const struct message_record *message,
    size_t number, struct log_record *record_r)
{
	static const struct recipient_record nobody = {.address = ""};
	const struct attempt_record *attempt = &message->attempts[number];
	const struct recipient_record *recipient =
	    attempt->recipient < message->recipient_count
		? &message->recipients[attempt->recipient]
		: &nobody;
	struct buffer text = {0};
	const char *tag, *copy;

	buffer_append_format(
	    &text, "postfix/%s", attempt->agent != NULL ? attempt->agent : "");
	tag = arena_string_sized(arena, text.data, text.size);
	buffer_clear(&text);
	buffer_append_format(&text, "%s: to=<%s>",
	    attempt->queue_id != NULL ? attempt->queue_id : "",
	    recipient->address);
	if (recipient->original != NULL)
		buffer_append_format(
		    &text, ", orig_to=<%s>", recipient->original);
	put_field(&text, "relay", attempt->relay);
	put_field(&text, "dsn", attempt->dsn);
	put_field(&text, "status", attempt->status);
	buffer_append_format(
	    &text, " (%s)", attempt->text != NULL ? attempt->text : "");
	copy = arena_string_sized(arena, text.data, text.size);
	buffer_free(&text);
	if (tag == NULL || copy == NULL)
		return -1;
	*record_r = (struct log_record){.wall_ns = attempt->wall_ns};
	maillog_line_set_tag(&record_r->line, maillog_view_of(tag));
	record_r->line.text = maillog_view_of(copy);
	maillog_record_parse(&record_r->line, &record_r->record);
	return 0;
}

static int
retell_line(struct join *join, struct tracked *message,
    const struct message_record *told, size_t number, struct reason *reason)
{
	struct log_record record;
	struct log_input input = {
	    .source = "",
	    .instance = tracked_message(message)->instance,
	    .record = &record,
	    .wall_ns = told->attempts[number].wall_ns,
	    .is_retold = true,
	};

	/* A latency is observed once, and not of what seems to be whole
	 * seconds. */
	if (told->event.ending != MESSAGE_ENDING_LOGGED ||
	    input.wall_ns % SECOND_NS == 0)
		input.precision_ns = SECOND_NS;
	if (join_retold_line(join->scratch, told, number, &record) != 0)
		return reason_set(reason, "too many attempts");
	return join_log_line(join, &input, message, reason);
}

static int
retell_operations(const struct tracked *message,
    const struct message_record *told, struct reason *reason)
{
	for (size_t i = 0; i < told->operation_count; i++) {
		const struct operation_record *from = &told->operations[i];
		const struct operation_event operation = {
		    .kind = from->kind,
		    .at = {from->wall_ns, 0},
		    .who = from->who,
		    .comment = from->comment,
		};

		if (store_add_operation(&tracked_message(message)->key,
			&operation, reason) != 0)
			return -1;
	}
	return 0;
}

int
join_retell_lines(struct join *join, struct tracked *message,
    const struct taken_message *taken, struct reason *reason)
{
	const struct message_record *record = &taken->record;
	const struct subject subject = {join->messages, message};
	struct message_news news = {.set = record->evidence,
	    .size_bytes = record->size_bytes,
	    .queue_recipients = record->queue_recipients};

	for (size_t i = 0; i < taken->claim_count; i++) {
		if (store_add_queue_id(&tracked_message(message)->key,
			&taken->claims[i], reason) != 0)
			return -1;
		tracked_add_queue_id(
		    join->messages, message, &taken->claims[i]);
	}
	if (retell_operations(message, record, reason) != 0)
		return -1;
	for (size_t i = 0; i < record->attempt_count; i++)
		if (retell_line(join, message, record, i, reason) != 0)
			return -1;
	news.set &= ~(uint32_t)(MESSAGE_ACCEPTED | MESSAGE_SEEN_BY_HOOK);
	if (tracked_message(message)->ending != MESSAGE_ENDING_LOGGED)
		news.set &= ~(uint32_t)(MESSAGES_OWN);
	return evidence_of_message(&subject, &news, reason);
}

/* The number of the recipient that a place in a leg decided. */
static uint32_t
find_decided(
    const struct open_message *message, int64_t leg_row, uint32_t position)
{
	uint32_t number = 0;

	while (number < message->recipient_count &&
	       (message->recipients[number].leg_row != leg_row ||
		   message->recipients[number].leg_position != position))
		number++;
	return number;
}

/* What Dovecot did with the recipients that the leg decided. */
static int
retell_filings(struct join *join, struct tracked *message,
    const struct message_record *told, size_t leg, struct reason *reason)
{
	const struct subject subject = {join->messages, message};
	const struct open_message *known = tracked_message(message);

	for (size_t i = 0; i < told->recipient_count; i++) {
		const struct recipient_record *from = &told->recipients[i];
		const struct leg_record *at = &told->legs[leg];
		uint32_t number;

		if (from->filing_count == 0 || from->leg != (int)leg)
			continue;
		number = find_decided(known, at->row,
		    at->event.recipients[from->leg_recipient].position);
		if (number < known->recipient_count &&
		    filing_tell_all(&subject, number, from->filings,
			from->filing_count, reason) != 0)
			return -1;
	}
	return 0;
}

static int
retell_leg(struct join *join, const struct message_key *key,
    const struct message_record *told, size_t number, struct reason *reason)
{
	const struct leg_record *leg = &told->legs[number];
	struct segment_header segment = {.instance = leg->instance};
	struct join_finding finding = {
	    .delivery = &leg->event, .segment = &segment, .file = key->file};
	struct outcome_leg outcome = {.event = &leg->event,
	    .boot_id = leg->boot_id,
	    .file = key->file,
	    .row = leg->row,
	    .sessions = join_sessions(join),
	    .is_retold = true,
	    .is_observed = told->event.ending != MESSAGE_ENDING_LOGGED};
	struct leg_verdict verdict = {.message = NULL};
	int result;

	memcpy(segment.boot_id, leg->boot_id, sizeof(segment.boot_id));
	if (join_find_now(join, &finding, reason) != 0)
		return -1;
	verdict.state = finding.state;
	if (finding.message != NULL &&
	    tracked_message(finding.message)->key.file == key->file)
		verdict.message = &tracked_message(finding.message)->key;
	else
		verdict.state = LEG_FOREIGN;
	result = store_settle_leg(key->file, leg->row, &verdict, reason);
	if (result == 0 && verdict.message != NULL)
		result = outcome_apply(join->messages, finding.message,
		    &outcome, join->scratch, reason);
	if (result == 0 && verdict.message != NULL)
		result =
		    retell_filings(join, finding.message, told, number, reason);
	if (finding.message != NULL)
		open_messages_settle(join->messages, finding.message);
	return result;
}

int
join_retell_legs(struct join *join, const struct message_key *key,
    const struct taken_message *taken, struct reason *reason)
{
	for (size_t i = 0; i < taken->record.leg_count; i++)
		if (retell_leg(join, key, &taken->record, i, reason) != 0)
			return -1;
	return 0;
}

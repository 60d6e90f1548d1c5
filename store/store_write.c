/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the join writes: messages, recipients, legs. Called by the exporter on
 * the ingest thread; each function begins the file's transaction if the batch
 * has not yet.
 */
#include "store/store.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/reason.h"
#include "store/attempt_row.h"
#include "store/database.h"
#include "store/day_file.h"
#include "store/day_outcomes.h"
#include "store/feed.h"
#include "store/leg_row.h"
#include "store/message_row.h"
#include "store/operation_row.h"
#include "store/queue_id_row.h"
#include "store/record_read.h"
#include "store/recipient_row.h"
#include "store/unwritten.h"

#define NS_PER_MINUTE (60 * CLOCK_NS_PER_SECOND)

static void
add_recipients(struct day_file *file, const struct message_event *event,
    const struct recipient_verdict *verdicts, int64_t row)
{
	const struct recipient_owner owner = {
	    .row = row, .mail_at = event->mail_at};

	for (size_t i = 0;
	     i < event->recipient_count && i <= RECIPIENT_NUMBER_MAX; i++) {
		const struct message_recipient *from = &event->recipients[i];
		const struct recipient_row recipient = {.number = (uint32_t)i,
		    .address = from->address,
		    .state = verdicts[i].state,
		    .reason = verdicts[i].reason,
		    .evidence = verdicts[i].evidence,
		    .expected = true,
		    .rcpt_at = from->rcpt_at,
		    .reject_dsn = from->reject_dsn,
		    .reject_text = from->reject_text};

		unwritten_add_recipient(
		    file->unwritten, &file->tables, &owner, &recipient);
		day_outcomes_add(file->outcomes, row, recipient.state);
		feed_begin(file->feed,
		    &(struct feed_subject){row, (uint32_t)i, verdicts[i].state},
		    from->address);
	}
}

/* After something was added to the batch. */
static int
check_batch(struct day_file *file, struct reason *reason)
{
	if (unwritten_is_full(file->unwritten))
		return day_file_write(file, reason);
	return database_check(file->tables.database, reason);
}

int
store_add_message(struct day_file *file, const struct message_event *event,
    const struct segment_header *segment, const struct message_verdict *verdict,
    struct message_key *key_r, struct reason *reason)
{
	const struct message_row message = {
	    .event = event, .segment = segment, .evidence = verdict->evidence};

	if (day_file_begin(file, false, reason) != 0)
		return -1;
	key_r->file = file;
	key_r->row = unwritten_add_message(
	    file->unwritten, &file->tables, &message, &file->message_hint);
	add_recipients(file, event, verdict->recipients, key_r->row);
	return check_batch(file, reason);
}

int
store_change_message(const struct message_key *key,
    const struct message_change *change, struct reason *reason)
{
	struct day_file *file = key->file;
	const struct message_log log = {
	    change->evidence, change->size_bytes, change->queue_recipients};

	if (day_file_begin(file, false, reason) != 0)
		return -1;
	unwritten_change_message(file->unwritten, key->row, &log);
	return check_batch(file, reason);
}

int
store_add_queue_id(const struct message_key *key,
    const struct queue_id_claim *claim, struct reason *reason)
{
	struct day_file *file = key->file;

	if (day_file_begin(file, false, reason) != 0)
		return -1;
	file->has_queue_ids = true;
	queue_id_row_add(&file->tables, key->row, claim);
	return database_check(file->tables.database, reason);
}

/* What the file knows of whom an attempt is about; what is read lies in its
 * scratch arena. */
static struct attempt_context
attempt_context(struct day_file *file, const struct recipient_place *place,
    const struct attempt_subject *subject)
{
	struct attempt_context context;

	if (subject != NULL) {
		context.address = subject->address;
		context.leg_row = subject->leg_row;
	} else {
		context.address = recipient_row_brief(
		    &file->tables, place, file->scratch, &context.leg_row);
	}
	context.leg = unwritten_leg_blob(file->unwritten, context.leg_row);
	return context;
}

int
store_add_attempt(const struct message_key *key,
    const struct attempt_record *attempt, const struct attempt_subject *subject,
    struct reason *reason)
{
	const struct recipient_place place = {key->row, attempt->recipient};
	struct day_file *file = key->file;
	struct attempt_context context;

	if (day_file_begin(file, false, reason) != 0)
		return -1;
	arena_reset(file->scratch);
	if ((subject == NULL || attempt->queue_id != NULL) &&
	    day_file_write_message(file, key->row, reason) != 0)
		return -1;
	context = attempt_context(file, &place, subject);
	if (attempt_row_add(&file->tables, key->row, attempt, &context) != 0)
		return reason_set(
		    reason, "%s: a message with too many attempts", file->path);
	return database_check(file->tables.database, reason);
}

int
store_add_departure(const struct message_key *key, uint32_t number,
    int64_t wall_ns, struct reason *reason)
{
	struct day_file *file = key->file;
	struct statement *add;
	int64_t address;

	if (day_file_begin(file, false, reason) != 0)
		return -1;
	address = unwritten_address(file->unwritten, key->row, number);
	if (address == 0)
		address =
		    recipient_row_address(&file->tables, key->row, number);
	add = database_statement(file->tables.database, SQL_DEPARTURE_ADD);
	bind_integer(add, wall_ns / NS_PER_MINUTE);
	bind_integer(add, address);
	statement_run(add);
	return database_check(file->tables.database, reason);
}

int
store_add_operation(const struct message_key *key,
    const struct operation_event *operation, struct reason *reason)
{
	struct day_file *file = key->file;

	if (day_file_begin(file, false, reason) != 0)
		return -1;
	operation_row_add(&file->tables, key->row, operation);
	return database_check(file->tables.database, reason);
}

static struct recipient_row
changed_row(const struct recipient_change *change)
{
	return (struct recipient_row){.number = change->number,
	    .state = change->state,
	    .reason = change->reason,
	    .evidence = change->evidence,
	    .original = change->original,
	    .attempts = change->attempts,
	    .leg_row = change->leg_row,
	    .leg_position = change->leg_position};
}

int
store_add_recipient(const struct message_key *key, const char *address,
    const struct recipient_change *change, struct reason *reason)
{
	const struct recipient_owner owner = {.row = key->row};
	struct day_file *file = key->file;
	struct recipient_row recipient = changed_row(change);

	if (change->number > RECIPIENT_NUMBER_MAX)
		return reason_set(reason,
		    "%s: a message with too many recipients", file->path);
	if (day_file_begin(file, false, reason) != 0)
		return -1;
	recipient.address = address;
	day_file_note_decision(file, change->leg_row);
	unwritten_add_recipient(
	    file->unwritten, &file->tables, &owner, &recipient);
	day_outcomes_add(file->outcomes, key->row, change->state);
	feed_begin(file->feed,
	    &(struct feed_subject){key->row, change->number, change->state},
	    address);
	return check_batch(file, reason);
}

/* A leg whose decision is revised must still be found. */
static void
note_revised(struct day_file *file, int64_t message_row,
    const struct recipient_change *change)
{
	int64_t leg;

	if (change->has_one_leg)
		return;
	if (!unwritten_leg(file->unwritten, message_row, change->number, &leg))
		leg = recipient_row_leg(
		    &file->tables, message_row, change->number);
	if (leg != 0 && leg != change->leg_row)
		day_file_note_leg(file, message_row, leg);
}

int
store_change_recipient(const struct message_key *key,
    const struct recipient_change *change, struct reason *reason)
{
	struct day_file *file = key->file;
	struct recipient_row recipient = changed_row(change);

	if (day_file_begin(file, false, reason) != 0)
		return -1;
	note_revised(file, key->row, change);
	day_file_note_decision(file, change->leg_row);
	unwritten_change_recipient(
	    file->unwritten, &file->tables, key->row, &recipient);
	day_outcomes_move(
	    file->outcomes, key->row, change->former, change->state);
	feed_change(file->feed,
	    &(struct feed_subject){key->row, change->number, change->state},
	    change->former);
	return check_batch(file, reason);
}

/* What the leg's message says, in the file's scratch arena. */
static int
read_message(struct day_file *file, const struct message_key *message,
    struct message_brief *brief_r, struct reason *reason)
{
	int found;

	if (unwritten_brief(file->unwritten, message->row, brief_r))
		return 0;
	arena_reset(file->scratch);
	found = message_row_brief(
	    &file->tables, message->row, file->scratch, brief_r);
	if (database_check(file->tables.database, reason) != 0)
		return -1;
	if (found == 0 || arena_failed(file->scratch))
		return reason_set(reason, "%s: no such message", file->path);
	return 0;
}

/* Looks whether an earlier part made the leg. Returns 1, 0 or -1. */
static int
find_leg(struct day_file *file, const struct delivery_event *event,
    int64_t *row_r, struct reason *reason)
{
	int found = 0;

	if (event->part > 0)
		found =
		    day_find_id(&file->tables, SQL_LEG_SCAN, &event->id, row_r);
	if (database_check(file->tables.database, reason) != 0)
		return -1;
	return found;
}

/* Leaves a leg that has its message as it is. */
static void
settle(
    struct day_file *file, int64_t leg_row, const struct leg_verdict *verdict)
{
	int64_t message_row =
	    verdict->message != NULL ? verdict->message->row : 0;

	leg_row_settle(&file->tables, leg_row, verdict->state, message_row);
	if (message_row != 0 && database_changes(file->tables.database) > 0)
		day_file_note_leg(file, message_row, leg_row);
}

static int64_t
add_first_part(struct day_file *file, const struct leg_row *leg)
{
	struct buffer packed;
	int64_t row = leg_row_add(&file->tables, leg, &file->leg_hint, &packed);

	unwritten_note_leg(file->unwritten, row, &packed);
	buffer_free(&packed);
	return row;
}

int
store_add_leg(struct day_file *file, const struct delivery_event *event,
    const struct segment_header *segment, const struct leg_verdict *verdict,
    int64_t *leg_row_r, struct reason *reason)
{
	struct leg_row leg = {
	    .event = event, .segment = segment, .state = verdict->state};
	struct message_brief brief;
	int found;

	if (day_file_begin(file, false, reason) != 0)
		return -1;
	if (verdict->message != NULL) {
		if (read_message(file, verdict->message, &brief, reason) != 0)
			return -1;
		leg.message_row = verdict->message->row;
		leg.message = &brief;
	}
	found = find_leg(file, event, leg_row_r, reason);
	if (found < 0)
		return -1;
	if (found == 0) {
		*leg_row_r = add_first_part(file, &leg);
		if (leg.message_row != 0)
			day_file_note_leg(file, leg.message_row, *leg_row_r);
	} else {
		leg_row_add_part(&file->tables, &leg, *leg_row_r);
		settle(file, *leg_row_r, verdict);
	}
	return database_check(file->tables.database, reason);
}

int
store_tell_leg(struct day_file *file, int64_t leg_row,
    const struct delivery_event *event, struct reason *reason)
{
	if (day_file_begin(file, false, reason) != 0)
		return -1;
	for (size_t i = 0; i < event->recipient_count; i++) {
		const struct delivery_recipient *recipient =
		    &event->recipients[i];

		feed_leg(file->feed,
		    &(struct feed_subject){leg_row, recipient->position,
			record_state_by_reply(recipient)});
	}
	return 0;
}

int
store_settle_leg(struct day_file *file, int64_t leg_row,
    const struct leg_verdict *verdict, struct reason *reason)
{
	if (day_file_begin(file, false, reason) != 0)
		return -1;
	settle(file, leg_row, verdict);
	return database_check(file->tables.database, reason);
}

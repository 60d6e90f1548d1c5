/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts messages together for queries, within one read transaction of theirs.
 */
#include "store/record_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "store/attempt_row.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/filing_row.h"
#include "store/leg_row.h"
#include "store/message_row.h"
#include "store/operation_row.h"
#include "store/packed.h"
#include "store/queue_id_row.h"
#include "store/recipient_row.h"

/* A leg and its row, by which recipients name it. */
struct placed_leg {
	int64_t row;
	struct leg_record leg;
};

static int
by_begin(const void *left, const void *right)
{
	const struct placed_leg *a = left, *b = right;
	int64_t a_ns = a->leg.event.mail_at.wall_ns;
	int64_t b_ns = b->leg.event.mail_at.wall_ns;

	if (a_ns != b_ns)
		return a_ns < b_ns ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* The recipients of a message, and the rows of its legs. */
struct parts {
	struct recipient_row *recipients;
	size_t recipient_count;
	struct placed_leg *legs;
	size_t leg_count;
};

static int
add_leg(struct parts *parts, int64_t row, struct arena *arena)
{
	struct placed_leg *leg;

	for (size_t i = parts->leg_count; i-- > 0;) {
		if (parts->legs[i].row == row)
			return 0;
	}
	leg =
	    arena_append(arena, &parts->legs, &parts->leg_count, sizeof(*leg));
	if (leg == NULL)
		return -1;
	leg->row = row;
	return 0;
}

/* Those that recipients name, and those that decided nothing. */
static int
list_legs(struct day_tables *tables, int64_t message_row, struct arena *arena,
    struct parts *parts)
{
	struct statement *rows;
	int result = 0;

	for (size_t i = 0; i < parts->recipient_count && result == 0; i++) {
		if (parts->recipients[i].leg_row != 0)
			result =
			    add_leg(parts, parts->recipients[i].leg_row, arena);
	}
	rows = database_statement(tables->database, SQL_UNDECIDED_READ);
	bind_integer(rows, message_row);
	while (result == 0 && statement_step(rows) == 1)
		result = add_leg(parts, column_integer(rows, 0), arena);
	statement_end(rows);
	return result;
}

/* Reads the legs and puts them into the order they began in. */
static int
read_legs(struct day_tables *tables, const struct message_brief *message,
    struct arena *arena, struct parts *parts)
{
	int found = 1;

	for (size_t i = 0; i < parts->leg_count && found == 1; i++)
		found = leg_row_read(tables, parts->legs[i].row, message, arena,
		    &parts->legs[i].leg);
	if (found == 0)
		database_damaged(tables->database, "leg");
	if (parts->leg_count > 0)
		qsort(parts->legs, parts->leg_count, sizeof(*parts->legs),
		    by_begin);
	return found == 1 ? 0 : -1;
}

static int
copy_legs(struct message_record *record, const struct parts *parts,
    struct arena *arena)
{
	record->legs =
	    arena_alloc(arena, parts->leg_count * sizeof(*record->legs));
	if (record->legs == NULL)
		return -1;
	record->leg_count = parts->leg_count;
	for (size_t i = 0; i < record->leg_count; i++)
		record->legs[i] = parts->legs[i].leg;
	return 0;
}

/* The recipient at a position, which is its index unless parts are missing; -1
 * when it is not there. */
static int
find_position(const struct delivery_event *event, uint32_t position)
{
	if (position < event->recipient_count &&
	    event->recipients[position].position == position)
		return (int)position;
	for (size_t i = 0; i < event->recipient_count; i++) {
		if (event->recipients[i].position == position)
			return (int)i;
	}
	return -1;
}

/* Which leg and which of its recipients decided; -1 where it is not there. */
static void
place_decision(const struct parts *parts, const struct recipient_row *row,
    struct recipient_record *recipient)
{
	int position;

	recipient->leg = recipient->leg_recipient = -1;
	for (size_t i = 0; i < parts->leg_count && row->leg_row != 0; i++) {
		if (parts->legs[i].row != row->leg_row)
			continue;
		position =
		    find_position(&parts->legs[i].leg.event, row->leg_position);
		if (position >= 0) {
			recipient->leg = (int)i;
			recipient->leg_recipient = position;
		}
		return;
	}
}

static int
copy_recipients(struct message_record *record, const struct parts *parts,
    struct arena *arena)
{
	size_t count = parts->recipient_count;

	record->recipients =
	    arena_alloc(arena, count * sizeof(*record->recipients));
	if (record->recipients == NULL)
		return -1;
	record->recipient_count = count;
	for (size_t i = 0; i < count; i++) {
		const struct recipient_row *row = &parts->recipients[i];

		record->recipients[i] =
		    (struct recipient_record){.address = row->address,
			.state = row->state,
			.expected = row->expected,
			.rcpt_at = row->rcpt_at,
			.reject_dsn = row->reject_dsn,
			.reject_text = row->reject_text,
			.reason = row->reason,
			.original = row->original,
			.attempts = row->attempts};
		place_decision(parts, row, &record->recipients[i]);
	}
	return 0;
}

static int
read_attempts(struct day_tables *tables, int64_t row, struct arena *arena,
    struct message_record *record)
{
	const struct attempt_owner owner = {.row = row,
	    .queue_id = record->event.queue_id,
	    .recipients = record->recipients,
	    .recipient_count = record->recipient_count};

	return attempt_rows_read(
	    tables, &owner, arena, &record->attempts, &record->attempt_count);
}

static int
read_queue_ids(struct day_tables *tables, int64_t row, struct arena *arena,
    struct message_record *record)
{
	struct queue_id_claim *claims;
	size_t count;

	if (queue_id_rows_read(tables, row, arena, &claims, &count) != 0)
		return -1;
	record->queue_ids =
	    arena_alloc(arena, count * sizeof(*record->queue_ids));
	if (record->queue_ids == NULL)
		return -1;
	record->queue_id_count = count;
	for (size_t i = 0; i < count; i++)
		record->queue_ids[i] = claims[i].queue_id;
	return 0;
}

int
record_read(struct day_tables *tables, int64_t row, struct arena *arena,
    struct message_record *record_r)
{
	struct recipient_owner owner = {.row = row};
	struct message_brief brief;
	struct parts parts = {0};
	int found = message_row_read(tables, row, arena, record_r);

	if (found != 1)
		return found;
	owner.mail_at = record_r->event.mail_at;
	brief = message_row_brief_of(&record_r->event);
	if (recipient_rows_read(tables, &owner, arena, &parts.recipients,
		&parts.recipient_count) != 0 ||
	    list_legs(tables, row, arena, &parts) != 0 ||
	    read_legs(tables, &brief, arena, &parts) != 0 ||
	    copy_legs(record_r, &parts, arena) != 0 ||
	    copy_recipients(record_r, &parts, arena) != 0 ||
	    filing_rows_read(tables, row, arena, record_r->recipients,
		record_r->recipient_count) != 0 ||
	    read_attempts(tables, row, arena, record_r) != 0 ||
	    read_queue_ids(tables, row, arena, record_r) != 0 ||
	    operation_rows_read(tables, row, arena, &record_r->operations,
		&record_r->operation_count) != 0)
		return -1;
	/* As exact as all others, or what lies within one microsecond would
	 * seem to go backwards. */
	record_r->event.mail_at = packed_cut(record_r->event.mail_at);
	record_r->event.eom_at = packed_cut(record_r->event.eom_at);
	return arena_failed(arena) ? -1 : 1;
}

enum recipient_state
record_state_by_reply(const struct delivery_recipient *recipient)
{
	uint32_t code = recipient->final.code != 0 ? recipient->final.code
						   : recipient->envelope.code;

	if (code / 100 == 5)
		return RECIPIENT_BOUNCED;
	if (code / 100 == 4)
		return RECIPIENT_DEFERRED;
	return recipient->final.code / 100 == 2 ? RECIPIENT_DELIVERED
						: RECIPIENT_IN_FLIGHT;
}

int
record_read_leg(struct day_tables *tables, int64_t row, struct arena *arena,
    struct message_record *record_r)
{
	struct delivery_event *event;
	int found;

	memset(record_r, 0, sizeof(*record_r));
	record_r->legs = arena_alloc(arena, sizeof(*record_r->legs));
	if (record_r->legs == NULL)
		return -1;
	found = leg_row_read(tables, row, NULL, arena, record_r->legs);
	if (found != 1)
		return found;
	record_r->leg_count = 1;
	event = &record_r->legs[0].event;
	record_r->recipients = arena_alloc(
	    arena, event->recipient_count * sizeof(*record_r->recipients));
	if (record_r->recipients == NULL)
		return -1;
	record_r->recipient_count = event->recipient_count;
	for (size_t i = 0; i < event->recipient_count; i++)
		record_r->recipients[i] = (struct recipient_record){
		    .address = event->recipients[i].address,
		    .state = record_state_by_reply(&event->recipients[i]),
		    .attempts = 1,
		    .leg_recipient = (int)i};
	return 1;
}

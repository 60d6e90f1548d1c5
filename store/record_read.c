/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts messages together for queries, within one read transaction of theirs.
 */
#include "store/record_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/leg_row.h"
#include "store/message_row.h"
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

/* The legs of a message, in the order they began. */
static int
read_legs(struct day_tables *tables, int64_t message_row, struct arena *arena,
    struct message_record *record, struct placed_leg **placed_r)
{
	const struct message_brief message = {.id = record->event.id,
	    .mail_at = record->event.mail_at,
	    .queue_id = record->event.queue_id,
	    .message_id = record->event.message_id,
	    .sender = record->event.sender};
	struct statement *rows =
	    database_statement(tables->database, SQL_LEGS_OF_MESSAGE);
	struct placed_leg *placed = NULL;
	size_t count = 0;
	int found = 1;

	bind_integer(rows, message_row);
	while (found == 1 && statement_step(rows) == 1) {
		struct placed_leg *leg =
		    arena_append(arena, &placed, &count, sizeof(*leg));

		if (leg == NULL)
			break;
		leg->row = column_integer(rows, 0);
		found =
		    leg_row_read(tables, leg->row, &message, arena, &leg->leg);
	}
	statement_end(rows);
	if (found != 1 || arena_failed(arena))
		return -1;
	if (count > 0)
		qsort(placed, count, sizeof(*placed), by_begin);
	*placed_r = placed;
	record->leg_count = count;
	return database_check(tables->database, NULL);
}

static int
copy_legs(struct message_record *record, const struct placed_leg *placed,
    struct arena *arena)
{
	record->legs =
	    arena_alloc(arena, record->leg_count * sizeof(*record->legs));
	if (record->legs == NULL)
		return -1;
	for (size_t i = 0; i < record->leg_count; i++)
		record->legs[i] = placed[i].leg;
	return 0;
}

/* Which leg and which of its recipients decided; -1 where it is not there. */
static void
place_decision(const struct message_record *record,
    const struct placed_leg *placed, const struct recipient_row *row,
    struct recipient_record *recipient)
{
	const struct delivery_event *event;

	recipient->leg = recipient->leg_recipient = -1;
	for (size_t i = 0; i < record->leg_count && row->leg_row != 0; i++) {
		if (placed[i].row != row->leg_row)
			continue;
		event = &placed[i].leg.event;
		for (size_t j = 0; j < event->recipient_count; j++) {
			if (event->recipients[j].position != row->leg_position)
				continue;
			recipient->leg = (int)i;
			recipient->leg_recipient = (int)j;
			return;
		}
	}
}

static int
read_recipients(struct day_tables *tables, int64_t row,
    const struct placed_leg *placed, struct arena *arena,
    struct message_record *record)
{
	const struct recipient_owner owner = {
	    .row = row, .mail_at = record->event.mail_at};
	struct recipient_row *rows;
	size_t count;

	if (recipient_rows_read(tables, &owner, arena, &rows, &count) != 0)
		return -1;
	record->recipients =
	    arena_alloc(arena, count * sizeof(*record->recipients));
	if (record->recipients == NULL)
		return -1;
	record->recipient_count = count;
	for (size_t i = 0; i < count; i++) {
		record->recipients[i] =
		    (struct recipient_record){.address = rows[i].address,
			.state = rows[i].state,
			.expected = rows[i].expected,
			.rcpt_at = rows[i].rcpt_at,
			.reject_dsn = rows[i].reject_dsn,
			.reject_text = rows[i].reject_text,
			.attempts = rows[i].attempts};
		place_decision(
		    record, placed, &rows[i], &record->recipients[i]);
	}
	return 0;
}

int
record_read(struct day_tables *tables, int64_t row, struct arena *arena,
    struct message_record *record_r)
{
	struct placed_leg *placed = NULL;
	int found = message_row_read(tables, row, arena, record_r);

	if (found != 1)
		return found;
	if (read_legs(tables, row, arena, record_r, &placed) != 0 ||
	    copy_legs(record_r, placed, arena) != 0 ||
	    read_recipients(tables, row, placed, arena, record_r) != 0)
		return -1;
	return arena_failed(arena) ? -1 : 1;
}

static enum recipient_state
state_by_reply(const struct delivery_recipient *recipient)
{
	uint32_t code = recipient->final.code != 0 ? recipient->final.code
						   : recipient->envelope.code;

	if (code / 100 == 5)
		return RECIPIENT_BOUNCED;
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
		    .state = state_by_reply(&event->recipients[i]),
		    .attempts = 1,
		    .leg_recipient = (int)i};
	return 1;
}

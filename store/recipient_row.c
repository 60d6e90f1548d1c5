/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs and unpacks recipients. Called by the writer on the ingest thread, by
 * readers on theirs.
 */
#include "store/recipient_row.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/intern.h"
#include "store/packed.h"
#include "store/reply_row.h"

enum { IS_EXPECTED = 1, IS_REJECTED = 2 };

#define POSITION_NONE (-1)

/* While no leg decided, the column holds a number as wide as a leg's is likely
 * to be, so that the row does not grow, and full pages need not be split, when
 * it is delivered. */
#define LEG_PLACEHOLDER (1 << 24)

/* Legs are told by how many rows after the message. */
static void
bind_leg(struct statement *statement, int64_t message_row,
    const struct recipient_row *recipient)
{
	bool decided = recipient->leg_row != 0;

	bind_integer(statement,
	    decided ? recipient->leg_row - message_row : LEG_PLACEHOLDER);
	bind_integer(statement,
	    decided ? (int64_t)recipient->leg_position : POSITION_NONE);
}

/* Evidence and, in the high bits, the reason. Never 0 or 1, which would take no
 * byte, so that the row does not grow for the same reason. */
#define REASON_SHIFT 24
#define EVIDENCE_MASK ((UINT32_C(1) << REASON_SHIFT) - 1)
#define EVIDENCE_OFFSET 2

static void
bind_evidence(
    struct statement *statement, const struct recipient_row *recipient)
{
	bind_integer(statement, ((int64_t)recipient->reason << REASON_SHIFT |
				    (int64_t)recipient->evidence) +
				    EVIDENCE_OFFSET);
}

static void
get_evidence(int64_t column, struct recipient_row *recipient)
{
	uint64_t word = (uint64_t)column - EVIDENCE_OFFSET;

	recipient->evidence = word & EVIDENCE_MASK;
	recipient->reason = (enum fate_reason)(word >> REASON_SHIFT);
}

static void
write_original(struct day_tables *tables, int64_t message_row,
    const struct recipient_row *recipient)
{
	struct statement *write;
	int64_t address;

	if (recipient->original == NULL)
		return;
	address =
	    intern_string(tables->intern, INTERN_ADDRESS, recipient->original);
	write = database_statement(tables->database, SQL_ORIGINAL_WRITE);
	bind_integer(write, day_recipient_key(message_row, recipient->number));
	bind_integer(write, address);
	statement_run(write);
}

static void
pack(struct day_tables *tables, const struct stamp *mail_at,
    const struct recipient_row *recipient, struct buffer *out)
{
	struct packed_writer writer = {.out = out, .last = *mail_at};
	const struct stamp *rcpt_at = &recipient->rcpt_at;
	const struct delivery_reply reject = {
	    .enhanced = recipient->reject_dsn, .text = recipient->reject_text};
	unsigned flags = 0;

	if (recipient->expected)
		flags |= IS_EXPECTED;
	if (reject.enhanced != NULL || reject.text != NULL)
		flags |= IS_REJECTED;
	packed_put_unsigned(&writer, flags);
	packed_put_stamps(&writer, &rcpt_at, 1);
	if (flags & IS_REJECTED)
		reply_row_put(&writer, tables, &reject, recipient->address);
}

void
recipient_row_add(struct day_tables *tables,
    const struct recipient_owner *owner, const struct recipient_row *recipient)
{
	struct buffer packed = {0};
	int64_t address =
	    intern_string(tables->intern, INTERN_ADDRESS, recipient->address);
	struct statement *add;

	pack(tables, &owner->mail_at, recipient, &packed);
	add = database_statement(tables->database, SQL_RECIPIENT_ADD);
	bind_integer(add, day_recipient_key(owner->row, recipient->number));
	bind_integer(add, address);
	bind_integer(add, recipient->state);
	bind_integer(add, recipient->attempts);
	bind_leg(add, owner->row, recipient);
	bind_blob(add, packed.data, packed.size);
	bind_evidence(add, recipient);
	statement_run(add);
	buffer_free(&packed);
	write_original(tables, owner->row, recipient);
}

const char *
recipient_row_brief(struct day_tables *tables,
    const struct recipient_place *place, struct arena *arena,
    int64_t *leg_row_r)
{
	struct statement *read =
	    database_statement(tables->database, SQL_RECIPIENT_BRIEF);
	int64_t address = 0;

	*leg_row_r = 0;
	bind_integer(
	    read, day_recipient_key(place->message_row, place->number));
	if (statement_step(read) == 1) {
		address = column_integer(read, 0);
		if (column_integer(read, 2) != POSITION_NONE)
			*leg_row_r =
			    place->message_row + column_integer(read, 1);
	}
	statement_end(read);
	return intern_read(tables->intern, INTERN_ADDRESS, address, arena);
}

int64_t
recipient_row_leg(
    struct day_tables *tables, int64_t message_row, uint32_t number)
{
	struct statement *read =
	    database_statement(tables->database, SQL_RECIPIENT_LEG);
	int64_t leg_row = 0;

	bind_integer(read, day_recipient_key(message_row, number));
	if (statement_step(read) == 1)
		leg_row = message_row + column_integer(read, 0);
	statement_end(read);
	return leg_row;
}

void
recipient_row_change(struct day_tables *tables, int64_t message_row,
    const struct recipient_row *recipient)
{
	struct statement *change;

	write_original(tables, message_row, recipient);
	change = database_statement(tables->database, SQL_RECIPIENT_CHANGE);
	bind_integer(change, recipient->state);
	bind_integer(change, recipient->attempts);
	bind_leg(change, message_row, recipient);
	bind_evidence(change, recipient);
	bind_integer(change, day_recipient_key(message_row, recipient->number));
	statement_run(change);
}

static void
unpack(struct day_tables *tables, const struct stamp *mail_at,
    struct packed_reader *reader, struct arena *arena,
    struct recipient_row *recipient)
{
	struct stamp *rcpt_at = &recipient->rcpt_at;
	struct delivery_reply reject = {0};
	uint64_t flags = packed_unsigned(reader);

	reader->last = *mail_at;
	packed_stamps(reader, &rcpt_at, 1);
	recipient->expected = (flags & IS_EXPECTED) != 0;
	if (flags & IS_REJECTED)
		reply_row_get(
		    reader, tables, recipient->address, arena, &reject);
	recipient->reject_dsn = reject.enhanced;
	recipient->reject_text = reject.text;
	if (reader->failed)
		database_damaged(tables->database, "recipient");
}

/* Columns as in SQL_RECIPIENTS_READ. */
static void
read_row(struct day_tables *tables, const struct recipient_owner *owner,
    struct statement *rows, struct arena *arena,
    struct recipient_row *recipient)
{
	struct packed_reader reader = {0};
	int64_t position = column_integer(rows, 5);

	recipient->number =
	    (uint32_t)(column_integer(rows, 0) & RECIPIENT_NUMBER_MAX);
	recipient->address = intern_read(
	    tables->intern, INTERN_ADDRESS, column_integer(rows, 1), arena);
	recipient->state = (enum recipient_state)column_integer(rows, 2);
	recipient->attempts = (uint32_t)column_integer(rows, 3);
	if (position != POSITION_NONE) {
		recipient->leg_row = owner->row + column_integer(rows, 4);
		recipient->leg_position = (uint32_t)position;
	}
	get_evidence(column_integer(rows, 7), recipient);
	recipient->original = intern_read(
	    tables->intern, INTERN_ADDRESS, column_integer(rows, 8), arena);
	reader.data = column_bytes(rows, 6, &reader.size);
	unpack(tables, &owner->mail_at, &reader, arena, recipient);
}

int
recipient_rows_read(struct day_tables *tables,
    const struct recipient_owner *owner, struct arena *arena,
    struct recipient_row **recipients_r, size_t *count_r)
{
	struct statement *rows =
	    database_statement(tables->database, SQL_RECIPIENTS_READ);
	struct recipient_row *recipient;

	*recipients_r = NULL;
	*count_r = 0;
	bind_integer(rows, day_recipient_key(owner->row, 0));
	bind_integer(rows, day_recipient_key(owner->row + 1, 0));
	while (statement_step(rows) == 1) {
		recipient = arena_append(
		    arena, recipients_r, count_r, sizeof(*recipient));
		if (recipient == NULL)
			break;
		read_row(tables, owner, rows, arena, recipient);
	}
	statement_end(rows);
	if (arena_failed(arena))
		return -1;
	return database_check(tables->database, NULL);
}

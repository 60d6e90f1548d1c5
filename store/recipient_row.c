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
set_leg(int64_t message_row, const struct recipient_row *recipient,
    struct recipient_columns *columns)
{
	bool decided = recipient->leg_row != 0;

	columns->leg =
	    decided ? recipient->leg_row - message_row : LEG_PLACEHOLDER;
	columns->position =
	    decided ? (int64_t)recipient->leg_position : POSITION_NONE;
}

int64_t
recipient_columns_leg(
    const struct recipient_columns *columns, int64_t message_row)
{
	return columns->position != POSITION_NONE ? message_row + columns->leg
						  : 0;
}

/* Evidence and, in the high bits, the reason. Never 0 or 1, which would take no
 * byte, so that the row does not grow for the same reason. */
#define REASON_SHIFT 24
#define EVIDENCE_MASK ((UINT32_C(1) << REASON_SHIFT) - 1)
#define EVIDENCE_OFFSET 2

static int64_t
evidence_column(const struct recipient_row *recipient)
{
	return ((int64_t)recipient->reason << REASON_SHIFT |
		   (int64_t)recipient->evidence) +
	       EVIDENCE_OFFSET;
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
recipient_row_alter(struct day_tables *tables, int64_t message_row,
    const struct recipient_row *recipient, struct recipient_columns *columns)
{
	columns->state = recipient->state;
	columns->attempts = recipient->attempts;
	set_leg(message_row, recipient, columns);
	columns->evidence = evidence_column(recipient);
	write_original(tables, message_row, recipient);
}

void
recipient_row_make(struct day_tables *tables,
    const struct recipient_owner *owner, const struct recipient_row *recipient,
    struct arena *arena, struct recipient_columns *columns_r)
{
	struct buffer packed = {0};
	void *copy;

	pack(tables, &owner->mail_at, recipient, &packed);
	copy = arena_alloc(arena, packed.size);
	if (copy != NULL)
		memcpy(copy, packed.data, packed.size);
	*columns_r =
	    (struct recipient_columns){.address = intern_string(tables->intern,
					   INTERN_ADDRESS, recipient->address),
		.packed = copy,
		.packed_size = copy != NULL ? packed.size : 0};
	buffer_free(&packed);
	recipient_row_alter(tables, owner->row, recipient, columns_r);
}

void
recipient_row_insert(struct day_tables *tables, int64_t key,
    const struct recipient_columns *columns)
{
	struct statement *add =
	    database_statement(tables->database, SQL_RECIPIENT_ADD);

	bind_integer(add, key);
	bind_integer(add, columns->address);
	bind_integer(add, columns->state);
	bind_integer(add, columns->attempts);
	bind_integer(add, columns->leg);
	bind_integer(add, columns->position);
	bind_blob(add, columns->packed, columns->packed_size);
	bind_integer(add, columns->evidence);
	statement_run(add);
}

bool
recipient_row_update(struct day_tables *tables, int64_t key,
    const struct recipient_columns *columns)
{
	struct statement *change =
	    database_statement(tables->database, SQL_RECIPIENT_CHANGE);

	bind_integer(change, columns->state);
	bind_integer(change, columns->attempts);
	bind_integer(change, columns->leg);
	bind_integer(change, columns->position);
	bind_integer(change, columns->evidence);
	bind_integer(change, key);
	statement_run(change);
	return database_changes(tables->database) > 0;
}

/* The number of its address, 0 for no such recipient, and the leg that decided
 * it. */
static int64_t
read_brief(struct day_tables *tables, const struct recipient_place *place,
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
	return address;
}

const char *
recipient_row_brief(struct day_tables *tables,
    const struct recipient_place *place, struct arena *arena,
    int64_t *leg_row_r)
{
	int64_t address = read_brief(tables, place, leg_row_r);

	return intern_read(tables->intern, INTERN_ADDRESS, address, arena);
}

int64_t
recipient_row_address(
    struct day_tables *tables, int64_t message_row, uint32_t number)
{
	const struct recipient_place place = {message_row, number};
	int64_t leg_row;

	return read_brief(tables, &place, &leg_row);
}

int64_t
recipient_row_leg(
    struct day_tables *tables, int64_t message_row, uint32_t number)
{
	const struct recipient_place place = {message_row, number};
	int64_t leg_row;

	read_brief(tables, &place, &leg_row);
	return leg_row;
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

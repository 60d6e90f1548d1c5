/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of filings, whose names are in the dictionaries, and of sessions. Called
 * by the writer on the ingest thread, by readers on theirs.
 */
#include "store/filing_row.h"

#include <string.h>

#include "base/arena.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/hash.h"
#include "store/intern.h"
#include "store/recipient_row.h"

static enum intern_kind
name_kind(enum filing_action action)
{
	return action == FILING_STORED ? INTERN_TEXT : INTERN_ADDRESS;
}

void
filing_row_add(struct day_tables *tables, const struct recipient_place *place,
    const struct filing_record *filing)
{
	int64_t name = intern_string(
	    tables->intern, name_kind(filing->action), filing->name);
	struct statement *add =
	    database_statement(tables->database, SQL_FILING_ADD);

	bind_integer(add, day_recipient_key(place->message_row, place->number));
	bind_integer(add, filing->action);
	bind_integer(add, name);
	statement_run(add);
}

/* A row and whose it is. */
struct owned_filing {
	uint32_t number;
	struct filing_record filing;
};

static int
read_rows(struct day_tables *tables, int64_t message_row, struct arena *arena,
    struct owned_filing **rows_r, size_t *count_r)
{
	struct statement *rows =
	    database_statement(tables->database, SQL_FILINGS_READ);
	struct owned_filing *row;

	*rows_r = NULL;
	*count_r = 0;
	bind_integer(rows, day_recipient_key(message_row, 0));
	bind_integer(rows, day_recipient_key(message_row + 1, 0));
	while (statement_step(rows) == 1) {
		row = arena_append(arena, rows_r, count_r, sizeof(*row));
		if (row == NULL)
			break;
		row->number =
		    (uint32_t)(column_integer(rows, 0) & RECIPIENT_NUMBER_MAX);
		row->filing.action =
		    (enum filing_action)column_integer(rows, 1);
		row->filing.name =
		    intern_read(tables->intern, name_kind(row->filing.action),
			column_integer(rows, 2), arena);
	}
	statement_end(rows);
	if (arena_failed(arena))
		return -1;
	return database_check(tables->database, NULL);
}

int
filing_rows_read(struct day_tables *tables, int64_t message_row,
    struct arena *arena, struct recipient_record *recipients, size_t count)
{
	struct owned_filing *rows;
	struct filing_record *filings;
	size_t row_count;

	if (read_rows(tables, message_row, arena, &rows, &row_count) != 0)
		return -1;
	filings = arena_alloc(arena, row_count * sizeof(*filings));
	if (filings == NULL)
		return -1;
	for (size_t i = 0; i < row_count; i++) {
		struct recipient_record *owner;

		if (rows[i].number >= count) {
			database_damaged(tables->database, "filing");
			return -1;
		}
		owner = &recipients[rows[i].number];
		filings[i] = rows[i].filing;
		if (owner->filing_count++ == 0)
			owner->filings = &filings[i];
	}
	return 0;
}

void
session_row_add(struct day_tables *tables, const struct recipient_place *place,
    const char *session)
{
	struct statement *add =
	    database_statement(tables->database, SQL_SESSION_ADD);

	bind_integer(add, hash_for_key(session, strlen(session)));
	bind_integer(add, day_recipient_key(place->message_row, place->number));
	statement_run(add);
}

int
session_rows_find(struct day_tables *tables, const char *session,
    struct arena *arena, struct recipient_place **places_r, size_t *count_r)
{
	struct statement *rows =
	    database_statement(tables->database, SQL_SESSION_FIND);
	struct recipient_place *place;

	*places_r = NULL;
	*count_r = 0;
	bind_integer(rows, hash_for_key(session, strlen(session)));
	while (statement_step(rows) == 1) {
		int64_t key = column_integer(rows, 0);

		place = arena_append(arena, places_r, count_r, sizeof(*place));
		if (place == NULL)
			break;
		place->message_row = key >> RECIPIENT_BITS;
		place->number = (uint32_t)(key & RECIPIENT_NUMBER_MAX);
	}
	statement_end(rows);
	if (arena_failed(arena))
		return -1;
	return database_check(tables->database, NULL);
}

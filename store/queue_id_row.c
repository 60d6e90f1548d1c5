/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of further queue ids, of which few messages have any. Called by the
 * writer on the ingest thread, by readers on theirs.
 */
#include "store/queue_id_row.h"

#include <string.h>

#include "base/arena.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/hash.h"

void
queue_id_row_add(struct day_tables *tables, int64_t message_row,
    const struct queue_id_claim *claim)
{
	struct statement *add =
	    database_statement(tables->database, SQL_QUEUE_ID_ADD);

	bind_integer(add, message_row);
	bind_string(add, claim->instance != NULL ? claim->instance : "");
	bind_string(add, claim->queue_id);
	bind_integer(
	    add, hash_for_index(claim->queue_id, strlen(claim->queue_id)));
	bind_integer(add, claim->since_wall_ns);
	statement_run(add);
}

bool
queue_id_rows_are_there(struct day_tables *tables)
{
	struct statement *any =
	    database_statement(tables->database, SQL_QUEUE_ID_ANY);
	bool found = statement_step(any) == 1;

	statement_end(any);
	return found;
}

/* Columns from `column` on: instance, queue id, since. */
static void
read_claim(struct statement *rows, int column, struct arena *arena,
    struct queue_id_claim *claim)
{
	claim->instance = column_string(rows, column, arena);
	claim->queue_id = column_string(rows, column + 1, arena);
	claim->since_wall_ns = column_integer(rows, column + 2);
}

static int
end(struct day_tables *tables, struct statement *rows, struct arena *arena)
{
	statement_end(rows);
	if (arena_failed(arena))
		return -1;
	return database_check(tables->database, NULL);
}

int
queue_id_rows_read(struct day_tables *tables, int64_t message_row,
    struct arena *arena, struct queue_id_claim **claims_r, size_t *count_r)
{
	struct statement *rows =
	    database_statement(tables->database, SQL_QUEUE_IDS_READ);
	struct queue_id_claim *claim;

	*claims_r = NULL;
	*count_r = 0;
	bind_integer(rows, message_row);
	while (statement_step(rows) == 1) {
		claim = arena_append(arena, claims_r, count_r, sizeof(*claim));
		if (claim == NULL)
			break;
		read_claim(rows, 0, arena, claim);
	}
	return end(tables, rows, arena);
}

int
queue_id_rows_find(struct day_tables *tables, const char *queue_id,
    struct arena *arena, struct queue_id_row **rows_r, size_t *count_r)
{
	struct statement *rows =
	    database_statement(tables->database, SQL_QUEUE_ID_FIND);
	struct queue_id_row *row;

	*rows_r = NULL;
	*count_r = 0;
	bind_integer(rows, hash_for_index(queue_id, strlen(queue_id)));
	while (statement_step(rows) == 1) {
		row = arena_append(arena, rows_r, count_r, sizeof(*row));
		if (row == NULL)
			break;
		row->message_row = column_integer(rows, 0);
		read_claim(rows, 1, arena, &row->claim);
	}
	return end(tables, rows, arena);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of operations, of which hardly any message has one. Called by the writer
 * on the ingest thread, by readers on theirs.
 */
#include "store/operation_row.h"

#include "base/arena.h"
#include "store/database.h"
#include "store/day_tables.h"

void
operation_row_add(struct day_tables *tables, int64_t message_row,
    const struct operation_event *operation)
{
	struct statement *add =
	    database_statement(tables->database, SQL_OPERATION_ADD);

	bind_integer(add, message_row);
	bind_integer(add, operation->at.wall_ns);
	bind_integer(add, operation->kind);
	bind_string(add, operation->who);
	bind_string(add, operation->comment);
	statement_run(add);
}

int
operation_rows_read(struct day_tables *tables, int64_t message_row,
    struct arena *arena, struct operation_record **operations_r,
    size_t *count_r)
{
	struct statement *rows =
	    database_statement(tables->database, SQL_OPERATIONS_READ);
	struct operation_record *operation;

	*operations_r = NULL;
	*count_r = 0;
	bind_integer(rows, message_row);
	while (statement_step(rows) == 1) {
		operation = arena_append(
		    arena, operations_r, count_r, sizeof(*operation));
		if (operation == NULL)
			break;
		*operation = (struct operation_record){
		    .wall_ns = column_integer(rows, 0),
		    .kind = (enum operation_kind)column_integer(rows, 1),
		    .who = column_string(rows, 2, arena),
		    .comment = column_string(rows, 3, arena),
		};
	}
	statement_end(rows);
	if (arena_failed(arena))
		return -1;
	return database_check(tables->database, NULL);
}

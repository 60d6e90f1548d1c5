/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads control.db. Called by the command line. */
#include "store/query_note.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/layout.h"
#include "store/reader_private.h"
#include "store/schema_control.h"

static int
read_note(struct database *database, const char *name, struct arena *arena,
    const char **text_r)
{
	struct statement *read = database_statement(database, SQL_NOTE_READ);
	const void *data;
	size_t size;
	int found;

	bind_string(read, name);
	found = statement_step(read);
	if (found == 1) {
		data = column_bytes(read, 0, &size);
		*text_r = arena_string_sized(
		    arena, size > 0 ? data : (const void *)"", size);
	}
	statement_end(read);
	return found;
}

int
store_note(struct store_reader *reader, const char *name, struct arena *arena,
    const char **text_r, struct reason *reason)
{
	char *path = layout_path(reader->directory, "control.db");
	enum database_failure failure;
	struct database *database;
	int found = 0;

	*text_r = NULL;
	if (layout_identify(path).inode != 0) {
		database = database_open(path, DATABASE_READ, control_sql,
		    CONTROL_STATEMENTS, &failure, reason);
		found = database == NULL
			    ? -1
			    : read_note(database, name, arena, text_r);
		if (database != NULL && database_check(database, reason) != 0)
			found = -1;
		database_close(&database);
	}
	free(path);
	return found;
}

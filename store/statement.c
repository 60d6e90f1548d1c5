/* SPDX-License-Identifier: BSD-2-Clause */
/* What is often done with statements, made of the rest of database.h. */
#include "store/database.h"

#include <string.h>

#include "base/arena.h"

void
bind_string(struct statement *statement, const char *text)
{
	bind_text(statement, text, text != NULL ? strlen(text) : 0);
}

int
statement_run(struct statement *statement)
{
	int result = statement_step(statement);

	if (result == 1)
		statement_end(statement);
	return result < 0 ? -1 : 0;
}

char *
column_string(struct statement *statement, int column, struct arena *arena)
{
	size_t size;
	const void *data;

	if (column_is_null(statement, column))
		return NULL;
	data = column_bytes(statement, column, &size);
	return arena_string_sized(arena, size > 0 ? data : "", size);
}

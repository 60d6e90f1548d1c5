/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of positions: a handful of sources, so searched from the front. Called
 * on the ingest thread.
 */
#include "store/positions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/database.h"

static struct named_position *
find(const struct positions *positions, const char *source)
{
	for (size_t i = 0; i < positions->count; i++) {
		if (strcmp(positions->items[i].source, source) == 0)
			return &positions->items[i];
	}
	return NULL;
}

struct journal_position
positions_get(const struct positions *positions, const char *source)
{
	const struct named_position *found = find(positions, source);

	return found != NULL ? found->position : (struct journal_position){0};
}

struct journal_position
positions_further(const struct positions *positions, const char *source,
    struct journal_position position)
{
	struct journal_position known = positions_get(positions, source);

	return journal_position_compare(known, position) > 0 ? known : position;
}

void
positions_raise(struct positions *positions, const char *source,
    struct journal_position position)
{
	struct named_position *item = find(positions, source);

	if (item == NULL) {
		positions->items = memory_resize(positions->items,
		    positions->count + 1, sizeof(*positions->items));
		item = &positions->items[positions->count++];
		item->source = memory_string(source);
		item->position = position;
	} else if (journal_position_compare(item->position, position) < 0) {
		item->position = position;
	}
}

void
positions_raise_all(struct positions *positions, const struct positions *from)
{
	for (size_t i = 0; i < from->count; i++)
		positions_raise(
		    positions, from->items[i].source, from->items[i].position);
}

void
positions_read(
    struct positions *positions, struct database *database, unsigned read)
{
	struct statement *rows = database_statement(database, read);
	const void *text;
	char *source;
	size_t size;

	while (statement_step(rows) == 1) {
		struct journal_position position = {
		    .segment = (uint64_t)column_integer(rows, 1),
		    .offset = (uint64_t)column_integer(rows, 2)};

		text = column_bytes(rows, 0, &size);
		source = memory_format(
		    "%.*s", (int)size, size > 0 ? (const char *)text : "");
		positions_raise(positions, source, position);
		free(source);
	}
	statement_end(rows);
}

void
position_write(struct database *database, unsigned write, const char *source,
    struct journal_position position)
{
	struct statement *statement = database_statement(database, write);

	bind_string(statement, source);
	bind_integer(statement, (int64_t)position.segment);
	bind_integer(statement, (int64_t)position.offset);
	statement_run(statement);
}

void
positions_clear(struct positions *positions)
{
	for (size_t i = 0; i < positions->count; i++)
		free(positions->items[i].source);
	free(positions->items);
	memset(positions, 0, sizeof(*positions));
}

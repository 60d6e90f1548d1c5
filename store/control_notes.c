/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by control.c on the ingest thread. */
#include "store/control_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/database.h"
#include "store/schema_control.h"

static struct control_note *
find(const struct control_notes *notes, const char *name)
{
	for (size_t i = 0; i < notes->count; i++)
		if (strcmp(notes->items[i].name, name) == 0)
			return &notes->items[i];
	return NULL;
}

const struct control_note *
control_notes_find(const struct control_notes *notes, const char *name)
{
	return find(notes, name);
}

static struct control_note *
set(struct control_notes *notes, const char *name, const struct buffer *value)
{
	struct control_note *note = find(notes, name);

	if (note == NULL) {
		notes->items = memory_resize(
		    notes->items, notes->count + 1, sizeof(*notes->items));
		note = &notes->items[notes->count++];
		*note = (struct control_note){.name = memory_string(name)};
	}
	buffer_clear(&note->value);
	buffer_append(&note->value, value->data, value->size);
	return note;
}

void
control_notes_set(
    struct control_notes *notes, const char *name, const struct buffer *value)
{
	set(notes, name, value)->is_due = false;
}

void
control_notes_set_due(
    struct control_notes *notes, const char *name, const struct buffer *value)
{
	set(notes, name, value)->is_due = true;
}

static void
take_row(struct control_notes *notes, struct statement *rows)
{
	struct buffer value = {.data = NULL};
	size_t size;
	const void *bytes = column_bytes(rows, 0, &size);
	char *name = memory_format(
	    "%.*s", (int)size, size > 0 ? (const char *)bytes : "");

	bytes = column_bytes(rows, 1, &size);
	buffer_append(&value, bytes, size);
	control_notes_set(notes, name, &value);
	buffer_free(&value);
	free(name);
}

void
control_notes_read(struct control_notes *notes, struct database *database)
{
	struct statement *rows = database_statement(database, SQL_NOTES_READ);

	while (statement_step(rows) == 1)
		take_row(notes, rows);
	statement_end(rows);
}

void
control_note_put(
    struct database *database, const char *name, const struct buffer *value)
{
	struct statement *write = database_statement(database, SQL_NOTE_WRITE);

	bind_string(write, name);
	bind_blob(write, value->size > 0 ? value->data : (const void *)"",
	    value->size);
	statement_run(write);
}

void
control_notes_put(const struct control_notes *notes, struct database *database)
{
	for (size_t i = 0; i < notes->count; i++)
		control_note_put(
		    database, notes->items[i].name, &notes->items[i].value);
}

void
control_notes_put_due(
    const struct control_notes *notes, struct database *database)
{
	for (size_t i = 0; i < notes->count; i++)
		if (notes->items[i].is_due)
			control_note_put(database, notes->items[i].name,
			    &notes->items[i].value);
}

void
control_notes_are_written(struct control_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		notes->items[i].is_due = false;
}

void
control_notes_clear(struct control_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++) {
		free(notes->items[i].name);
		buffer_free(&notes->items[i].value);
	}
	free(notes->items);
	*notes = (struct control_notes){NULL, 0};
}

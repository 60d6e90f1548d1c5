/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_notes: the notes of control.db in memory, so that they outlive the
 * file. A zeroed struct is an empty list. Belongs to one thread.
 */
#ifndef STORE_CONTROL_NOTES_H
#define STORE_CONTROL_NOTES_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

struct database;

struct control_notes {
	struct control_note {
		char *name;
		struct buffer value;
		bool is_due; /* not written yet */
	} * items;
	size_t count;
};

/* NULL when there is none. */
const struct control_note *control_notes_find(
    const struct control_notes *notes, const char *name);

/* Copies the value, in place of an older one. */
void control_notes_set(
    struct control_notes *notes, const char *name, const struct buffer *value);

/* The same for one that control_notes_put_due() is to write. */
void control_notes_set_due(
    struct control_notes *notes, const char *name, const struct buffer *value);

/* Adds those of the file; failures stick to the connection. */
void control_notes_read(struct control_notes *notes, struct database *database);

/* Writes one, all, or those that are due, in a transaction of the caller's. */
void control_note_put(
    struct database *database, const char *name, const struct buffer *value);
void control_notes_put(
    const struct control_notes *notes, struct database *database);

void control_notes_put_due(
    const struct control_notes *notes, struct database *database);

/* After its commit. */
void control_notes_are_written(struct control_notes *notes);

void control_notes_clear(struct control_notes *notes);

#endif

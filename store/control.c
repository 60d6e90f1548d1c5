/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps control.db. Called by store.c on the ingest thread.
 *
 * Bounds, and the notes that go with them, are not synced at each commit: being
 * behind is harmless, and the day files are always ahead of them, but for what
 * a power cut took of the files. Other notes are rare, and synced. All are kept
 * in memory, too: a file that others remove or damage is made anew from there.
 */
#include "store/control.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/control_notes.h"
#include "store/database.h"
#include "store/layout.h"
#include "store/positions.h"
#include "store/positions_note.h"
#include "store/schema.h"
#include "store/schema_control.h"
#include "store/store.h"

/* Its log is begun anew by the ingest thread itself at this size, and after
 * another part of it when somebody was reading. */
#define LOG_PAGES_MAX 1000
#define AGAIN_PAGES (LOG_PAGES_MAX / 8)
/* Commits shall not wait for bounds, which may lag behind. */
#define BOUNDS_PATIENCE_MS 20
/* The boot in which the file was written, and bounds for others. */
#define NOTE_BOOT "boot"
#define NOTE_SYNCED "synced"
#define NOTE_PATIENCE_MS 5000

struct control {
	char *path;
	struct database *database; /* NULL: it could not be opened */
	struct layout_identity identity;
	struct positions bounds, synced;
	bool is_of_other_boot;
	struct control_notes notes;
	int next_pages; /* at which its log is begun anew */
	bool is_failing; /* bounds could not be written; it is told */
	uint64_t replaced, set_aside;
};

static int
adopt(struct control *control, struct reason *reason)
{
	enum schema_state state = SCHEMA_CURRENT;

	if (database_set_up_writer(control->database, false) == 0 &&
	    schema_inspect(control->database, &state) == 0) {
		if (state == SCHEMA_EMPTY)
			schema_create(control->database, SCHEMA_CONTROL);
		else if (state == SCHEMA_OLDER)
			schema_upgrade(control->database, SCHEMA_CONTROL);
	}
	if (state == SCHEMA_NEWER)
		return reason_set(reason,
		    "%s: written by a newer version of postlag", control->path);
	if (state == SCHEMA_FOREIGN)
		database_damaged(control->database, "file: not one of ours");
	return database_check(control->database, reason);
}

/* Returns 0, or -1 with *failure_r and a reason. */
static int
open_file(struct control *control, struct positions *bounds,
    enum database_failure *failure_r, struct reason *reason)
{
	struct layout_identity found = layout_identify(control->path);

	*failure_r = DATABASE_FAILED;
	if (found.inode == 0 && layout_create(control->path, reason) != 0)
		return -1;
	control->database = database_open(control->path, DATABASE_WRITE,
	    control_sql, CONTROL_STATEMENTS, failure_r, reason);
	if (control->database == NULL || adopt(control, reason) != 0) {
		if (control->database != NULL)
			*failure_r = database_failure(control->database);
		return -1;
	}
	if (bounds != NULL) {
		positions_read(bounds, control->database, SQL_BOUNDS_READ);
		control_notes_read(&control->notes, control->database);
	}
	control->identity = layout_identify_all(control->path);
	*failure_r = database_failure(control->database);
	return database_check(control->database, reason);
}

static int
set_aside(struct control *control, struct reason *reason)
{
	log_error("file=%s reason=damaged, set aside", control->path);
	database_close(&control->database);
	control->set_aside++;
	return layout_set_aside(control->path, reason);
}

/* What it holds is added to `bounds` and the notes unless `bounds` is NULL.
 * Returns 0, or -1: it is closed then. */
static int
open_or_replace(
    struct control *control, struct positions *bounds, struct reason *reason)
{
	enum database_failure failure;
	int result = open_file(control, bounds, &failure, reason);

	if (result != 0 && failure == DATABASE_DAMAGED) {
		result = set_aside(control, reason);
		if (result == 0)
			result = open_file(control, bounds, &failure, reason);
	}
	if (result != 0)
		database_close(&control->database);
	return result;
}

/* An older version's file has no boot: it waited for the disk. */
static void
compare_boots(struct control *control)
{
	const struct control_note *note =
	    control_notes_find(&control->notes, NOTE_BOOT);
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
	struct buffer now = {.data = NULL};
	bool is_known = clock_boot_id(boot_id) == 0;

	buffer_append(&now, boot_id, sizeof(boot_id));
	control->is_of_other_boot =
	    note != NULL &&
	    !(is_known && note->value.size == now.size &&
		memcmp(note->value.data, now.data, now.size) == 0);
	control_notes_set_due(&control->notes, NOTE_BOOT, &now);
	buffer_free(&now);
}

/* Goes back to what the disk had for certain. */
static void
lower_bounds(struct control *control)
{
	const struct control_note *note =
	    control_notes_find(&control->notes, NOTE_SYNCED);

	for (size_t i = 0; i < control->bounds.count; i++)
		control->bounds.items[i].position =
		    (struct journal_position){0};
	if (note != NULL)
		positions_note_read(&control->bounds, &note->value);
}

struct control *
control_open(const char *directory, struct reason *reason)
{
	struct control *control = memory_zeroed(1, sizeof(*control));

	control->path = layout_path(directory, "control.db");
	if (open_or_replace(control, &control->bounds, reason) != 0) {
		control_close(&control);
		return NULL;
	}
	compare_boots(control);
	if (control->is_of_other_boot)
		lower_bounds(control);
	database_begin_log_anew(control->database);
	return control;
}

bool
control_is_of_other_boot(const struct control *control)
{
	return control->is_of_other_boot;
}

const struct positions *
control_bounds(const struct control *control)
{
	return &control->bounds;
}

struct journal_position
control_synced_bound(const struct control *control, const char *source)
{
	return positions_get(&control->synced, source);
}

struct journal_position
control_bound(const struct control *control, const char *source)
{
	return positions_get(&control->bounds, source);
}

static void
put_bounds(const struct control *control)
{
	for (size_t i = 0; i < control->bounds.count; i++)
		position_write(control->database, SQL_BOUND_WRITE,
		    control->bounds.items[i].source,
		    control->bounds.items[i].position);
}

/* Ends the transaction. A file that turned out to be damaged is set aside. */
static int
finish(struct control *control, struct reason *reason)
{
	struct database *database = control->database;
	struct reason why;

	database_commit(database);
	if (database_check(database, reason) == 0)
		return 0;
	if (database_failure(database) != DATABASE_DAMAGED)
		database_rollback(database);
	else if (set_aside(control, &why) != 0)
		log_error("reason=%s", why.text);
	return -1;
}

/* Writes everything to a file that others may have put there. */
static int
make_anew(struct control *control, struct reason *reason)
{
	if (open_or_replace(control, NULL, reason) != 0)
		return -1;
	database_begin_write(control->database);
	put_bounds(control);
	control_notes_put(&control->notes, control->database);
	return finish(control, reason);
}

/* Has the file open that stands at the path, with everything in it. */
static int
make_sure(struct control *control, struct reason *reason)
{
	struct layout_identity now = layout_identify_all(control->path);
	enum layout_change change = layout_compare(&control->identity, &now);

	if (control->database != NULL && change == LAYOUT_SAME) {
		control->identity = now;
		return 0;
	}
	if (control->database != NULL) {
		log_error("file=%s reason=\"%s\"", control->path,
		    layout_change_text(change));
		control->replaced++;
		database_close(&control->database);
	}
	return make_anew(control, reason);
}

static int
write_bounds(struct control *control, struct reason *reason)
{
	if (make_sure(control, reason) != 0)
		return -1;
	database_set_patience(control->database, BOUNDS_PATIENCE_MS);
	database_begin_write(control->database);
	put_bounds(control);
	control_notes_put_due(&control->notes, control->database);
	if (finish(control, reason) != 0)
		return -1;
	control_notes_are_written(&control->notes);
	return 0;
}

void
control_raise(struct control *control, const struct source_position *positions,
    size_t count)
{
	for (size_t i = 0; i < count; i++)
		positions_raise(&control->bounds, positions[i].source,
		    positions[i].position);
	control_write(control);
}

void
control_raise_synced(struct control *control, const struct positions *synced)
{
	struct buffer note = {.data = NULL};

	positions_raise_all(&control->synced, synced);
	positions_note_write(&control->synced, &note);
	control_notes_set_due(&control->notes, NOTE_SYNCED, &note);
	buffer_free(&note);
	control_write(control);
}

void
control_write(struct control *control)
{
	struct reason reason;
	bool was_failing = control->is_failing;

	control->is_failing = write_bounds(control, &reason) != 0;
	if (control->is_failing && !was_failing)
		log_error("reason=\"%s\"", reason.text);
	else if (was_failing && !control->is_failing)
		log_info("file=%s state=\"written again\"", control->path);
}

void
control_note_keep(
    struct control *control, const char *name, const struct buffer *value)
{
	control_notes_set_due(&control->notes, name, value);
}

/* This commit alone waits for the disk. */
int
control_note_write(struct control *control, const char *name,
    const struct buffer *value, struct reason *reason)
{
	int result;

	if (make_sure(control, reason) != 0)
		return -1;
	database_set_patience(control->database, NOTE_PATIENCE_MS);
	database_execute(control->database,
	    "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON");
	database_begin_write(control->database);
	control_note_put(control->database, name, value);
	result = finish(control, reason);
	if (result == 0)
		control_notes_set(&control->notes, name, value);
	if (control->database != NULL)
		database_execute(
		    control->database, "PRAGMA synchronous = NORMAL");
	return result;
}

bool
control_shorten_log(struct control *control)
{
	int pages = control->database != NULL
			? database_wal_pages(control->database)
			: 0;

	if (pages < LOG_PAGES_MAX)
		control->next_pages = LOG_PAGES_MAX;
	if (pages < control->next_pages)
		return false;
	database_begin_log_anew(control->database);
	control->next_pages = pages + AGAIN_PAGES;
	return true;
}

int
control_empty_log(struct control *control)
{
	if (control->database == NULL ||
	    database_checkpoint(control->database, true) != 0)
		return -1;
	database_begin_log_anew(control->database);
	return 0;
}

bool
control_note_read(
    const struct control *control, const char *name, struct buffer *value_r)
{
	const struct control_note *note =
	    control_notes_find(&control->notes, name);

	if (note != NULL)
		buffer_append(value_r, note->value.data, note->value.size);
	return note != NULL;
}

uint64_t
control_figures(const struct control *control, uint64_t *replaced_r)
{
	*replaced_r = control->replaced;
	return control->set_aside;
}

void
control_leave(struct control *control)
{
	database_close(&control->database);
}

void
control_close(struct control **control)
{
	if (*control == NULL)
		return;
	if ((*control)->database != NULL)
		database_checkpoint((*control)->database, true);
	database_close(&(*control)->database);
	positions_clear(&(*control)->bounds);
	positions_clear(&(*control)->synced);
	control_notes_clear(&(*control)->notes);
	free((*control)->path);
	free(*control);
	*control = NULL;
}

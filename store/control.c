/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps control.db. Called by store.c on the ingest thread.
 *
 * Bounds are not synced at each commit: being behind is harmless, and the day
 * files are always ahead of them. Notes are rare, and synced.
 */
#include "store/control.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/layout.h"
#include "store/positions.h"
#include "store/schema.h"
#include "store/store.h"

/* Its log is copied by the ingest thread itself at this size: a moment's work,
 * and never synced at commits. */
#define LOG_PAGES_MAX 1000

struct control {
	char *path;
	struct database *database;
	struct positions bounds;
};

/* Returns 0, or -1 with *failure_r and a reason. */
static int
open_file(struct control *control, enum database_failure *failure_r,
    struct reason *reason)
{
	struct layout_identity found = layout_identify(control->path);
	enum schema_state state = SCHEMA_CURRENT;

	*failure_r = DATABASE_FAILED;
	if (found.inode == 0 && layout_create(control->path, reason) != 0)
		return -1;
	control->database = database_open(control->path, DATABASE_WRITE,
	    control_sql, CONTROL_STATEMENTS, failure_r, reason);
	if (control->database == NULL)
		return -1;
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
	positions_read(&control->bounds, control->database, SQL_BOUNDS_READ);
	*failure_r = database_failure(control->database);
	return database_check(control->database, reason);
}

struct control *
control_open(const char *directory, struct reason *reason)
{
	struct control *control = memory_zeroed(1, sizeof(*control));
	enum database_failure failure;
	int result;

	control->path = layout_path(directory, "control.db");
	result = open_file(control, &failure, reason);
	if (result != 0 && failure == DATABASE_DAMAGED) {
		log_error("file=%s reason=damaged, set aside", control->path);
		database_close(&control->database);
		positions_clear(&control->bounds);
		result = layout_set_aside(control->path, reason);
		if (result == 0)
			result = open_file(control, &failure, reason);
	}
	if (result != 0)
		control_close(&control);
	return control;
}

struct journal_position
control_bound(const struct control *control, const char *source)
{
	return positions_get(&control->bounds, source);
}

void
control_raise(struct control *control, const struct source_position *positions,
    size_t count)
{
	struct database *database = control->database;
	struct reason reason;

	if (count == 0)
		return;
	database_begin_write(database);
	for (size_t i = 0; i < count; i++) {
		positions_raise(&control->bounds, positions[i].source,
		    positions[i].position);
		position_write(database, SQL_BOUND_WRITE, positions[i].source,
		    control_bound(control, positions[i].source));
	}
	database_commit(database);
	if (database_check(database, &reason) != 0) {
		log_warn("reason=%s", reason.text);
		database_rollback(database);
	}
	if (database_wal_pages(database) > LOG_PAGES_MAX)
		database_checkpoint(database, false);
}

/* This commit alone waits for the disk. */
int
control_note_write(struct control *control, const char *name,
    const struct buffer *value, struct reason *reason)
{
	struct database *database = control->database;
	struct statement *statement;
	int result;

	database_execute(
	    database, "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON");
	database_begin_write(database);
	statement = database_statement(database, SQL_NOTE_WRITE);
	bind_string(statement, name);
	bind_blob(statement, value->size > 0 ? value->data : (const void *)"",
	    value->size);
	statement_run(statement);
	database_commit(database);
	result = database_check(database, reason);
	if (result != 0)
		database_rollback(database);
	database_execute(database, "PRAGMA synchronous = NORMAL");
	return result;
}

int
control_empty_log(struct control *control)
{
	return database_checkpoint(control->database, true);
}

int
control_note_read(struct control *control, const char *name,
    struct buffer *value_r, struct reason *reason)
{
	struct statement *statement =
	    database_statement(control->database, SQL_NOTE_READ);
	const void *data;
	size_t size;
	int found;

	bind_string(statement, name);
	found = statement_step(statement);
	if (found == 1) {
		data = column_bytes(statement, 0, &size);
		buffer_append(value_r, data, size);
		statement_end(statement);
	}
	if (database_check(control->database, reason) != 0) {
		database_rollback(control->database);
		return -1;
	}
	return found;
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
	free((*control)->path);
	free(*control);
	*control = NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A day file's life under its writer: created, opened, written in transactions,
 * found damaged, closed. Called by store.c and day_write.c on the ingest
 * thread.
 */
#include "store/day_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/day_file_others.h"
#include "store/day_outcomes.h"
#include "store/day_totals.h"
#include "store/feed.h"
#include "store/intern.h"
#include "store/queue_id_row.h"
#include "store/schema.h"
#include "store/store.h"
#include "store/unwritten.h"

/* What one look at a message takes at most. */
#define SCRATCH_BYTES (1 << 20)

struct day_file *
day_file_new(
    const char *directory, int64_t day, const struct totals_names *names)
{
	struct day_file *file = memory_zeroed(1, sizeof(*file));

	file->day = day;
	file->path = layout_day_path(directory, day);
	if (day != LAYOUT_ODD)
		file->tables.start.wall_ns = day * CLOCK_NS_PER_DAY;
	file->totals = day_totals_new(names);
	file->outcomes = day_outcomes_new();
	file->unwritten = unwritten_new();
	file->feed = feed_new();
	file->scratch = arena_new(SCRATCH_BYTES);
	if (file->scratch == NULL) {
		log_error("reason=out of memory");
		abort();
	}
	return file;
}

void
day_file_free(struct day_file **file)
{
	if (*file == NULL)
		return;
	day_file_close(*file);
	positions_clear(&(*file)->positions);
	day_totals_free(&(*file)->totals);
	day_outcomes_free(&(*file)->outcomes);
	unwritten_free(&(*file)->unwritten);
	feed_free(&(*file)->feed);
	arena_free(&(*file)->scratch);
	free((*file)->legs);
	free((*file)->path);
	free(*file);
	*file = NULL;
}

static void
disconnect(struct day_file *file)
{
	intern_free(&file->tables.intern);
	database_close(&file->tables.database);
	file->in_transaction = false;
	file->is_reading = false;
}

/* The file is not there any more. */
static void
forget(struct day_file *file)
{
	disconnect(file);
	day_totals_discard(file->totals);
	day_outcomes_discard(file->outcomes);
	unwritten_discard(file->unwritten);
	feed_clear(file->feed, false);
	file->leg_count = 0;
	positions_clear(&file->positions);
}

void
day_file_leave(struct day_file *file)
{
	if (file->tables.database != NULL)
		forget(file);
}

void
day_file_close(struct day_file *file)
{
	if (file->tables.database == NULL)
		return;
	database_checkpoint(file->tables.database, true);
	disconnect(file);
}

static void
set_aside(struct day_file *file, const char *why)
{
	struct reason reason;

	forget(file);
	file->is_suspect = false;
	file->set_aside++;
	if (layout_set_aside(file->path, &reason) == 0)
		log_error("file=%s reason=%s, set aside", file->path, why);
	else
		log_error("reason=%s", reason.text);
}

static void
verify(struct day_file *file, enum schema_state state)
{
	struct database *database = file->tables.database;
	int64_t is_sound = 0;

	if (state != SCHEMA_EMPTY)
		database_read_integer(database,
		    "SELECT quick_check = 'ok' FROM pragma_quick_check(1)",
		    &is_sound);
	if (!is_sound)
		database_damaged(database, "file");
}

/* Makes sure that it is a day file of ours. Returns 0, or -1 with *damaged_r
 * and a reason. */
static int
adopt(struct day_file *file, bool *damaged_r, struct reason *reason)
{
	struct database *database = file->tables.database;
	enum schema_state state;

	if (database_set_up_writer(database, false) == 0 &&
	    schema_inspect(database, &state) == 0) {
		if (state == SCHEMA_NEWER)
			return reason_set(reason,
			    "%s: written by a newer version of postlag",
			    file->path);
		if (state == SCHEMA_FOREIGN)
			database_damaged(database, "file: not one of ours");
		else if (state == SCHEMA_EMPTY)
			schema_create(database, SCHEMA_DAY);
		else if (state == SCHEMA_OLDER)
			schema_upgrade(database, SCHEMA_DAY);
	}
	if (file->is_suspect)
		verify(file, state);
	if (database_check(database, NULL) == 0) {
		file->tables.intern = intern_new(database);
		file->has_queue_ids = queue_id_rows_are_there(&file->tables);
		positions_clear(&file->positions);
		positions_read(&file->positions, database, SQL_POSITIONS_READ);
		day_totals_load(file->totals, &file->tables, NULL);
	}
	*damaged_r = database_failure(database) == DATABASE_DAMAGED;
	return database_check(database, reason);
}

/* Opens what stands at the path. */
static int
connect_file(struct day_file *file, bool *damaged_r, struct reason *reason)
{
	const struct layout_identity before = layout_identify(file->path);
	enum database_failure failure;

	file->tables.database = database_open(file->path, DATABASE_WRITE,
	    day_sql, DAY_STATEMENTS, &failure, reason);
	*damaged_r = failure == DATABASE_DAMAGED;
	if (file->tables.database == NULL)
		return -1;
	if (adopt(file, damaged_r, reason) != 0) {
		disconnect(file);
		return -1;
	}
	/* The log is there now. */
	file->identity = layout_identify_all(file->path);
	file->identity.device = before.device;
	file->identity.inode = before.inode;
	file->is_suspect = false;
	memset(&file->message_hint, 0, sizeof(file->message_hint));
	memset(&file->leg_hint, 0, sizeof(file->leg_hint));
	unwritten_discard(file->unwritten);
	return 0;
}

static bool
exists(const struct layout_identity *identity)
{
	return identity->inode != 0;
}

int
day_file_open(struct day_file *file, bool create, struct totals *sums,
    struct reason *reason)
{
	struct layout_identity found;
	bool damaged = false;
	struct reason why;

	if (file->tables.database != NULL)
		return 1;
	found = layout_identify(file->path);
	if (exists(&found) && connect_file(file, &damaged, &why) != 0) {
		if (!damaged)
			return reason_set(reason, "%s", why.text);
		set_aside(file, why.text);
		found.inode = 0;
	}
	if (!exists(&found)) {
		if (!create)
			return 0;
		if (layout_create(file->path, reason) != 0 ||
		    connect_file(file, &damaged, reason) != 0)
			return -1;
	}
	if (sums != NULL)
		day_totals_load(file->totals, &file->tables, sums);
	return 1;
}

static void
note_pause(struct day_file *file, int64_t start_ns)
{
	int64_t took_ns = clock_stamp().monotonic_ns - start_ns;

	if (took_ns > file->longest_pause_ns)
		file->longest_pause_ns = took_ns;
}

int
day_file_begin(struct day_file *file, bool create, struct reason *reason)
{
	bool was_closed = file->tables.database == NULL;
	int64_t start_ns;
	int opened;

	if (file->in_transaction)
		return 0;
	if (!was_closed && day_file_look_for_others(file, reason) != 0)
		return -1;
	start_ns = clock_stamp().monotonic_ns;
	opened = day_file_open(file, create, NULL, reason);
	if (opened == 0)
		return reason_set(reason, "%s: removed", file->path);
	if (opened < 0)
		return -1;
	day_file_end_read(file);
	if (database_begin_write(file->tables.database) == 1 || was_closed)
		note_pause(file, start_ns);
	file->in_transaction = true;
	file->is_sealed = false;
	if (database_check(file->tables.database, reason) == 0)
		return 0;
	day_file_rollback(file);
	/* It may have been opened beside those that only read. */
	day_file_leave(file);
	return -1;
}

void
day_file_begin_read(struct day_file *file)
{
	if (file->in_transaction || file->is_reading)
		return;
	file->is_reading = database_begin_read(file->tables.database) == 0;
}

/* A failure sticks until a rollback, which ends it, too. */
void
day_file_end_read(struct day_file *file)
{
	if (file->is_reading)
		database_commit(file->tables.database);
	file->is_reading = false;
}

static int
check_written(const struct day_file *file, int result, struct reason *reason)
{
	if (database_check(file->tables.database, reason) != 0)
		return -1;
	if (result != 0)
		return reason_set(
		    reason, "%s: no such message or recipient", file->path);
	return 0;
}

int
day_file_write_message(
    struct day_file *file, int64_t row, struct reason *reason)
{
	return check_written(file,
	    unwritten_write_message(file->unwritten, &file->tables, row),
	    reason);
}

int
day_file_write(struct day_file *file, struct reason *reason)
{
	return check_written(
	    file, unwritten_write(file->unwritten, &file->tables), reason);
}

void
day_file_note_leg(struct day_file *file, int64_t message_row, int64_t leg_row)
{
	if (file->leg_count == file->leg_capacity) {
		file->leg_capacity = 2 * file->leg_capacity + 16;
		file->legs = memory_resize(
		    file->legs, file->leg_capacity, sizeof(*file->legs));
	}
	file->legs[file->leg_count++] =
	    (struct batch_leg){.message_row = message_row, .leg_row = leg_row};
}

/* Nearly always of the last leg that was added. */
void
day_file_note_decision(struct day_file *file, int64_t leg_row)
{
	for (size_t i = file->leg_count; i-- > 0;) {
		if (file->legs[i].leg_row == leg_row) {
			file->legs[i].decided = true;
			return;
		}
	}
}

static void
write_undecided(struct day_file *file, const struct batch_leg *leg)
{
	struct statement *add;

	if (leg->decided)
		return;
	add = database_statement(file->tables.database, SQL_UNDECIDED_ADD);
	bind_integer(add, leg->message_row);
	bind_integer(add, leg->leg_row);
	statement_run(add);
}

void
day_file_forget_legs(struct day_file *file, int64_t message_row)
{
	size_t kept = 0;

	for (size_t i = 0; i < file->leg_count; i++) {
		if (file->legs[i].message_row == message_row)
			write_undecided(file, &file->legs[i]);
		else
			file->legs[kept++] = file->legs[i];
	}
	file->leg_count = kept;
}

int
day_file_commit(struct day_file *file, const struct source_position *positions,
    size_t count, struct reason *reason)
{
	struct database *database = file->tables.database;

	if (day_file_write(file, reason) != 0)
		return -1;
	for (size_t i = 0; i < file->leg_count; i++)
		write_undecided(file, &file->legs[i]);
	day_totals_write(file->totals, &file->tables);
	day_outcomes_write(file->outcomes, &file->tables);
	feed_write(file->feed, &file->tables, clock_stamp().wall_ns);
	/* A batch that is read again after a crash may end before the one that
	 * was committed then; the file has what was beyond it all the same. */
	for (size_t i = 0; i < count; i++)
		position_write(database, SQL_POSITION_WRITE,
		    positions[i].source,
		    positions_further(&file->positions, positions[i].source,
			positions[i].position));
	database_commit(database);
	if (database_check(database, reason) != 0 ||
	    day_file_look_for_removal(file, reason) != 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		positions_raise(&file->positions, positions[i].source,
		    positions[i].position);
	feed_clear(file->feed, true);
	file->leg_count = 0;
	file->in_transaction = false;
	return 0;
}

void
day_file_release_memory(struct day_file *file)
{
	struct database *database = file->tables.database;

	if (database == NULL || file->in_transaction || file->is_reading)
		return;
	database_release_memory(database);
	intern_free(&file->tables.intern);
	file->tables.intern = intern_new(database);
	unwritten_free(&file->unwritten);
	file->unwritten = unwritten_new();
}

void
day_file_rollback(struct day_file *file)
{
	struct database *database = file->tables.database;
	struct reason reason;
	bool damaged;

	day_totals_discard(file->totals);
	day_outcomes_discard(file->outcomes);
	unwritten_discard(file->unwritten);
	feed_clear(file->feed, false);
	file->leg_count = 0;
	if (database == NULL)
		return;
	damaged = database_failure(database) == DATABASE_DAMAGED;
	if (database_check(database, &reason) == 0 && !file->in_transaction) {
		day_file_end_read(file);
		return;
	}
	file->in_transaction = false;
	file->is_reading = false;
	database_rollback(database);
	intern_forget(file->tables.intern);
	memset(&file->message_hint, 0, sizeof(file->message_hint));
	memset(&file->leg_hint, 0, sizeof(file->leg_hint));
	if (damaged)
		set_aside(file, reason.text);
}

bool
day_file_has(
    struct day_file *file, const char *source, struct journal_position position)
{
	return journal_position_compare(
		   position, positions_get(&file->positions, source)) <= 0;
}

bool
day_file_is_odd(const struct day_file *file)
{
	return file->day == LAYOUT_ODD;
}

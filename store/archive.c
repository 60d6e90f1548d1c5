/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes archive.db. Called at start on the ingest thread, later by retention
 * on its own.
 */
#include "store/archive.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/archive_fold.h"
#include "store/archive_reader.h"
#include "store/database.h"
#include "store/layout.h"
#include "store/schema_archive.h"
#include "store/totals_rows.h"
#include "store/totals_writer.h"

/* How often it may go away while a day is put there. */
#define TRIES 3

struct archive {
	char *directory;
	char *path;
	struct database *database;
	struct layout_identity identity; /* of the open file */
	struct archive_trouble trouble;
	bool is_newer; /* of a later version of this program */
};

static int
adopt(struct archive *archive)
{
	struct database *database = archive->database;
	enum schema_state state = SCHEMA_CURRENT;

	if (database_set_up_writer(database, true) == 0 &&
	    schema_inspect(database, &state) == 0) {
		if (state == SCHEMA_EMPTY)
			schema_create(database, SCHEMA_ARCHIVE);
		else if (state == SCHEMA_OLDER)
			schema_upgrade(database, SCHEMA_ARCHIVE);
		else if (state == SCHEMA_FOREIGN)
			database_damaged(database, "file: not one of ours");
	}
	return state == SCHEMA_NEWER ? -1 : 0;
}

/* Returns 0, or -1 with *failure_r and a reason. */
static int
open_file(struct archive *archive, enum database_failure *failure_r,
    struct reason *reason)
{
	struct layout_identity found = layout_identify(archive->path);

	*failure_r = DATABASE_FAILED;
	if (found.inode == 0 && layout_create(archive->path, reason) != 0)
		return -1;
	archive->identity = layout_identify(archive->path);
	archive->database = database_open(archive->path, DATABASE_WRITE,
	    archive_sql, ARCHIVE_STATEMENTS, failure_r, reason);
	if (archive->database == NULL)
		return -1;
	archive->is_newer = adopt(archive) != 0;
	if (archive->is_newer)
		return reason_set(reason,
		    "%s: written by a newer version of postlag", archive->path);
	*failure_r = database_failure(archive->database);
	return database_check(archive->database, reason);
}

static int
set_aside(struct archive *archive, struct reason *reason)
{
	log_error("file=%s reason=\"damaged, set aside: what it counted stays, "
		  "its hours are gone\"",
	    archive->path);
	database_close(&archive->database);
	archive->trouble.set_aside++;
	return layout_set_aside(archive->path, reason);
}

/* A new one takes the place of one that is damaged. Returns 0, or -1: it is
 * closed then. */
static int
open_or_replace(struct archive *archive, struct reason *reason)
{
	enum database_failure failure;
	int result = open_file(archive, &failure, reason);

	if (result != 0 && failure == DATABASE_DAMAGED) {
		result = set_aside(archive, reason);
		if (result == 0)
			result = open_file(archive, &failure, reason);
	}
	if (result != 0)
		database_close(&archive->database);
	return result;
}

int
archive_open(const char *directory, bool create, struct archive **archive_r,
    struct reason *reason)
{
	struct archive *archive = memory_zeroed(1, sizeof(*archive));
	int result = 0;

	archive->directory = memory_string(directory);
	archive->path = layout_path(directory, LAYOUT_ARCHIVE);
	if (create || layout_identify(archive->path).inode != 0)
		result = open_or_replace(archive, reason);
	if (result != 0)
		result = archive->is_newer ? -1 : 1;
	if (archive->database == NULL)
		archive_close(&archive);
	*archive_r = archive;
	return result;
}

void
archive_close(struct archive **archive)
{
	if (*archive == NULL)
		return;
	if ((*archive)->database != NULL)
		database_checkpoint((*archive)->database, true);
	database_close(&(*archive)->database);
	free((*archive)->directory);
	free((*archive)->path);
	free(*archive);
	*archive = NULL;
}

static void
run_with(struct archive *archive, enum archive_sql number, int64_t day)
{
	struct statement *statement =
	    database_statement(archive->database, number);

	bind_integer(statement, day);
	statement_run(statement);
}

static void
attach(struct archive *archive, const char *path)
{
	struct statement *statement =
	    database_statement(archive->database, SQL_ARCHIVE_ATTACH);

	bind_string(statement, path);
	statement_run(statement);
}

/* Days before this one have no file. */
static int64_t
oldest_file(const struct archive *archive)
{
	int64_t *days, oldest = INT64_MIN;
	long count = layout_list(archive->directory, &days, NULL);

	while (count > 0 && days[count - 1] == LAYOUT_ODD)
		count--;
	if (count > 0)
		oldest = days[count - 1];
	free(days);
	return oldest;
}

static void
copy(struct archive *archive, int64_t day, int64_t hours_since)
{
	int64_t oldest = oldest_file(archive);

	database_begin_write(archive->database);
	for (enum archive_sql number = SQL_ARCHIVE_FORGET_COUNTERS;
	     number <= SQL_ARCHIVE_NOTE_DAY; number++)
		run_with(archive, number, day);
	run_with(archive, SQL_ARCHIVE_EXPIRE_HOURS, hours_since - 1);
	run_with(archive, SQL_ARCHIVE_EXPIRE_OUTCOMES, hours_since - 1);
	archive_fold(archive->database,
	    (oldest < hours_since ? oldest : hours_since) - 1);
	database_commit(archive->database);
}

static bool
stands_at_path(const struct archive *archive)
{
	struct layout_identity now = layout_identify(archive->path);

	return now.device == archive->identity.device &&
	       now.inode == archive->identity.inode;
}

static int
make_sure(struct archive *archive, struct reason *reason)
{
	if (archive->database != NULL && stands_at_path(archive))
		return 0;
	if (archive->database != NULL) {
		log_error("file=%s reason=\"%s\"", archive->path,
		    layout_change_text(LAYOUT_REPLACED));
		archive->trouble.replaced++;
		database_close(&archive->database);
	}
	return open_or_replace(archive, reason);
}

/* Returns 1 when the archive is gone into which it was put, or could not be. */
static int
put(struct archive *archive, const char *path, int64_t day, int64_t hours_since,
    struct reason *reason)
{
	enum database_failure failure;

	if (make_sure(archive, reason) != 0)
		return -1;
	attach(archive, path);
	copy(archive, day, hours_since);
	database_check(archive->database, reason);
	failure = database_failure(archive->database);
	database_rollback(archive->database);
	statement_run(
	    database_statement(archive->database, SQL_ARCHIVE_DETACH));
	database_rollback(archive->database);
	if (failure == DATABASE_FINE)
		return !stands_at_path(archive);
	if (failure == DATABASE_FAILED || archive_finds_damage(path))
		return -1;
	return set_aside(archive, reason) == 0 ? 1 : -1;
}

int
archive_put(struct archive *archive, int64_t day, int64_t hours_since,
    struct reason *reason)
{
	char *path = layout_day_path(archive->directory, day);
	int result = 1;

	for (int tries = 0; result == 1 && tries < TRIES; tries++)
		result = put(archive, path, day, hours_since, reason);
	if (result == 1)
		result = reason_set(reason, "%s: %s", archive->path,
		    layout_change_text(LAYOUT_REPLACED));
	free(path);
	return result;
}

bool
archive_finds_damage(const char *path)
{
	static const char read_all[] =
	    "SELECT * FROM series; SELECT * FROM counter;"
	    "SELECT * FROM total; SELECT * FROM hour;"
	    "SELECT * FROM outcome_hour;";
	enum database_failure failure;
	struct reason reason;
	struct database *file =
	    database_open(path, DATABASE_READ, NULL, 0, &failure, &reason);

	if (file != NULL) {
		database_execute(file, read_all);
		failure = database_failure(file);
	}
	database_close(&file);
	return failure == DATABASE_DAMAGED;
}

static bool
has_file(const struct archive *archive, int64_t day)
{
	char *path = layout_day_path(archive->directory, day);
	struct layout_identity found = layout_identify(path);

	free(path);
	return found.inode != 0;
}

struct archive_sums {
	const struct totals_names *names;
	uint64_t *counters;
	struct histogram_total *histograms;
};

static void
add_day(struct archive *archive, int64_t day, struct archive_sums *sums)
{
	struct statement *rows =
	    database_statement(archive->database, SQL_ARCHIVE_COUNTERS_READ);

	bind_integer(rows, day);
	totals_rows_counters(rows, sums->names, sums->counters);
	rows = database_statement(archive->database, SQL_ARCHIVE_TOTALS_READ);
	bind_integer(rows, day);
	totals_rows_histograms(rows, sums->names, sums->histograms);
}

static void
add_days(struct archive *archive, const int64_t *days, long count,
    struct totals *totals)
{
	const struct totals_names *names = totals_names(totals);
	struct archive_sums sums = {.names = names};

	sums.counters =
	    memory_zeroed(names->counter_count, sizeof(*sums.counters));
	sums.histograms =
	    memory_zeroed(names->histogram_count, sizeof(*sums.histograms));
	for (long i = 0; i < count; i++)
		if (!has_file(archive, days[i]))
			add_day(archive, days[i], &sums);
	if (database_check(archive->database, NULL) == 0) {
		totals_begin(totals);
		totals_add(totals, sums.counters, sums.histograms);
		totals_end(totals);
	}
	free(sums.counters);
	free(sums.histograms);
}

long
archive_sum_up(struct archive *archive, struct totals *sums, int64_t **days_r,
    struct reason *reason)
{
	long count = archive_reader_days(archive->database, days_r);

	if (database_check(archive->database, NULL) == 0)
		add_days(archive, *days_r, count, sums);
	if (database_check(archive->database, reason) == 0)
		return count;
	free(*days_r);
	*days_r = NULL;
	if (database_failure(archive->database) != DATABASE_DAMAGED ||
	    set_aside(archive, reason) != 0)
		return -1;
	return 0;
}

int
archive_examine(struct archive *archive, struct reason *reason)
{
	int64_t is_sound = 0;

	database_read_integer(archive->database,
	    "SELECT quick_check = 'ok' FROM pragma_quick_check(1)", &is_sound);
	if (!is_sound)
		database_damaged(archive->database, "file");
	if (database_check(archive->database, reason) == 0)
		return 0;
	return database_failure(archive->database) == DATABASE_DAMAGED
		   ? set_aside(archive, reason)
		   : -1;
}

struct archive_trouble
archive_trouble(const struct archive *archive)
{
	return archive->trouble;
}

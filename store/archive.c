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

struct archive {
	char *directory;
	char *path;
	struct database *database;
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
	archive->database = database_open(archive->path, DATABASE_WRITE,
	    archive_sql, ARCHIVE_STATEMENTS, failure_r, reason);
	if (archive->database == NULL)
		return -1;
	if (adopt(archive) != 0)
		return reason_set(reason,
		    "%s: written by a newer version of postlag", archive->path);
	*failure_r = database_failure(archive->database);
	return database_check(archive->database, reason);
}

int
archive_open(const char *directory, bool create, struct archive **archive_r,
    struct reason *reason)
{
	struct archive *archive = memory_zeroed(1, sizeof(*archive));
	enum database_failure failure;
	int result = 0;

	archive->directory = memory_string(directory);
	archive->path = layout_path(directory, LAYOUT_ARCHIVE);
	if (create || layout_identify(archive->path).inode != 0)
		result = open_file(archive, &failure, reason);
	if (result != 0 && failure == DATABASE_DAMAGED) {
		log_error("file=%s reason=\"damaged, set aside: what is "
			  "counted sinks\"",
		    archive->path);
		database_close(&archive->database);
		result = layout_set_aside(archive->path, reason);
		if (result == 0)
			result = open_file(archive, &failure, reason);
	}
	if (archive->database == NULL || result != 0)
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

int
archive_put(struct archive *archive, int64_t day, int64_t hours_since,
    struct reason *reason)
{
	char *path = layout_day_path(archive->directory, day);
	int result;

	attach(archive, path);
	copy(archive, day, hours_since);
	result = database_check(archive->database, reason);
	database_rollback(archive->database);
	statement_run(
	    database_statement(archive->database, SQL_ARCHIVE_DETACH));
	database_rollback(archive->database);
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

int
archive_sum_up(struct archive *archive, struct totals *sums,
    int64_t *newest_day_r, struct reason *reason)
{
	int64_t *days;
	long count = archive_reader_days(archive->database, &days);

	if (database_check(archive->database, NULL) == 0)
		add_days(archive, days, count, sums);
	*newest_day_r = count > 0 ? days[0] : INT64_MIN;
	free(days);
	return database_check(archive->database, reason);
}

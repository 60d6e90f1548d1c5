/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by queries on their caller's thread. */
#include "store/archive_reader.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/layout.h"
#include "store/reader_private.h"
#include "store/schema_archive.h"

static int
connect_archive(
    struct store_reader *reader, const char *path, struct reason *reason)
{
	enum database_failure failure;
	enum schema_state state;

	reader->archive = database_open(path, DATABASE_READ, archive_sql,
	    ARCHIVE_STATEMENTS, &failure, reason);
	if (reader->archive == NULL)
		return -1;
	if (schema_inspect(reader->archive, &state) != 0)
		return database_check(reader->archive, reason);
	if (state == SCHEMA_EMPTY)
		return 0;
	return state == SCHEMA_CURRENT
		   ? 1
		   : reason_set(reason, "%s: not of this version", path);
}

static int
use(struct store_reader *reader, const char *path, struct reason *reason)
{
	struct layout_identity now = layout_identify(path);
	int result = 1;

	if (now.device != reader->archive_identity.device ||
	    now.inode != reader->archive_identity.inode)
		database_close(&reader->archive);
	if (now.inode == 0)
		return 0;
	reader->archive_identity = now;
	if (reader->archive == NULL)
		result = connect_archive(reader, path, reason);
	if (result != 1)
		database_close(&reader->archive);
	return result;
}

int
archive_reader(struct store_reader *reader, struct database **archive_r,
    struct reason *reason)
{
	char *path = layout_path(reader->directory, LAYOUT_ARCHIVE);
	int result = use(reader, path, reason);

	free(path);
	*archive_r = reader->archive;
	if (result != 1)
		return result;
	database_begin_read(reader->archive);
	return database_check(reader->archive, reason) == 0 ? 1 : -1;
}

void
archive_reader_done(struct database *archive)
{
	database_rollback(archive);
}

long
archive_reader_days(struct database *archive, int64_t **days_r)
{
	struct statement *rows = database_statement(archive, SQL_ARCHIVE_DAYS);
	size_t count = 0;

	*days_r = NULL;
	while (statement_step(rows) == 1) {
		*days_r = memory_resize(*days_r, count + 1, sizeof(**days_r));
		(*days_r)[count++] = column_integer(rows, 0);
	}
	statement_end(rows);
	return (long)count;
}

struct statement *
archive_reader_hours(
    struct database *archive, const struct archive_hours *hours)
{
	struct statement *rows =
	    database_statement(archive, SQL_ARCHIVE_HOURS_READ);

	bind_integer(rows, hours->day);
	bind_integer(rows, hours->series);
	bind_integer(rows, hours->since);
	bind_integer(rows, hours->until);
	return rows;
}

struct statement *
archive_reader_outcomes(
    struct database *archive, int64_t day, int64_t since, int64_t until)
{
	struct statement *rows =
	    database_statement(archive, SQL_ARCHIVE_OUTCOMES_READ);

	bind_integer(rows, day);
	bind_integer(rows, since);
	bind_integer(rows, until);
	return rows;
}

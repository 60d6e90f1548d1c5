/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * outcome_rows: what a day file counts by minute and hour, against its rows,
 * with SQLite alone.
 */
#ifndef TESTS_LIB_OUTCOME_ROWS_H
#define TESTS_LIB_OUTCOME_ROWS_H

#include <glob.h>
#include <sqlite3.h>
#include <stdio.h>

#include "tests/lib/unit.h"

/* Each side of a comparison has what the other one has not. */
#define OUTCOME_ROWS_DIFFER(counted, rows)                                     \
	"SELECT count(*) FROM (SELECT * FROM (" counted " EXCEPT " rows        \
	") UNION ALL SELECT * FROM (" rows " EXCEPT " counted "))"
#define OUTCOME_ROWS_COUNTED(table)                                            \
	"SELECT time, state, count FROM " table " WHERE count <> 0"
#define OUTCOME_ROWS_OF(minutes)                                               \
	"SELECT min((key >> 20) / 60000000, 1439) / " minutes                  \
	", state, count(*) FROM recipient GROUP BY 1, 2"

static inline void
outcome_rows_none(sqlite3 *database, const char *path, const char *sql)
{
	sqlite3_stmt *query;

	if (sqlite3_prepare_v2(database, sql, -1, &query, NULL) != SQLITE_OK ||
	    sqlite3_step(query) != SQLITE_ROW)
		fail_msg("%s: %s", path, sqlite3_errmsg(database));
	if (sqlite3_column_int(query, 0) != 0)
		fail_msg("%s: %d counts differ: %s", path,
		    sqlite3_column_int(query, 0), sql);
	sqlite3_finalize(query);
}

static inline void
outcome_rows_check_file(const char *path)
{
	sqlite3 *database;

	assert_int_equal(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE,
			     NULL),
	    SQLITE_OK);
	outcome_rows_none(database, path,
	    OUTCOME_ROWS_DIFFER(
		OUTCOME_ROWS_COUNTED("outcome_minute"), OUTCOME_ROWS_OF("1")));
	outcome_rows_none(database, path,
	    OUTCOME_ROWS_DIFFER(
		OUTCOME_ROWS_COUNTED("outcome_hour"), OUTCOME_ROWS_OF("60")));
	sqlite3_close(database);
}

/* All day files of a store; what was committed counts. */
static inline void
outcome_rows_check(const char *directory)
{
	char pattern[4400];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/day-*.db", directory);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			outcome_rows_check_file(found.gl_pathv[i]);
	globfree(&found);
	snprintf(pattern, sizeof(pattern), "%s/odd.db", directory);
	if (glob(pattern, 0, NULL, &found) == 0)
		outcome_rows_check_file(found.gl_pathv[0]);
	globfree(&found);
}

#endif

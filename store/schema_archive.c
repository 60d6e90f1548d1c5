/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQL of archive.db. Data.
 *
 * The tables are those of day files with a day in front of each key. A day
 * whose file is there counts from its file, whatever is said of it here.
 */
#include "store/schema_archive.h"

#include <stddef.h>

/* clang-format off */
/* time: hours of the day, as in the file. */
#define OUTCOME_TABLE                                                         \
    "CREATE TABLE outcome("                                                   \
	"day INTEGER NOT NULL, time INTEGER NOT NULL,"                        \
	"state INTEGER NOT NULL, count INTEGER NOT NULL,"                     \
	"PRIMARY KEY(day, time, state)) STRICT, WITHOUT ROWID;"

const char schema_archive_tables[] =
    "CREATE TABLE day(day INTEGER PRIMARY KEY) STRICT;"
    "CREATE TABLE series("
	"id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE counter("
	"day INTEGER NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL,"
	"PRIMARY KEY(day, name)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE total("
	"day INTEGER NOT NULL, series INTEGER NOT NULL,"
	"count INTEGER NOT NULL, sum_ns INTEGER NOT NULL,"
	"buckets BLOB NOT NULL, PRIMARY KEY(day, series))"
	"STRICT, WITHOUT ROWID;"
    "CREATE TABLE hour("
	"day INTEGER NOT NULL, series INTEGER NOT NULL,"
	"time INTEGER NOT NULL, count INTEGER NOT NULL,"
	"sum_ns INTEGER NOT NULL, cells BLOB NOT NULL,"
	"PRIMARY KEY(day, series, time)) STRICT, WITHOUT ROWID;"
    OUTCOME_TABLE;
/* clang-format on */

const char *const schema_archive_upgrades[SCHEMA_VERSION + 1] = {
    [4] = OUTCOME_TABLE,
};

/* A series has one number here and another in each file. */
#define BY_NAME                                                                \
	" JOIN file.series AS theirs ON theirs.id = series"                    \
	" JOIN main.series AS ours ON ours.name = theirs.name"

#define EXPIRE(table) "DELETE FROM main." table " WHERE day > 0 AND day <= ?1"

const char *const archive_sql[ARCHIVE_STATEMENTS] = {
    [SQL_ARCHIVE_ATTACH] = "ATTACH ?1 AS file",
    [SQL_ARCHIVE_DETACH] = "DETACH file",
    [SQL_ARCHIVE_FORGET_COUNTERS] = "DELETE FROM main.counter WHERE day = ?1",
    [SQL_ARCHIVE_FORGET_TOTALS] = "DELETE FROM main.total WHERE day = ?1",
    [SQL_ARCHIVE_FORGET_HOURS] = "DELETE FROM main.hour WHERE day = ?1",
    [SQL_ARCHIVE_FORGET_OUTCOMES] = "DELETE FROM main.outcome WHERE day = ?1",
    /* Bound like the others, which all have a day. */
    [SQL_ARCHIVE_COPY_SERIES] =
	"INSERT OR IGNORE INTO main.series(name)"
	" SELECT name FROM file.series WHERE ?1 IS NOT NULL",
    [SQL_ARCHIVE_COPY_COUNTERS] = "INSERT INTO main.counter"
				  " SELECT ?1, name, value FROM file.counter",
    [SQL_ARCHIVE_COPY_TOTALS] =
	"INSERT INTO main.total SELECT ?1, ours.id, count, sum_ns, buckets"
	" FROM file.total" BY_NAME,
    [SQL_ARCHIVE_COPY_HOURS] =
	"INSERT INTO main.hour SELECT ?1, ours.id, time, count, sum_ns, cells"
	" FROM file.hour" BY_NAME,
    [SQL_ARCHIVE_COPY_OUTCOMES] =
	"INSERT INTO main.outcome SELECT ?1, time, state, count"
	" FROM file.outcome_hour WHERE count <> 0",
    [SQL_ARCHIVE_NOTE_DAY] = "INSERT OR IGNORE INTO main.day VALUES(?1)",
    [SQL_ARCHIVE_EXPIRE_HOURS] = EXPIRE("hour"),
    [SQL_ARCHIVE_EXPIRE_OUTCOMES] = EXPIRE("outcome"),
    [SQL_ARCHIVE_FOLD_COUNTERS] =
	"REPLACE INTO main.counter SELECT 0, name, sum(value)"
	" FROM main.counter WHERE day <= ?1 GROUP BY name",
    [SQL_ARCHIVE_EXPIRE_COUNTERS] = EXPIRE("counter"),
    [SQL_ARCHIVE_TOTALS_UNTIL] =
	"SELECT series, count, sum_ns, buckets FROM main.total"
	" WHERE day <= ?1 ORDER BY series",
    [SQL_ARCHIVE_EXPIRE_TOTALS] = EXPIRE("total"),
    [SQL_ARCHIVE_EXPIRE_DAYS] = EXPIRE("day"),
    [SQL_ARCHIVE_SUM_WRITE] = "REPLACE INTO main.total VALUES(0, ?, ?, ?, ?)",
    [SQL_ARCHIVE_DAYS] = "SELECT day FROM day ORDER BY day DESC",
    [SQL_ARCHIVE_COUNTERS_READ] =
	"SELECT name, value FROM counter WHERE day = ?1",
    [SQL_ARCHIVE_TOTALS_READ] =
	"SELECT name, count, sum_ns, buckets FROM total"
	" JOIN series ON series.id = total.series WHERE day = ?1",
    [SQL_ARCHIVE_SERIES_READ] = "SELECT id, name FROM series",
    [SQL_ARCHIVE_HOURS_READ] =
	"SELECT time, count, sum_ns, cells FROM hour"
	" WHERE day = ?1 AND series = ?2 AND time >= ?3 AND time < ?4",
    [SQL_ARCHIVE_OUTCOMES_READ] =
	"SELECT time, state, count FROM outcome"
	" WHERE day = ?1 AND time >= ?2 AND time < ?3",
};

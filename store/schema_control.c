/* SPDX-License-Identifier: BSD-2-Clause */
/* SQL of control.db. Data. */
#include "store/schema_control.h"

#include <stddef.h>

/* clang-format off */
#define NOTE_TABLE							      \
    "CREATE TABLE note("						      \
	"name ANY PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;"

const char schema_control_tables[] =
    "CREATE TABLE lower_bound("
	"source ANY PRIMARY KEY, segment INTEGER NOT NULL,"
	"offset INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    NOTE_TABLE;
/* clang-format on */

const char *const schema_control_upgrades[SCHEMA_VERSION + 1] = {
    [2] = NOTE_TABLE,
};

const char *const control_sql[CONTROL_STATEMENTS] = {
    [SQL_BOUNDS_READ] = "SELECT source, segment, offset FROM lower_bound",
    [SQL_BOUND_WRITE] = "REPLACE INTO lower_bound VALUES(?, ?, ?)",
    [SQL_NOTES_READ] = "SELECT name, value FROM note",
    [SQL_NOTE_READ] = "SELECT value FROM note WHERE name = ?",
    [SQL_NOTE_WRITE] = "REPLACE INTO note VALUES(?, ?)",
};

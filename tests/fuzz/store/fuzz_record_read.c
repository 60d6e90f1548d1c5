/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message of whose rows one holds any bytes is read, or found damaged; what
 * was read can be shown. The first byte of the input says which.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/attempt_row.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/intern.h"
#include "store/record_read.h"
#include "store/timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROW 1000000
#define COLUMNS 6

/* Each dictionary has twenty entries. */
static const char rows[] =
    "INSERT INTO origin VALUES(1, zeroblob(16), 'mx', 0);"
#define TWENTY                                                                 \
	" WITH RECURSIVE n(i) AS"                                              \
	" (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)"
    "INSERT INTO text" TWENTY "SELECT i, 0, '501\0032.0.0\3\2 \1 Saved' FROM n;"
    "INSERT INTO host" TWENTY "SELECT i, 0, 'host' || i FROM n;"
    "INSERT INTO domain" TWENTY "SELECT i, 0, 'example.org' FROM n;"
    "INSERT INTO address" TWENTY "SELECT i, 0, i % 3, 'jo' FROM n;"
    "INSERT INTO message VALUES(1000000, zeroblob(10), 0, '4F00', 0, NULL,"
    " NULL, 1, 1, 1, zeroblob(5), x'0F');"
    "INSERT INTO recipient VALUES(1000000 << 20, 1, 1, 1, 50, 0,"
    " zeroblob(2), 7), ((1000000 << 20) + 1, 2, 0, 0, 0, -1, zeroblob(2), 3);"
    "INSERT INTO leg VALUES(1000050, zeroblob(10), 1, 50, NULL, NULL, 1,"
    " zeroblob(5));"
    "INSERT INTO leg_part VALUES(1000050, 1, zeroblob(5));"
    "INSERT INTO attempt VALUES(1000000 << 20, zeroblob(4));";

static const char *const changes[COLUMNS] = {
    "UPDATE message SET packed = ?",
    "UPDATE message SET log = ?",
    "UPDATE recipient SET packed = ?",
    "UPDATE leg SET packed = ?",
    "UPDATE leg_part SET packed = ?",
    "UPDATE attempt SET packed = ?",
};

static struct day_tables tables;
static struct arena *arena;

/* The statements of a day file, and those that put the input into it. */
static void
set_up(void)
{
	static const char *sql[DAY_STATEMENTS + COLUMNS];
	enum database_failure failure;
	struct reason reason;

	memcpy(sql, day_sql, sizeof(day_sql[0]) * DAY_STATEMENTS);
	memcpy(sql + DAY_STATEMENTS, changes, sizeof(changes));
	tables.database = database_open(":memory:", DATABASE_WRITE, sql,
	    DAY_STATEMENTS + COLUMNS, &failure, &reason);
	assert(tables.database != NULL);
	assert(schema_create(tables.database, SCHEMA_DAY) == 0);
	assert(database_execute(tables.database, rows) == 0);
	tables.intern = intern_new(tables.database);
	arena = arena_new(1 << 20);
	assert(arena != NULL);
}

static void
show(const struct message_record *record)
{
	struct timeline *timeline = timeline_build(record, arena);

	if (timeline != NULL)
		free(timeline_json(timeline));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct message_record record;
	struct statement *change;
	int found;

	if (size < 1)
		return 0;
	if (tables.database == NULL)
		set_up();
	database_begin_write(tables.database);
	change = database_statement(
	    tables.database, DAY_STATEMENTS + data[0] % COLUMNS);
	bind_blob(change, data + 1, size - 1);
	assert(statement_run(change) == 0);
	arena_reset(arena);
	found = record_read(&tables, ROW, arena, &record);
	assert(found == 1 || found == -1);
	if (found == 1)
		show(&record);
	else
		assert(arena_failed(arena) ||
		       database_failure(tables.database) == DATABASE_DAMAGED);
	database_rollback(tables.database);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pool of connections behind queries. Called by query.c on its caller's
 * thread.
 *
 * A file's device and inode are compared before each use, and those of its log:
 * the exporter may have set a damaged file aside, or an administrator removed
 * one. The pool is small
 * since each connection keeps three descriptors.
 */
#include "store/reader_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/disk.h"
#include "store/intern.h"
#include "store/layout.h"
#include "store/read_gate.h"
#include "store/schema.h"

#define POOL_SIZE 32

struct pooled {
	struct day_tables tables; /* database is NULL while unused */
	int64_t day;
	struct layout_identity identity;
	bool is_read_only; /* so was the disk */
	uint64_t last_used;
};

struct reader_pool {
	const char *directory;
	int gate;
	struct pooled files[POOL_SIZE];
	uint64_t uses;
};

struct reader_pool *
reader_pool_new(const char *directory)
{
	struct reader_pool *pool = memory_zeroed(1, sizeof(*pool));

	pool->directory = directory;
	pool->gate = read_gate(directory);
	return pool;
}

static void
disconnect(struct pooled *file)
{
	intern_free(&file->tables.intern);
	database_close(&file->tables.database);
	memset(file, 0, sizeof(*file));
}

void
reader_pool_free(struct reader_pool **pool)
{
	if (*pool == NULL)
		return;
	for (size_t i = 0; i < POOL_SIZE; i++)
		disconnect(&(*pool)->files[i]);
	if ((*pool)->gate >= 0)
		close((*pool)->gate);
	free(*pool);
	*pool = NULL;
}

/* The connection to `day`, or the one that was used longest ago. */
static struct pooled *
choose(struct reader_pool *pool, int64_t day)
{
	struct pooled *oldest = &pool->files[0];

	for (size_t i = 0; i < POOL_SIZE; i++) {
		struct pooled *file = &pool->files[i];

		if (file->tables.database != NULL && file->day == day)
			return file;
		if (file->last_used < oldest->last_used)
			oldest = file;
	}
	return oldest;
}

/* Whether it is a day file of ours. Returns 1, 0 for an empty one, or -1. */
static int
inspect(struct pooled *file, const char *path, struct reason *reason)
{
	enum schema_state state;

	if (schema_inspect(file->tables.database, &state) != 0)
		return database_check(file->tables.database, reason);
	if (state == SCHEMA_NEWER)
		return reason_set(
		    reason, "%s: written by a newer version of postlag", path);
	if (state == SCHEMA_OLDER)
		return reason_set(reason,
		    "%s: written by an older version of postlag; starting "
		    "postlag-exporter upgrades it",
		    path);
	if (state == SCHEMA_FOREIGN)
		return reason_set(reason, "%s: not a file of postlag", path);
	return state == SCHEMA_CURRENT;
}

static int
connect_file(
    struct pooled *file, int64_t day, const char *path, struct reason *reason)
{
	enum database_failure failure;
	int result;

	file->tables.database = database_open(
	    path, DATABASE_READ, day_sql, DAY_STATEMENTS, &failure, reason);
	if (file->tables.database == NULL)
		return -1;
	result = inspect(file, path, reason);
	if (result != 1) {
		database_close(&file->tables.database);
		return result;
	}
	file->tables.intern = intern_new(file->tables.database);
	file->day = day;
	file->is_read_only = disk_is_read_only();
	if (day != LAYOUT_ODD)
		file->tables.start.wall_ns = day * CLOCK_NS_PER_DAY;
	return 1;
}

static int
use(struct pooled *file, int64_t day, const char *path, struct reason *reason)
{
	struct layout_identity now = layout_identify_all(path);
	int result = 1;

	if (file->tables.database != NULL &&
	    (file->day != day || file->is_read_only != disk_is_read_only() ||
		layout_compare(&file->identity, &now) != LAYOUT_SAME))
		disconnect(file);
	if (now.inode == 0)
		return 0;
	if (file->tables.database == NULL)
		result = connect_file(file, day, path, reason);
	file->identity = now;
	return result;
}

static int
begin(struct pooled *file, int64_t day, const char *path, struct reason *reason)
{
	int result = use(file, day, path, reason);

	if (result != 1)
		return result;
	database_begin_read(file->tables.database);
	return database_check(file->tables.database, reason) == 0 ? 1 : -1;
}

int
reader_file(struct reader_pool *pool, int64_t day, struct day_tables **tables_r,
    struct reason *reason)
{
	struct pooled *file = choose(pool, day);
	char *path = layout_day_path(pool->directory, day);
	int result;

	read_gate_pass(pool->gate);
	result = begin(file, day, path, reason);

	/* It may have been purged in between. */
	if (result < 0 && layout_identify(path).inode == 0) {
		disconnect(file);
		result = 0;
	}
	free(path);
	if (result != 1)
		return result;
	file->last_used = ++pool->uses;
	*tables_r = &file->tables;
	return 1;
}

void
reader_pool_close_gone(struct reader_pool *pool)
{
	for (size_t i = 0; i < POOL_SIZE; i++) {
		struct pooled *file = &pool->files[i];
		char *path;

		if (file->tables.database == NULL)
			continue;
		path = layout_day_path(pool->directory, file->day);
		if (layout_identify(path).inode != file->identity.inode ||
		    file->is_read_only != disk_is_read_only())
			disconnect(file);
		free(path);
	}
}

void
reader_file_done(struct day_tables *tables)
{
	database_rollback(tables->database);
}

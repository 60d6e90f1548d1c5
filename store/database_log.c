/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Write-ahead logs. Called by the ingest thread and the checkpoint thread.
 *
 * SQLite has the disk take the head of a log before the first page: in the
 * commit that begins it. No other waits for the disk, and so shall none. But a
 * page does not fill pages of the system in the log: what is written over what
 * the system has put out of its memory has to be read first.
 */
#include "store/database_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/disk.h"

#define CHECKPOINT_TIMEOUT_MS 20
/* The first block of a log's index, which all its connections share, and in it,
 * in words, the number of the log's pages ("mxFrame") and of those copied
 * ("nBackfill"): https://www.sqlite.org/walformat.html, section 2. */
#define INDEX_BYTES 32768
#define INDEX_PAGES 4
#define INDEX_COPIED 24
/* How often the checkpoint thread may have copied what was written to prevent
 * just that. */
#define HEADS_MAX 8
/* What a page takes in the log, and how many are read before they are written:
 * 16 MB, which the fastest ingest writes in a tenth of a second. */
#define FRAME_BYTES 4120
#define AHEAD_PAGES 4096
/* Linux reads no more at a time, unless it is told to. */
#define READ_BYTES (128 << 10)

int
database_wal_pages(const struct database *database)
{
	return database->wal_pages;
}

/* Returns 0, 1 when something is left, or -1. */
static int
run_checkpoint(struct database *database, int mode, int *pages_r)
{
	int pages = 0, copied = 0;
	int64_t version;
	int code;

	if (disk_is_read_only())
		return -1;
	/* A connection that has not read yet has no log to copy. */
	database_read_integer(database, "PRAGMA schema_version", &version);
	sqlite3_busy_timeout(database->handle, CHECKPOINT_TIMEOUT_MS);
	code = sqlite3_wal_checkpoint_v2(
	    database->handle, "main", mode, &pages, &copied);
	sqlite3_busy_timeout(database->handle, database->patience_ms);
	if (code != SQLITE_OK || pages < 0)
		return -1;
	*pages_r = pages;
	return copied < pages;
}

int
database_checkpoint(struct database *database, bool truncate)
{
	int mode =
	    truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
	int pages;

	return run_checkpoint(database, mode, &pages) == 0 ? 0 : -1;
}

/* Whether what is written in the transaction that has begun may be written from
 * the log's beginning. It is decided when it begins: the pages stay as many
 * then, and those copied do not become fewer. */
static bool
is_log_copied(struct database *database)
{
	sqlite3_file *file = database_file(database);
	volatile void *index = NULL;
	const volatile uint32_t *words;

	if (file == NULL || file->pMethods->iVersion < 2 ||
	    file->pMethods->xShmMap(file, 0, INDEX_BYTES, 0, &index) !=
		SQLITE_OK ||
	    index == NULL)
		return false;
	words = index;
	return words[INDEX_COPIED] == words[INDEX_PAGES];
}

/* Writes a page as it was, with the head of the log in front of it. */
static int
write_head(struct database *database)
{
	char write_version[sizeof("PRAGMA user_version = -2147483648")];
	int64_t version;

	database_read_integer(database, "PRAGMA user_version", &version);
	snprintf(write_version, sizeof(write_version),
	    "PRAGMA user_version = %d", (int)version);
	database_execute(database, write_version);
	return database_commit(database);
}

int
database_begin_write(struct database *database)
{
	int heads = 0;

	while (database_execute(database, "BEGIN IMMEDIATE") == 0) {
		if (!database->keeps_heads || heads == HEADS_MAX ||
		    !is_log_copied(database))
			return heads > 0;
		if (write_head(database) != 0)
			return -1;
		heads++;
	}
	return -1;
}

void
database_begin_log_anew(struct database *database)
{
	if (database_checkpoint(database, false) != 0)
		return;
	if (database_begin_write(database) < 0 ||
	    database_commit(database) != 0)
		database_rollback(database);
}

sqlite3_file *
database_file(struct database *database)
{
	sqlite3_file *file = NULL;

	sqlite3_file_control(
	    database->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
	return file != NULL && file->pMethods != NULL ? file : NULL;
}

int
database_copy_log(struct database *database, int *pages_r)
{
	int result =
	    run_checkpoint(database, SQLITE_CHECKPOINT_PASSIVE, pages_r);
	sqlite3_file *file = database_file(database);

	if (file == NULL ||
	    file->pMethods->xSync(
		file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) != SQLITE_OK)
		return -1;
	return result;
}

int
database_log_open(const char *path)
{
	char *log = memory_format("%s-wal", path);
	int fd = open(log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int error = errno;

	free(log);
	errno = error;
	return fd;
}

/* Without waiting for it. */
static void
read_pages(int fd, int from, int to)
{
	off_t end = (off_t)to * FRAME_BYTES;

	for (off_t at = (off_t)from * FRAME_BYTES; at < end; at += READ_BYTES)
		posix_fadvise(fd, at, READ_BYTES, POSIX_FADV_WILLNEED);
}

void
database_read_log_ahead(struct database *database)
{
	int from = database->wal_pages, to = from + AHEAD_PAGES;
	int fd;

	if (database->ahead_pages >= from + AHEAD_PAGES / 2)
		return;
	if (from < database->ahead_pages)
		from = database->ahead_pages;
	database->ahead_pages = to;
	fd = database_log_open(sqlite3_db_filename(database->handle, "main"));
	if (fd < 0)
		return;
	read_pages(fd, from, to);
	close(fd);
}

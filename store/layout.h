/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layout: the files of a store.
 *
 *     DIRECTORY/lock                 flock(2)ed by the one writer
 *     DIRECTORY/control.db
 *     DIRECTORY/day-YYYYMMDD.db      and -wal and -shm beside it
 *     DIRECTORY/odd.db
 *     DIRECTORY/address.key          of pseudonyms; the writer's only
 *     DIRECTORY/archive.db           what is left of days that were purged
 *     DIRECTORY/NAME.damaged-N       set aside
 */
#ifndef STORE_LAYOUT_H
#define STORE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct reason;

/* Readers are in the group. */
#define LAYOUT_FILE_MODE 0640
#define LAYOUT_DIRECTORY_MODE 02750

/* A day as days since 1970; odd.db is LAYOUT_ODD. */
#define LAYOUT_ODD INT64_MIN

#define LAYOUT_ARCHIVE "archive.db"

/* DIRECTORY/NAME, to be freed. */
char *layout_path(const char *directory, const char *name);
char *layout_day_path(const char *directory, int64_t day);

/* Returns 1 with the day of a day file's name (odd.db included), else 0. */
int layout_parse(const char *name, int64_t *day_r);

/* The days there are, newest first, odd.db last; to be freed. Returns how many,
 * or -1 with a reason. */
long layout_list(
    const char *directory, int64_t **days_r, struct reason *reason);

/* Which file stands at a path; all zero when none does. */
struct layout_identity {
	dev_t device;
	ino_t inode;
	/* These only from layout_identify_all(). */
	off_t bytes;
	ino_t log, index; /* what stands beside it */
};

struct layout_identity layout_identify(const char *path);
struct layout_identity layout_identify_all(const char *path);

/* What others may do to a file while SQLite has it open. Its log and the log's
 * index stay as long as it is open, and it never becomes smaller unless others
 * compact it. */
enum layout_change {
	LAYOUT_SAME,
	LAYOUT_REPLACED,
	LAYOUT_LOG_REPLACED,
	LAYOUT_INDEX_REPLACED, /* and the log is the same */
	LAYOUT_CUT,
	LAYOUT_CHANGES
};

/* Of two from layout_identify_all(). */
enum layout_change layout_compare(
    const struct layout_identity *before, const struct layout_identity *now);

/* For the log. */
const char *layout_change_text(enum layout_change change);

/* Has a file's name on disk, which is once its directory is. Returns 0 or -1
 * with errno. */
int layout_sync_name(const char *path);

/* Makes an empty file with its name on disk; what was left of an older one's
 * log is removed. Returns 0, or -1. */
int layout_create(const char *path, struct reason *reason);

/* Renames a file and its log to the next free PATH.damaged-N. Returns 0 or -1.
 */
int layout_set_aside(const char *path, struct reason *reason);

/* Removes a file and its log for good. Readers that have it open keep what they
 * have. Returns 0 (also when there is none), or -1. */
int layout_remove(const char *path, struct reason *reason);

/* Removes the logs of day files that are not there. */
void layout_remove_orphans(const char *directory);

/* Bytes of a file and its log. */
uint64_t layout_bytes(const char *path);

#endif

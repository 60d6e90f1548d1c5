/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * archive: archive.db, what is left of days that are purged: counters, totals
 * and hours.
 *
 * A day is put there before its file is removed, replacing what was there of
 * it. A day that has a file counts from its file; so it does not matter when
 * somebody is killed between the two. Written by one thread at a time.
 */
#ifndef STORE_ARCHIVE_H
#define STORE_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

struct archive;
struct reason;
struct totals;

/* What was found of the file since it was opened, and told in the log. */
struct archive_trouble {
	uint64_t set_aside; /* damaged ones */
	uint64_t replaced;  /* by others */
};

/* Opens it; a damaged one is set aside, and a new one takes its place. If there
 * is none, makes one if `create` says so, else *archive_r is NULL. Returns 0; 1
 * with a reason when it cannot be opened now; -1 with a reason for one of a
 * newer version. */
int archive_open(const char *directory, bool create, struct archive **archive_r,
    struct reason *reason);
void archive_close(struct archive **archive);

struct archive_trouble archive_trouble(const struct archive *archive);

/* Copies a day from its file and commits, into the archive that stands there
 * then. Hours are only kept of days that are not older than `hours_since`; of
 * the older ones only a sum is. Another thread may not write the file
 * meanwhile. Returns 0, or -1 with a reason: nothing has changed. */
int archive_put(struct archive *archive, int64_t day, int64_t hours_since,
    struct reason *reason);

/* Whether what archive_put() reads of a file is damaged. */
bool archive_finds_damage(const char *path);

/* Adds the totals of all days that have no file to `sums`. *days_r: the days
 * that it has, newest first, to be freed. Returns how many, or -1 with a
 * reason; a damaged archive is set aside, and has none. */
long archive_sum_up(struct archive *archive, struct totals *sums,
    int64_t **days_r, struct reason *reason);

/* Reads all of it; a damaged one is set aside. Returns 0, or -1 with a reason.
 */
int archive_examine(struct archive *archive, struct reason *reason);

#endif

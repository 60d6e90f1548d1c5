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

/* Opens it; a damaged one is set aside. If there is none, makes one if `create`
 * says so, else *archive_r is NULL. Returns 0, or -1 with a reason. */
int archive_open(const char *directory, bool create, struct archive **archive_r,
    struct reason *reason);
void archive_close(struct archive **archive);

/* Copies a day from its file and commits. Hours are only kept of days that are
 * not older than `hours_since`; of the older ones only a sum is. Another thread
 * may not write the file meanwhile. Returns 0, or -1 with a reason: nothing has
 * changed. */
int archive_put(struct archive *archive, int64_t day, int64_t hours_since,
    struct reason *reason);

/* Whether what archive_put() reads of a file is damaged. */
bool archive_finds_damage(const char *path);

/* Adds the totals of all days that have no file to `sums`. *newest_day_r: the
 * newest day that is in the archive; INT64_MIN: none is. */
int archive_sum_up(struct archive *archive, struct totals *sums,
    int64_t *newest_day_r, struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_follower: the lines of a log file, in order, from any position, whatever
 * is done to the file.
 *
 * A file is known by its first line, not by name or inode. When it is rotated
 * by renaming, it is read to its end before its successor; when it is copied
 * and truncated, the copy is. What was rotated while nobody read is found in
 * the same directory (see log_series.h), also compressed by gzip. Where lines
 * may be missing, an entry says so and for which time. The user's files are
 * never written to or locked.
 *
 * Positions and generations are those of log_catalog.h. The same position gives
 * the same lines again as long as the files are there. Not thread-safe.
 */
#ifndef EXPORTER_READ_LOG_FOLLOWER_H
#define EXPORTER_READ_LOG_FOLLOWER_H

#include "base/clock.h"
#include "exporter/read/log_entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_catalog;
struct log_follower;
struct reason;

/* How long what a disk fails to read is tried again. Then it is a gap, and
 * reading goes on behind it. */
#define LOG_UNREADABLE_NS (300 * CLOCK_NS_PER_SECOND)

/* Follows the file at `path` (copied), which need not exist, behind `from`. The
 * catalog is borrowed and added to; it is to be saved when it is `changed`,
 * before a position of the entries given since is. From nowhere (zero, and an
 * empty catalog) the log's present file is read from its beginning, or from its
 * present end. */
struct log_follower *log_follower_open(const char *path,
    struct log_catalog *catalog, struct journal_position from, bool from_end);

/* Returns 1 with an entry; 0 at the end of what is there; -1 with a reason when
 * something cannot be read, after which it may be called again. */
int log_follower_next(struct log_follower *follower, struct log_entry *entry_r,
    struct reason *reason);

/* Behind the last entry given. */
struct journal_position log_follower_position(
    const struct log_follower *follower);

/* Whether lines written now would be seen: the log is there and followed. To be
 * asked at the end of what is there. */
bool log_follower_sees(const struct log_follower *follower);

/* What to watch with inotify(7) in order to be told when to ask again. To be
 * asked at the end of what is there; then log_follower_next() must be called
 * once more before sleeping, because of what happened meanwhile. */
#define LOG_WATCHES_MAX 3
struct log_watch {
	const char *path; /* the follower's, until the next call */
	uint32_t events;  /* for inotify_add_watch(2) */
};

size_t log_follower_watches(const struct log_follower *follower,
    struct log_watch watches_r[LOG_WATCHES_MAX]);

void log_follower_free(struct log_follower **follower);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_sync: when what was committed is on the disk.
 *
 * Part of store.h, whose rules hold. Commits do not wait for the disk: a thread
 * has it take them, some times a second while there are any. What reached it is
 * never read again; the rest is, after a power cut, and so must still be where
 * it was read, and must not have been shown: what was counted would sink.
 */
#ifndef STORE_STORE_SYNC_H
#define STORE_STORE_SYNC_H

#include "proto/segment.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

enum store_sync {
	STORE_SYNC_WAITS,
	STORE_SYNC_BEGAN, /* of all that is committed now */
	STORE_SYNC_ENDED  /* all that was committed when it began is on the
			     disk: to be shown, then store_raise_synced() */
};

/* Looks how far the disk is, and has it go on. To be called between batches, at
 * store_sync_due() at the latest; `now_ns` is CLOCK_MONOTONIC. */
enum store_sync store_follow_sync(struct store *store, int64_t now_ns);

/* Notes that, in control.db, too. */
void store_raise_synced(struct store *store);

/* Whether the next STORE_SYNC_ENDED will be of all that is committed now; or
 * there is none to come, because all is on the disk. */
bool store_is_syncing_all(const struct store *store);
bool store_has_synced_all(const struct store *store);

/* 0: when there was another commit. */
int64_t store_sync_due(const struct store *store);

/* Up to where all of `source` is on the disk; what lies before may be removed.
 */
struct journal_position store_synced_bound(
    const struct store *store, const char *source);

#endif

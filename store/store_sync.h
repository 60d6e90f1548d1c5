/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_sync: when what was committed is on the disk.
 *
 * Part of store.h, whose rules hold. Commits do not wait for the disk: a thread
 * has it take them, about twice a second while there are any. What reached it
 * is never read again; the rest is, after a power cut, and so must still be
 * where it was read.
 */
#ifndef STORE_STORE_SYNC_H
#define STORE_STORE_SYNC_H

#include "proto/segment.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

/* Looks how far the disk is, and has it go on. To be called between batches, at
 * store_sync_due() at the latest; `now_ns` is CLOCK_MONOTONIC. Returns whether
 * more is on the disk than before. */
bool store_follow_sync(struct store *store, int64_t now_ns);

/* 0: when there was another commit. */
int64_t store_sync_due(const struct store *store);

/* Up to where all of `source` is on the disk; what lies before may be removed.
 */
struct journal_position store_synced_bound(
    const struct store *store, const char *source);

#endif

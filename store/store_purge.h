/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_purge: days that have been kept long enough.
 *
 * Part of store.h, whose rules hold; all of it is to be called between batches.
 * Only sealed days are purged: by age, and, oldest first, when all files
 * together are larger than they may be. What they count stays in the totals.
 */
#ifndef STORE_STORE_PURGE_H
#define STORE_STORE_PURGE_H

#include <stdbool.h>
#include <stdint.h>

struct store;

/* Whether days would be purged for their size if they were sealed: there is no
 * time to wait for what sources may still tell of them. */
bool store_is_pressed(const struct store *store);

/* Whether there is something to purge. Cheap to ask again and again. */
bool store_has_purge(struct store *store);

/* When what could not be purged is to be tried again, CLOCK_MONOTONIC; 0:
 * nothing is. */
int64_t store_purge_due(const struct store *store);

/* Begins to purge it. From now on nothing is found in these days: what the
 * caller remembers of them must be forgotten before. */
void store_purge(struct store *store);

/* Whether a purge is under way. When one is done, says so once in *is_done_r,
 * and the figures are right again. */
bool store_is_purging(struct store *store, bool *is_done_r);

#endif

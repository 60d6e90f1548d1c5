/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_forget: has all files forget addresses, while the store is written.
 *
 * Part of store.h, whose rules hold. What is to be forgotten is noted first and
 * forgotten then, file by file and a part at a time, between batches; killed
 * meanwhile, it begins again. Where mail of it may still be in the queue, a
 * short pseudonym stays in the address's place, until the day is sealed. What
 * of it comes later is stored again.
 */
#ifndef STORE_STORE_FORGET_H
#define STORE_STORE_FORGET_H

#include "proto/segment.h"

#include <stdbool.h>
#include <stdint.h>

struct reason;
struct store;

/* Notes it, on disk when this returns. `position`: of the operation that asks
 * for it; one that is not beyond the last noted one was noted before. Returns
 * 0, or -1. */
int store_forget(struct store *store, const char *address,
    struct journal_position position, struct reason *reason);

/* When there is something to be done of it, CLOCK_MONOTONIC; 0: nothing is. */
int64_t store_forget_due(const struct store *store);

/* Goes on for about `budget_ns`; what cannot be done now is told in the log and
 * tried again. Only to be called between batches. */
void store_forget_some(struct store *store, int64_t now_ns, int64_t budget_ns);

#endif

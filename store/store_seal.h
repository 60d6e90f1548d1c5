/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_seal: days that leave the window of those that may be written.
 *
 * Part of store.h, whose rules hold. A day that has left it is past: it gets no
 * new messages, but what is open in it is still told by store_each_open() and
 * found by store_find_queue_id(), so that what a source has to tell of it,
 * though late, is not lost. Once the caller has ended what is open there, the
 * day is sealed. A sealed day is closed and asked for nothing any more but a
 * message by its id. What is then written there, a late delivery whose stamp
 * names the message or what an operator says of it, makes the day past again
 * until it is sealed anew.
 */
#ifndef STORE_STORE_SEAL_H
#define STORE_STORE_SEAL_H

#include <stdbool.h>

struct day_file;
struct store;

/* Whether the file's day is past and not sealed. */
bool store_is_past(const struct store *store, const struct day_file *file);

/* Whether any is. */
bool store_has_past(const struct store *store);

/* Seals the days that are past and have nothing open and no waiting delivery,
 * unless something that was written to one of them is not on the disk yet.
 * Returns false then: to be called again. Only to be called between batches. */
bool store_seal(struct store *store);

#endif

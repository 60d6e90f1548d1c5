/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash_filter: which hashes are certainly not in a table, so that what is new
 * need not be looked for.
 *
 * A bit for each hash, of a fixed number: what is there is always found, what
 * is not mostly is not. A zeroed struct is not filled: it may have everything.
 * Not thread-safe.
 */
#ifndef STORE_HASH_FILTER_H
#define STORE_HASH_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct hash_filter {
	uint64_t *words; /* NULL: not filled */
};

/* Makes it one of an empty table. */
void hash_filter_begin(struct hash_filter *filter);

/* Does nothing when it is not filled. */
void hash_filter_add(struct hash_filter *filter, int64_t hash);

bool hash_filter_may_have(const struct hash_filter *filter, int64_t hash);

/* Makes it a zeroed one. */
void hash_filter_clear(struct hash_filter *filter);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * feed_entry: that a recipient began, or went from one state to another.
 *
 * Entries of one commit are packed together. Pure; any thread.
 */
#ifndef STORE_FEED_ENTRY_H
#define STORE_FEED_ENTRY_H

#include "store/record.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;

enum feed_kind {
	FEED_BEGUN,   /* it is new, in state `to` */
	FEED_CHANGED, /* from `from` to `to` */
	FEED_LEG,     /* a delivery without a message said `to` of it */
	/* It was told anew, and is no longer at `old_row` and `old_number`;
	 * `from` and `to` may be the same. */
	FEED_MOVED
};

struct feed_entry {
	enum feed_kind kind;
	int64_t row;     /* of its message; FEED_LEG: of the leg */
	uint32_t number; /* of the recipient; FEED_LEG: its position there */
	enum recipient_state from, to;
	int64_t old_row;
	uint32_t old_number;
};

/* Appends them. */
void feed_entries_pack(
    const struct feed_entry *entries, size_t count, struct buffer *out);

/* The entries that were packed, in `arena`. Returns 0, or -1 when that is
 * impossible or the arena is full. */
int feed_entries_unpack(const void *data, size_t size, struct arena *arena,
    struct feed_entry **entries_r, size_t *count_r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slot_table: a hash table that takes little more than a pointer an item.
 *
 * Open addressing, so that items need no links and no memory of their own.
 * Whoever uses it knows how to tell items with the same hash apart. A zeroed
 * struct is an empty table. Not thread-safe.
 */
#ifndef EXPORTER_JOIN_SLOT_TABLE_H
#define EXPORTER_JOIN_SLOT_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct slot {
	void *item;      /* NULL: the slot is free */
	uint32_t number; /* the user's own */
	uint32_t hash;
};

struct slot_table {
	struct slot *slots;
	size_t capacity;
	size_t count;
};

/* The same item may be added several times. */
void slot_table_add(struct slot_table *table, struct slot slot);

/* Walks the slots with `hash`: *at must be 0 at first, and is left where the
 * next call goes on. NULL at the end. The table must not change meanwhile. */
const struct slot *slot_table_find(
    const struct slot_table *table, uint32_t hash, size_t *at);

/* Removes a slot that slot_table_find() has returned. */
void slot_table_remove(struct slot_table *table, const struct slot *slot);

/* Walks all slots in the same way. */
const struct slot *slot_table_each(const struct slot_table *table, size_t *at);

void slot_table_free(struct slot_table *table);

#endif

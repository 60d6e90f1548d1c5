/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linear probing; what follows a removed slot moves up. Used by
 * open_messages.c and queue_ids.c on the ingest thread.
 */
#include "exporter/join/slot_table.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

#define CAPACITY_MIN 64

/* Three of four slots are in use at most. */
static bool
is_full(const struct slot_table *table)
{
	return 4 * (table->count + 1) > 3 * table->capacity;
}

static void
put(struct slot_table *table, struct slot slot)
{
	size_t mask = table->capacity - 1, at = slot.hash & mask;

	while (table->slots[at].item != NULL)
		at = (at + 1) & mask;
	table->slots[at] = slot;
}

static void
grow(struct slot_table *table)
{
	struct slot_table larger = {
	    .capacity =
		table->capacity > 0 ? 2 * table->capacity : CAPACITY_MIN,
	    .count = table->count,
	};

	larger.slots = memory_zeroed(larger.capacity, sizeof(*larger.slots));
	for (size_t i = 0; i < table->capacity; i++)
		if (table->slots[i].item != NULL)
			put(&larger, table->slots[i]);
	free(table->slots);
	*table = larger;
}

void
slot_table_add(struct slot_table *table, struct slot slot)
{
	if (is_full(table))
		grow(table);
	put(table, slot);
	table->count++;
}

const struct slot *
slot_table_find(const struct slot_table *table, uint32_t hash, size_t *at)
{
	size_t mask = table->capacity - 1;

	while (*at < table->capacity) {
		const struct slot *slot = &table->slots[(hash + *at) & mask];

		if (slot->item == NULL)
			return NULL;
		(*at)++;
		if (slot->hash == hash)
			return slot;
	}
	return NULL;
}

void
slot_table_remove(struct slot_table *table, const struct slot *slot)
{
	size_t mask = table->capacity - 1;
	size_t hole = (size_t)(slot - table->slots), at = hole;

	for (;;) {
		size_t home;

		at = (at + 1) & mask;
		if (table->slots[at].item == NULL)
			break;
		/* It may move up unless its place is behind the hole. */
		home = table->slots[at].hash & mask;
		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		table->slots[hole] = table->slots[at];
		hole = at;
	}
	table->slots[hole].item = NULL;
	table->count--;
}

const struct slot *
slot_table_each(const struct slot_table *table, size_t *at)
{
	while (*at < table->capacity) {
		const struct slot *slot = &table->slots[(*at)++];

		if (slot->item != NULL)
			return slot;
	}
	return NULL;
}

void
slot_table_free(struct slot_table *table)
{
	free(table->slots);
	*table = (struct slot_table){.slots = NULL};
}

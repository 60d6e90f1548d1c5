/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linear probing; what follows a removed slot moves up. A table that doubles
 * stands half empty on average: this one grows by a quarter. Used by
 * open_messages.c and queue_ids.c on the ingest thread.
 */
#include "exporter/join/slot_table.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

#define CAPACITY_MIN 64

/* Four of five slots are in use at most. */
static bool
is_full(const struct slot_table *table)
{
	return 5 * (table->count + 1) > 4 * table->capacity;
}

/* Where an item with this hash belongs: any capacity has its share of each. */
static size_t
home_of(const struct slot_table *table, uint32_t hash)
{
	return (size_t)(((uint64_t)hash * table->capacity) >> 32);
}

static size_t
following(const struct slot_table *table, size_t at)
{
	return at + 1 < table->capacity ? at + 1 : 0;
}

/* How far one must go on from `from` to get there. */
static size_t
distance(const struct slot_table *table, size_t from, size_t to)
{
	return to >= from ? to - from : to + table->capacity - from;
}

static void
put(struct slot_table *table, struct slot slot)
{
	size_t at = home_of(table, slot.hash);

	while (table->slots[at].item != NULL)
		at = following(table, at);
	table->slots[at] = slot;
}

static void
grow(struct slot_table *table)
{
	struct slot_table larger = {
	    .capacity = table->capacity > 0
			    ? table->capacity + table->capacity / 4
			    : CAPACITY_MIN,
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
	size_t home = home_of(table, hash);

	while (*at < table->capacity) {
		size_t place = home + *at;
		const struct slot *slot =
		    &table->slots[place < table->capacity
				      ? place
				      : place - table->capacity];

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
	size_t hole = (size_t)(slot - table->slots), at = hole;

	for (;;) {
		size_t home;

		at = following(table, at);
		if (table->slots[at].item == NULL)
			break;
		/* It may move up unless its place is behind the hole. */
		home = home_of(table, table->slots[at].hash);
		if (distance(table, home, at) < distance(table, hole, at))
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

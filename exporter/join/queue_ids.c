/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of who bears which queue id; the id itself and its time are looked up
 * at the message. Owned by open_messages.c, on the ingest thread.
 */
#include "exporter/join/queue_ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "exporter/join/open_messages.h"
#include "exporter/join/slot_table.h"
#include "store/hash.h"

/* A slot's number counts the message's claims. */
struct queue_ids {
	struct slot_table table;
};

struct queue_ids *
queue_ids_new(void)
{
	return memory_zeroed(1, sizeof(struct queue_ids));
}

void
queue_ids_free(struct queue_ids **ids)
{
	if (*ids == NULL)
		return;
	slot_table_free(&(*ids)->table);
	free(*ids);
	*ids = NULL;
}

/* Two instances have the same queue ids rarely enough. */
static uint32_t
hash(const char *queue_id)
{
	return (uint32_t)hash_bytes(queue_id, strlen(queue_id), 0);
}

void
queue_ids_add(struct queue_ids *ids, struct tracked *tracked, uint32_t number)
{
	const struct queue_id_claim claim = tracked_claim(tracked, number);

	slot_table_add(
	    &ids->table, (struct slot){tracked, number, hash(claim.queue_id)});
}

void
queue_ids_remove(
    struct queue_ids *ids, const struct tracked *tracked, uint32_t number)
{
	const struct queue_id_claim claim = tracked_claim(tracked, number);
	const struct slot *slot;
	size_t at = 0;

	while ((slot = slot_table_find(
		    &ids->table, hash(claim.queue_id), &at)) != NULL)
		if (slot->item == tracked && slot->number == number)
			break;
	if (slot != NULL)
		slot_table_remove(&ids->table, slot);
}

static bool
is_meant(const struct queue_id_claim *claim, const struct queue_id_key *key)
{
	return claim->since_wall_ns <= key->before_wall_ns &&
	       strcmp(claim->queue_id, key->queue_id) == 0 &&
	       strcmp(claim->instance, key->instance) == 0;
}

struct tracked *
queue_ids_find(const struct queue_ids *ids, const struct queue_id_key *key,
    queue_id_fits *fits, const void *context)
{
	uint32_t wanted = hash(key->queue_id);
	struct tracked *best = NULL;
	int64_t best_since_ns = INT64_MIN;
	const struct slot *slot;
	size_t at = 0;

	while ((slot = slot_table_find(&ids->table, wanted, &at)) != NULL) {
		struct tracked *tracked = slot->item;
		const struct queue_id_claim claim =
		    tracked_claim(tracked, slot->number);

		if (!is_meant(&claim, key) ||
		    (best != NULL && claim.since_wall_ns <= best_since_ns) ||
		    (fits != NULL &&
			!fits(context, tracked, claim.since_wall_ns)))
			continue;
		best = tracked;
		best_since_ns = claim.since_wall_ns;
	}
	return best;
}

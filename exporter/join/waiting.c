/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries in a list by arrival and, by stamp id, in a list for each id. Their
 * events are kept as encoded bytes. Owned by the join, on the ingest thread.
 */
#include "exporter/join/waiting.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <uthash.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "proto/event_codec.h"

#define SCRATCH_BYTES (64u << 20)

struct node {
	struct waiting_entry entry;
	struct buffer event;
	bool is_further; /* another part of a leg that waits already */
	TAILQ_ENTRY(node) by_arrival;
	TAILQ_ENTRY(node) by_stamp;
};

TAILQ_HEAD(node_list, node);

struct group {
	struct uuid stamp_id;
	struct node_list nodes;
	UT_hash_handle hh;
};

struct waiting {
	struct node_list nodes;
	struct group *groups;
	struct arena *scratch;
	size_t count; /* legs */
};

struct waiting *
waiting_new(void)
{
	struct waiting *waiting = memory_zeroed(1, sizeof(*waiting));

	TAILQ_INIT(&waiting->nodes);
	waiting->scratch = arena_new(SCRATCH_BYTES);
	return waiting;
}

void
waiting_clear(struct waiting *waiting)
{
	struct node *node;

	while ((node = TAILQ_FIRST(&waiting->nodes)) != NULL)
		waiting_remove(waiting, &node->entry);
}

void
waiting_free(struct waiting **waiting)
{
	if (*waiting == NULL)
		return;
	waiting_clear(*waiting);
	arena_free(&(*waiting)->scratch);
	free(*waiting);
	*waiting = NULL;
}

static struct group *
group_find(const struct waiting *waiting, const struct uuid *stamp_id)
{
	struct group *group;

	HASH_FIND(hh, waiting->groups, stamp_id, sizeof(*stamp_id), group);
	return group;
}

static struct group *
group_of(struct waiting *waiting, const struct uuid *stamp_id)
{
	struct group *group = group_find(waiting, stamp_id);

	if (group != NULL)
		return group;
	group = memory_zeroed(1, sizeof(*group));
	group->stamp_id = *stamp_id;
	TAILQ_INIT(&group->nodes);
	HASH_ADD(hh, waiting->groups, stamp_id, sizeof(*stamp_id), group);
	return group;
}

static bool
waits_already(const struct group *group, const struct message_key *leg)
{
	const struct node *node;

	TAILQ_FOREACH(node, &group->nodes, by_stamp)
	if (node->entry.leg.file == leg->file &&
	    node->entry.leg.row == leg->row)
		return true;
	return false;
}

void
waiting_add(struct waiting *waiting, const struct message_key *leg,
    const struct delivery_event *delivery, const struct waiting_origin *origin,
    int64_t deadline_ns)
{
	const struct event event = {
	    .type = EVENT_DELIVERY,
	    .delivery = *delivery,
	};
	struct node *node = memory_zeroed(1, sizeof(*node));
	struct group *group = group_of(waiting, &delivery->stamp_id);

	node->entry.leg = *leg;
	node->entry.stamp_id = delivery->stamp_id;
	node->entry.instance = memory_string(origin->instance);
	memcpy(node->entry.boot_id, origin->boot_id, CLOCK_BOOT_ID_BYTES);
	node->entry.deadline_ns = deadline_ns;
	event_encode(&event, waiting->scratch, &node->event);
	arena_reset(waiting->scratch);
	node->is_further = delivery->part > 0 && waits_already(group, leg);
	waiting->count += !node->is_further;
	TAILQ_INSERT_TAIL(&waiting->nodes, node, by_arrival);
	TAILQ_INSERT_TAIL(&group->nodes, node, by_stamp);
}

size_t
waiting_count(const struct waiting *waiting)
{
	return waiting->count;
}

const struct waiting_entry *
waiting_for(struct waiting *waiting, const struct uuid *stamp_id)
{
	const struct group *group = group_find(waiting, stamp_id);

	return group != NULL ? &TAILQ_FIRST(&group->nodes)->entry : NULL;
}

const struct waiting_entry *
waiting_oldest(struct waiting *waiting)
{
	const struct node *node = TAILQ_FIRST(&waiting->nodes);

	return node != NULL ? &node->entry : NULL;
}

/* The entry is the node's first member. */
static const struct node *
node_of(const struct waiting_entry *entry)
{
	return (const struct node *)(const void *)entry;
}

const struct waiting_entry *
waiting_next(const struct waiting_entry *entry)
{
	const struct node *next = TAILQ_NEXT(node_of(entry), by_stamp);

	return next != NULL ? &next->entry : NULL;
}

int
waiting_event(const struct waiting_entry *entry, struct arena *arena,
    struct delivery_event *event_r, struct reason *reason)
{
	const struct node *node = node_of(entry);
	struct event event;

	if (event_decode(
		node->event.data, node->event.size, arena, &event, reason) != 0)
		return -1;
	*event_r = event.delivery;
	return 0;
}

void
waiting_remove(struct waiting *waiting, const struct waiting_entry *entry)
{
	struct group *group = group_find(waiting, &entry->stamp_id);
	struct node *node;

	TAILQ_FOREACH(node, &group->nodes, by_stamp)
	if (&node->entry == entry)
		break;
	TAILQ_REMOVE(&group->nodes, node, by_stamp);
	TAILQ_REMOVE(&waiting->nodes, node, by_arrival);
	waiting->count -= !node->is_further;
	if (TAILQ_EMPTY(&group->nodes)) {
		HASH_DEL(waiting->groups, group);
		free(group);
	}
	buffer_free(&node->event);
	free(node->entry.instance);
	free(node);
}

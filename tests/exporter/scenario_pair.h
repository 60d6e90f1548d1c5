/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario_pair: two scenarios one after the other, of which the second has the
 * queue ids of the first again (case 41).
 */
#ifndef TESTS_EXPORTER_SCENARIO_PAIR_H
#define TESTS_EXPORTER_SCENARIO_PAIR_H

#include "tests/exporter/scenario_shuffle.h"

/* Postfix uses a queue id again when its file is gone, and not at once. */
#define REUSE_GAP_NS (5 * SECOND_NS)

/* In `arena`, with the second scenario's queue ids changed to the first's. */
static inline const char *
reuse_in_text(const struct scenario *first, const struct scenario *second,
    const char *text, struct arena *arena)
{
	struct buffer out = {.data = NULL};
	const char *copy;

	while (*text != '\0') {
		size_t i = 0, size = 0;

		for (; i < second->queue_id_count; i++) {
			size = strlen(second->queue_ids[i]);
			if (strncmp(text, second->queue_ids[i], size) == 0)
				break;
		}
		if (i < second->queue_id_count && i < first->queue_id_count) {
			buffer_append_string(&out, first->queue_ids[i]);
			text += size;
		} else {
			buffer_append(&out, text++, 1);
		}
	}
	copy = arena_string_sized(arena, out.data, out.size);
	buffer_free(&out);
	return copy;
}

static inline void
reuse_in_event(const struct scenario *first, const struct scenario *second,
    struct event *event, struct arena *arena)
{
	const char **ids[3] = {NULL};

	if (event->type == EVENT_MESSAGE) {
		ids[0] = &event->message.queue_id;
		ids[1] = &event->message.message_id;
	} else if (event->type == EVENT_DELIVERY) {
		ids[0] = &event->delivery.queue_id;
		ids[1] = &event->delivery.stamp_queue_id;
		ids[2] = &event->delivery.message_id;
	}
	for (size_t i = 0; i < COUNT(ids); i++)
		if (ids[i] != NULL && *ids[i] != NULL)
			*ids[i] = reuse_in_text(first, second, *ids[i], arena);
}

static inline void
pair_add(struct scenario *pair, int source, const struct item *from,
    const struct scenario *first, const struct scenario *second)
{
	struct item *item = arena_append(pair->arena, &pair->items[source],
	    &pair->counts[source], sizeof(*item));

	*item = *from;
	if (second == NULL)
		return;
	if (item->line != NULL) {
		const char *line =
		    reuse_in_text(first, second, item->line, pair->arena);

		item->line = arena_string(pair->arena, line);
	} else {
		reuse_in_event(first, second, &item->record.event, pair->arena);
	}
}

static inline struct journal_position
item_position(int source, const struct item *item)
{
	return source == MAILLOG ? item->log.position : item->record.position;
}

/* Whether all of a source's first records lie before the second's. */
static inline bool
follows(const struct scenario *first, const struct scenario *second, int source)
{
	size_t count = first->counts[source];

	return count == 0 || second->counts[source] == 0 ||
	       journal_position_compare(
		   item_position(source, &first->items[source][count - 1]),
		   item_position(source, &second->items[source][0])) < 0;
}

static inline bool
may_be_paired(const struct scenario *first, const struct scenario *second)
{
	for (int i = 0; i < JOURNALS; i++)
		if (!follows(first, second, i))
			return false;
	return second->counts[MAILLOG] > 0 && first->queue_id_count > 0 &&
	       second->queue_id_count > 0 &&
	       second->items[MAILLOG][0].begin_ns >
		   first->clock_ns + REUSE_GAP_NS &&
	       strcmp(first->maillog_instances, second->maillog_instances) ==
		   0 &&
	       strlen(first->queue_ids[0]) == strlen(second->queue_ids[0]);
}

/* Both must stay. To be freed. */
static inline void
scenario_pair(struct scenario *pair, const struct scenario *first,
    const struct scenario *second)
{
	*pair = (struct scenario){.arena = arena_new(64 << 20),
	    .clock_ns = second->clock_ns,
	    .maillog_instances = first->maillog_instances};
	snprintf(pair->name, sizeof(pair->name), "%.100s and %.100s",
	    first->name, second->name);
	for (int i = 0; i < JOURNALS; i++) {
		for (size_t j = 0; j < first->counts[i]; j++)
			pair_add(pair, i, &first->items[i][j], NULL, NULL);
		for (size_t j = 0; j < second->counts[i]; j++)
			pair_add(pair, i, &second->items[i][j], first, second);
	}
	for (size_t i = 0; i < first->queue_id_count; i++)
		pair->queue_ids[pair->queue_id_count++] = first->queue_ids[i];
	for (size_t i = first->queue_id_count; i < second->queue_id_count; i++)
		pair->queue_ids[pair->queue_id_count++] = second->queue_ids[i];
}

/* As it happened, each record when its causes were known. */
static inline void
read_in_order(const struct scenario *scenario, struct world *world)
{
	struct shuffle_figures figures = {0};
	struct shuffle shuffle = {.scenario = scenario,
	    .reading = READ_BY_THE_CLOCK,
	    .is_causal = true,
	    .figures = &figures};

	scenario_begin_world(scenario, &shuffle.world);
	read_all(&shuffle);
	let_time_pass(&shuffle.world, scenario->clock_ns + LONG_NS);
	world_commit(&shuffle.world);
	*world = shuffle.world;
}

/* Whether a text is missing a line of what the scenarios were alone. */
static inline bool
misses_line(const char *rows, const char *alone)
{
	size_t size;

	for (const char *line = alone; *line != '\0'; line += size) {
		size = strcspn(line, "\n") + 1;
		if (!has_line(rows, line, size)) {
			printf("# no %.*s", (int)size, line);
			return true;
		}
	}
	return false;
}

#endif

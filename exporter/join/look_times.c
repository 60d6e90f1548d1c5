/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wheel has a slot for each second of some minutes; what is due later stays
 * in its slot and is passed over until the wheel has turned often enough. Used
 * by open_messages.c, which has the messages, and loss.c, on the ingest thread.
 */
#include "exporter/join/look_times.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"

#define SLOTS 1024

LIST_HEAD(look_list, look);

struct look_times {
	uint32_t now;
	uint32_t turned; /* slots of the seconds up to here are emptied */
	uint32_t first;
	uint64_t set; /* how many looks */
	struct look_list ready;
	struct look_list slots[SLOTS];
};

struct look_times *
look_times_new(void)
{
	return memory_zeroed(1, sizeof(struct look_times));
}

void
look_times_free(struct look_times **times)
{
	free(*times);
	*times = NULL;
}

void
look_times_clear(struct look_times *times)
{
	*times = (struct look_times){
	    .now = times->now, .turned = times->now, .first = times->first};
}

void
look_times_set_now(struct look_times *times, uint32_t now)
{
	/* Nothing was set before the first time is known. */
	if (times->now == 0)
		times->turned = now;
	if (now > times->now)
		times->now = now;
}

uint32_t
look_times_now(const struct look_times *times)
{
	return times->now;
}

void
look_times_set_first(struct look_times *times, uint32_t seconds)
{
	times->first = seconds;
}

void
look_times_cancel(struct look_times *times, struct look *look)
{
	if (look->due == 0)
		return;
	LIST_REMOVE(look, place);
	look->due = 0;
	times->set--;
}

void
look_times_set(struct look_times *times, struct look *look, uint32_t due)
{
	look_times_cancel(times, look);
	if (due <= times->turned)
		due = times->turned + 1;
	look->due = due;
	LIST_INSERT_HEAD(&times->slots[due % SLOTS], look, place);
	times->set++;
}

void
look_times_begin(struct look_times *times, struct look *look)
{
	look->active = times->now;
	if (look->due == 0 && times->first != 0)
		look_times_set(times, look, times->now + times->first);
}

void
look_times_note(struct look_times *times, struct look *look, bool soon)
{
	look->active = times->now;
	if (soon && times->first != 0)
		look_times_set(times, look, times->now + 1);
}

/* Moves what is due at the second `turned` to the list of those that are. */
static void
empty_slot(struct look_times *times)
{
	struct look *look, *next;

	for (look = LIST_FIRST(&times->slots[times->turned % SLOTS]);
	     look != NULL; look = next) {
		next = LIST_NEXT(look, place);
		if (look->due > times->turned)
			continue;
		LIST_REMOVE(look, place);
		LIST_INSERT_HEAD(&times->ready, look, place);
	}
}

/* After a long sleep each slot is looked at once. */
static void
turn(struct look_times *times)
{
	if (times->now - times->turned > SLOTS) {
		uint32_t missed = times->now - times->turned - SLOTS;

		times->turned += missed;
	}
	while (LIST_EMPTY(&times->ready) && times->turned < times->now) {
		times->turned++;
		empty_slot(times);
	}
}

struct look *
look_times_next(struct look_times *times)
{
	struct look *look;

	turn(times);
	look = LIST_FIRST(&times->ready);
	if (look != NULL)
		look_times_cancel(times, look);
	return look;
}

uint32_t
look_times_deadline(const struct look_times *times)
{
	if (times->set == 0)
		return 0;
	if (!LIST_EMPTY(&times->ready))
		return times->now;
	for (uint32_t i = 1; i <= SLOTS; i++)
		if (!LIST_EMPTY(&times->slots[(times->turned + i) % SLOTS]))
			return times->turned + i;
	return 0;
}

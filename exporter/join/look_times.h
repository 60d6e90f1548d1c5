/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * look_times: when each open message's queue file is to be looked for next.
 *
 * A wheel of seconds: what is set, moved or taken costs the same however many
 * messages there are. Its items are part of what they are about, so that a
 * million of them take no memory of their own. Times are whole seconds of
 * CLOCK_MONOTONIC. Not thread-safe.
 */
#ifndef EXPORTER_JOIN_LOOK_TIMES_H
#define EXPORTER_JOIN_LOOK_TIMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct look_times;

/* What is remembered of the looks at one message. Zeroed: none yet. */
struct look {
	LIST_ENTRY(look) place;
	uint32_t due;    /* 0: is not to be looked at */
	uint32_t active; /* when something was last heard of it */
	uint32_t asked;  /* 0: no answer is awaited */
	uint32_t absent; /* when it was first found absent; 0: it was not */
	uint32_t pause;  /* between the last two looks that found it */
	uint8_t absences;
};

struct look_times *look_times_new(void);
void look_times_free(struct look_times **times);

/* The present. Must not go back. */
void look_times_set_now(struct look_times *times, uint32_t now);
uint32_t look_times_now(const struct look_times *times);

/* A message that becomes open is looked for so long after; 0, as at first: no
 * message ever is. */
void look_times_set_first(struct look_times *times, uint32_t seconds);

/* Sets or moves it; what lies in the past is due now. */
void look_times_set(struct look_times *times, struct look *look, uint32_t due);

/* A message became open: its look is due in time, unless it is set already. */
void look_times_begin(struct look_times *times, struct look *look);

/* Something was heard of the message. `soon`: a look is due now, as the last
 * one says something else. */
void look_times_note(struct look_times *times, struct look *look, bool soon);

/* Forgets all looks, whose memory is gone. The present and what
 * look_times_set_first() said stay. */
void look_times_clear(struct look_times *times);

/* To be called before a look's memory goes away. */
void look_times_cancel(struct look_times *times, struct look *look);

/* Takes one that is due; NULL when none is. */
struct look *look_times_next(struct look_times *times);

/* When look_times_next() should be asked again at the latest; 0: never. */
uint32_t look_times_deadline(const struct look_times *times);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timeline: a message record as people read it: what happened when, how long
 * each phase took, what became of each recipient.
 *
 * Durations come from proto/phase.h. Serves `postlag show`, its --json and the
 * API alike, so that all three say the same.
 */
#ifndef STORE_TIMELINE_H
#define STORE_TIMELINE_H

#include "proto/phase.h"
#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;

/* A phase as it is shown. `offset_ns` counts from MAIL FROM; the phases before
 * it have negative offsets. Without a message it counts from the leg's MAIL. */
struct timeline_phase {
	enum phase phase;
	int64_t offset_ns;
	int64_t duration_ns;
	bool skewed; /* clocks that disagree; duration_ns is then negative */
};

/* Up to end of message the phases are the message's; from the queue on they are
 * each recipient's. */
struct timeline_recipient {
	const struct recipient_record *record;
	const struct delivery_reply *reply; /* that decided; NULL: none */
	struct duration latency;            /* MAIL FROM to that reply */
	const char *route; /* see route.h; NULL: none, or unknown */
	/* Delivery agents' lines about it in Postfix's log, and the last. */
	size_t attempt_count;
	const struct attempt_record *last_attempt;
	struct timeline_phase phases[PHASES];
	size_t phase_count;
};

struct timeline {
	const struct message_record *record;
	int64_t start_wall_ns; /* where offset 0 is */
	struct timeline_phase phases[PHASES];
	size_t phase_count;
	struct timeline_recipient *recipients;
	size_t recipient_count;
	int64_t first_offset_ns; /* of everything shown */
	int64_t last_offset_ns;
};

/* Builds it in `arena`; the record must outlive it. NULL when the arena is
 * full. */
struct timeline *timeline_build(
    const struct message_record *record, struct arena *arena);

/* The same as a JSON object, NUL-terminated, to be freed with free(3). Stamps
 * are RFC 3339 with microseconds, durations are seconds. Never NULL. */
char *timeline_json(const struct timeline *timeline);

/* Appends the records so, separated by commas, as the items of an array.
 * `arena` is used meanwhile. Returns 0, or -1 when it is full. */
int timelines_json(const struct message_record *records, size_t count,
    struct arena *arena, struct buffer *out);

#endif

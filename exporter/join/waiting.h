/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiting: deliveries whose stamp names a message that is not known yet.
 *
 * The store has their legs; here is what settles them: the message when it
 * comes, or time. Kept in the order of arrival, which is that of the deadlines.
 * Not thread-safe.
 */
#ifndef EXPORTER_JOIN_WAITING_H
#define EXPORTER_JOIN_WAITING_H

#include "store/store.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct waiting;

/* Where and on which machine's boot a leg was made. */
struct waiting_origin {
	const char *instance;
	const uint8_t *boot_id; /* CLOCK_BOOT_ID_BYTES */
};

struct waiting_entry {
	struct message_key leg;
	struct uuid stamp_id;
	char *instance;
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
	int64_t deadline_ns; /* CLOCK_MONOTONIC */
};

struct waiting *waiting_new(void);
void waiting_clear(struct waiting *waiting);
void waiting_free(struct waiting **waiting);

/* Copies everything. */
void waiting_add(struct waiting *waiting, const struct message_key *leg,
    const struct delivery_event *event, const struct waiting_origin *origin,
    int64_t deadline_ns);

/* How many legs wait. */
size_t waiting_count(const struct waiting *waiting);

/* The entry that waits longest, for this id or at all; NULL if none does. */
const struct waiting_entry *waiting_for(
    struct waiting *waiting, const struct uuid *stamp_id);
const struct waiting_entry *waiting_oldest(struct waiting *waiting);

/* The entry for the same id that waits less long; NULL if none does. */
const struct waiting_entry *waiting_next(const struct waiting_entry *entry);

/* The delivery of an entry, in `arena`. Returns 0, or -1 when the arena is
 * full. */
int waiting_event(const struct waiting_entry *entry, struct arena *arena,
    struct delivery_event *event_r, struct reason *reason);

void waiting_remove(struct waiting *waiting, const struct waiting_entry *entry);

#endif

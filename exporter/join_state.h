/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join_state: what the parts of the join share: its memory and the event at
 * hand. Included by join*.c only.
 */
#ifndef EXPORTER_JOIN_STATE_H
#define EXPORTER_JOIN_STATE_H

#include "exporter/join.h"
#include "exporter/waiting.h"

struct arena;
struct open_messages;
struct tracked;

struct join {
	struct store *store;
	struct open_messages *messages;
	struct waiting *waiting;
	int64_t stamp_wait_ns;
	struct arena *scratch; /* of one event */
};

/* An event to apply. */
struct join_input {
	const char *source;
	const struct journal_record *record;
	int64_t now_ns;
};

int join_message(
    struct join *join, const struct join_input *input, struct reason *reason);
int join_delivery(
    struct join *join, const struct join_input *input, struct reason *reason);
int join_heartbeat(
    struct join *join, const struct join_input *input, struct reason *reason);

/* Whether a stamp that names `message` is this delivery's own. */
bool join_belongs(const struct tracked *message,
    const struct delivery_event *delivery, const char *instance);

/* Decides a waiting leg: it belongs to `message`, or, when that is NULL, its
 * stamp is foreign. Removes the entry. */
int join_settle(struct join *join, const struct waiting_entry *entry,
    struct tracked *message, struct reason *reason);

#endif

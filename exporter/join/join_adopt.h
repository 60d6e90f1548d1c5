/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join_adopt: messages that others told of before those whose they are.
 *
 * The milter knows best what a message is, then the log, then the hook. What
 * one of them made up goes over to the message of a better one when that comes.
 * Included by join*.c only.
 */
#ifndef EXPORTER_JOIN_JOIN_ADOPT_H
#define EXPORTER_JOIN_JOIN_ADOPT_H

#include "exporter/join/join_state.h"

/* So much earlier than the milter the log may tell of a beginning: its time may
 * have seconds only. */
#define JOIN_BEFORE_NS (CLOCKS_DIFFER_NS + SECOND_NS)

/* Whether the store may know a message that others than the milter told of or
 * continued since then, and memory does not. */
bool join_may_be_stored(struct join *join, int64_t since_wall_ns);

/* Whether anybody bears the queue id of the milter's event, or did: mostly
 * nobody, and then nothing else need be asked. Returns 1, 0, or -1. */
int join_is_borne(struct join *join, const struct message_event *event,
    const char *instance, struct reason *reason);

/* When the transaction had ended at the latest. */
int64_t join_end_ns(const struct message_event *event);

/* The message by which log or hook have told of what the milter's event is
 * about. Returns 1, 0, or -1. */
int join_find_told(struct join *join, const struct message_event *event,
    const char *instance, struct tracked **told_r, struct reason *reason);

/* What only the hook told of a queue id from since_wall_ns on, unless it lies
 * in another file. Returns 1, 0, or -1. */
int join_find_hooks(struct join *join, const struct queue_id_claim *claim,
    const struct day_file *file, struct tracked **hooks_r,
    struct reason *reason);

/* Gives what only the hook told of a queue id to whoever bears it now. Returns
 * 0, or -1. */
int join_give_hooks(
    struct join *join, struct tracked *hooks, struct reason *reason);

#endif

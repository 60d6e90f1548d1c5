/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open_messages: the messages with a recipient in flight, in memory.
 *
 * What the join asks for most, found by id without asking the store. A cache
 * with a rule: it holds every message that has a recipient in flight, so that
 * its sums are the gauges; others pass through it while an event is applied.
 * Built anew from the store at start and after a failed commit. Not
 * thread-safe.
 */
#ifndef EXPORTER_OPEN_MESSAGES_H
#define EXPORTER_OPEN_MESSAGES_H

#include "store/store.h"

#include <stddef.h>
#include <stdint.h>

struct open_messages;
struct tracked;

struct open_messages *open_messages_new(void);
void open_messages_clear(struct open_messages *messages);
void open_messages_free(struct open_messages **messages);

/* NULL when it is not held. */
struct tracked *open_messages_find(
    struct open_messages *messages, const struct uuid *id);

/* Holds a copy. The id must not be held yet. */
struct tracked *open_messages_add(
    struct open_messages *messages, const struct open_message *message);

/* What is held; valid until the message is changed or let go. */
const struct open_message *tracked_message(const struct tracked *tracked);

/* Sets what is known of recipient `number`; the next number after the last
 * adds one, with `address` copied, which is not used otherwise. */
void tracked_set_recipient(struct open_messages *messages,
    struct tracked *tracked, const char *address,
    const struct recipient_change *change);

/* Lets the message go unless it has a recipient in flight. */
void open_messages_settle(
    struct open_messages *messages, struct tracked *tracked);

struct open_messages_figures {
	size_t messages;
	size_t recipients;
	int64_t oldest_wall_ns; /* MAIL FROM; 0 when there is none */
};

struct open_messages_figures open_messages_figures(
    struct open_messages *messages);

#endif

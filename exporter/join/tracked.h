/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracked: a message as it is held in memory, in one piece as far as it goes.
 *
 * A million of them must fit: the message, the recipients that it came with and
 * all their text are one allocation; only what is added later has its own.
 * Included by open_messages.c and tracked.c only.
 */
#ifndef EXPORTER_JOIN_TRACKED_H
#define EXPORTER_JOIN_TRACKED_H

#include "exporter/join/look_times.h"
#include "store/store_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct tracked {
	struct open_message message; /* its memory is the entry's own */
	TAILQ_ENTRY(tracked) by_use;
	struct look look;
	uint32_t capacity;   /* of message.recipients */
	uint32_t open;       /* recipients */
	uint32_t size_bytes; /* of the whole piece */
	bool is_kept;        /* in the list of those that nothing is open of */
			     /* Here follow recipients and text. */
};

/* A copy of the message with its recipients, their states being
 * RECIPIENT_STATES, and without further queue ids. `instance` lives longer than
 * it. */
struct tracked *tracked_new(
    const struct open_message *message, const char *instance);
void tracked_free(struct tracked *tracked);

/* A further recipient. */
struct open_recipient *tracked_add_recipient(
    struct tracked *tracked, const char *address);

/* Sets the address that a recipient had before; copied. */
void tracked_set_original(struct tracked *tracked,
    struct open_recipient *recipient, const char *original);

/* A further claim; the queue id is copied, the instance is not. */
void tracked_add_claim(
    struct tracked *tracked, const struct queue_id_claim *claim);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leg_pack: one part of a delivery as a blob, and back.
 *
 * Failures stick to the connection, the buffer or the reader. On the thread
 * that has the connection.
 */
#ifndef STORE_LEG_PACK_H
#define STORE_LEG_PACK_H

#include "proto/event.h"

#include <stddef.h>

struct arena;
struct buffer;
struct day_tables;
struct message_brief;

/* What stamps are relative to: the message's MAIL FROM, or without a message
 * `base`. */
struct leg_context {
	const struct message_brief *message; /* NULL: none */
	struct stamp base;
};

void leg_pack(struct day_tables *tables, const struct delivery_event *event,
    const struct leg_context *context, struct buffer *out);

/* What was packed, and with which context: the same as then, except that the
 * message may be any if it was packed without. */
struct leg_blob {
	const void *data;
	size_t size;
	struct leg_context context;
};

/* All but the id, which has its column. Returns 0, or -1 for a damaged blob or
 * a full arena. */
int leg_unpack(struct day_tables *tables, const struct leg_blob *blob,
    struct arena *arena, struct delivery_event *event_r);

/* Only the number of the part. */
uint32_t leg_unpack_part(const void *data, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event_codec: events and segment headers as protobuf bytes, and back.
 *
 * The only user of the generated header. Unknown fields are ignored, unknown
 * enumerators read as NONE, unknown counters skipped, so that an older exporter
 * reads a newer producer.
 */
#ifndef PROTO_EVENT_CODEC_H
#define PROTO_EVENT_CODEC_H

#include <stddef.h>

struct arena;
struct buffer;
struct event;
struct reason;
struct segment_header;

/* Appends the encoded event to `out`. `scratch` gives temporary memory. Returns
 * 0, or -1 when there is no memory (out->failed or the arena's mark tells). */
int event_encode(
    const struct event *event, struct arena *scratch, struct buffer *out);

/* Decodes `size` bytes; what *event_r points to lives in `arena`. Returns 0, or
 * -1 when the bytes are no event or the arena's limit is too small. */
int event_decode(const void *data, size_t size, struct arena *arena,
    struct event *event_r, struct reason *reason);

int segment_header_encode(const struct segment_header *header,
    struct arena *scratch, struct buffer *out);
int segment_header_decode(const void *data, size_t size, struct arena *arena,
    struct segment_header *header_r, struct reason *reason);

#endif

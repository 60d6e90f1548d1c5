/* SPDX-License-Identifier: BSD-2-Clause */
/* Events in any bytes: what is decoded is encoded to bytes that are decoded to
 * the same. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "proto/event.h"
#include "proto/event_codec.h"
#include "proto/segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Decodes and encodes again. Returns whether that was possible. */
static int
canonical(
    const void *data, size_t size, struct arena *arena, struct buffer *out)
{
	struct event event;

	arena_reset(arena);
	buffer_clear(out);
	if (event_decode(data, size, arena, &event, NULL) != 0)
		return 0;
	return event_encode(&event, arena, out) == 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new(1 << 20);
	struct buffer once = {0}, twice = {0};
	struct segment_header header;

	segment_header_decode(data, size, arena, &header, NULL);
	if (canonical(data, size, arena, &once) &&
	    canonical(once.data, once.size, arena, &twice)) {
		assert(once.size == twice.size);
		assert(once.size == 0 ||
		       memcmp(once.data, twice.data, once.size) == 0);
	}
	arena_free(&arena);
	buffer_free(&once);
	buffer_free(&twice);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames in any bytes: looking never reads beyond them, and finding agrees with
 * looking everywhere. The first 8 bytes are the seed. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "proto/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum frame_state
look(const uint8_t *data, size_t size, uint64_t seed)
{
	const uint8_t *payload;
	size_t payload_size;
	enum frame_state state =
	    frame_open(data, size, seed, &payload, &payload_size);

	if (state == FRAME_WHOLE) {
		assert(payload == data + FRAME_HEADER_BYTES);
		assert(payload_size <= size - FRAME_HEADER_BYTES);
		assert(payload_size <= FRAME_PAYLOAD_MAX);
	} else if (state == FRAME_SHORT) {
		assert(frame_bytes_wanted(data, size) > size);
	}
	return state;
}

static size_t
find_slowly(
    const uint8_t *data, size_t size, uint64_t seed, enum frame_state wanted)
{
	for (size_t i = 1; i < size; i++)
		if (look(data + i, size - i, seed) == wanted)
			return i;
	return size;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t seed;

	if (size < sizeof(seed))
		return 0;
	memcpy(&seed, data, sizeof(seed));
	data += sizeof(seed);
	size -= sizeof(seed);
	look(data, size, seed);
	assert(frame_find(data, size, seed) ==
	       find_slowly(data, size, seed, FRAME_WHOLE));
	assert(frame_find_beginning(data, size, seed) ==
	       find_slowly(data, size, seed, FRAME_SHORT));
	return 0;
}

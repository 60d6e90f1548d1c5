/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sealing, opening and finding frames in memory. Used by the segment's header,
 * the journal's writer (under its mutex) and readers.
 */
#include "proto/frame.h"

#include "base/buffer.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

/* Inlined, because records are a few hundred bytes and a call that dispatches
 * on the processor costs as much as hashing them. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#define MARKER UINT32_C(0x474c50f5) /* little-endian: F5 50 4C 47 */
#define MARKER_BYTES 4
#define LENGTH_OFFSET 4
#define CHECKSUM_OFFSET 8

static uint32_t
get_u32(const uint8_t *data)
{
	uint32_t value;

	memcpy(&value, data, sizeof(value));
	return le32toh(value);
}

static void
put_u32(uint8_t *data, uint32_t value)
{
	value = htole32(value);
	memcpy(data, &value, sizeof(value));
}

static uint32_t
marker_for(uint64_t seed)
{
	return MARKER ^ (uint32_t)(seed >> 32);
}

/* XXH3 depends on the number of bytes hashed, so this covers the length. */
static uint32_t
checksum_of(const uint8_t *payload, size_t size, uint64_t seed)
{
	return (uint32_t)XXH3_64bits_withSeed(payload, size, seed);
}

int
frame_seal(struct buffer *buffer, size_t start, uint64_t seed)
{
	uint8_t *frame = buffer->data + start;
	size_t size = buffer->size - start - FRAME_HEADER_BYTES;

	if (size > FRAME_PAYLOAD_MAX)
		return -1;
	put_u32(frame, marker_for(seed));
	put_u32(frame + LENGTH_OFFSET, (uint32_t)size);
	put_u32(frame + CHECKSUM_OFFSET,
	    checksum_of(frame + FRAME_HEADER_BYTES, size, seed));
	return 0;
}

enum frame_state
frame_open(const uint8_t *data, size_t size, uint64_t seed,
    const uint8_t **payload_r, size_t *payload_size_r)
{
	uint8_t marker[MARKER_BYTES];
	size_t length;

	put_u32(marker, marker_for(seed));
	if (memcmp(data, marker, size < MARKER_BYTES ? size : MARKER_BYTES) !=
	    0)
		return FRAME_DAMAGED;
	if (size < LENGTH_OFFSET + 4)
		return FRAME_SHORT;
	length = get_u32(data + LENGTH_OFFSET);
	if (length > FRAME_PAYLOAD_MAX)
		return FRAME_DAMAGED;
	if (size < FRAME_HEADER_BYTES || size - FRAME_HEADER_BYTES < length)
		return FRAME_SHORT;
	*payload_r = data + FRAME_HEADER_BYTES;
	*payload_size_r = length;
	if (get_u32(data + CHECKSUM_OFFSET) !=
	    checksum_of(*payload_r, length, seed))
		return FRAME_DAMAGED;
	return FRAME_WHOLE;
}

size_t
frame_bytes_wanted(const uint8_t *data, size_t size)
{
	if (size < FRAME_HEADER_BYTES)
		return FRAME_HEADER_BYTES;
	return FRAME_HEADER_BYTES + (size_t)get_u32(data + LENGTH_OFFSET);
}

/* The next offset, from `from` on, at which frame_open() answers `wanted`. */
static size_t
find_state(const uint8_t *data, size_t from, size_t size, uint64_t seed,
    enum frame_state wanted)
{
	uint8_t marker[MARKER_BYTES];
	const uint8_t *payload, *at;
	size_t payload_size;

	put_u32(marker, marker_for(seed));
	while (from < size) {
		at = memmem(data + from, size - from, marker, MARKER_BYTES);
		if (at == NULL)
			return size;
		from = (size_t)(at - data);
		if (frame_open(at, size - from, seed, &payload,
			&payload_size) == wanted)
			return from;
		from++;
	}
	return size;
}

size_t
frame_find(const uint8_t *data, size_t size, uint64_t seed)
{
	return find_state(data, 1, size, seed, FRAME_WHOLE);
}

size_t
frame_find_beginning(const uint8_t *data, size_t size, uint64_t seed)
{
	size_t found = find_state(data, 1, size, seed, FRAME_SHORT);
	size_t tail = size > MARKER_BYTES ? size - MARKER_BYTES + 1 : 1;
	const uint8_t *payload;
	size_t payload_size;

	/* A marker that is cut itself. */
	for (; found == size && tail < size; tail++)
		if (frame_open(data + tail, size - tail, seed, &payload,
			&payload_size) == FRAME_SHORT)
			found = tail;
	return found;
}

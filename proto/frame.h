/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame: a record on disk: marker, length, checksum, payload.
 *
 *     4 bytes  marker: F5 50 4C 47, XORed with the seed's high half
 *     4 bytes  payload length, at most FRAME_PAYLOAD_MAX
 *     4 bytes  checksum: low half of the seeded XXH3-64 of the payload, which
 *              depends on its length too
 *     payload
 *
 * Numbers are little-endian. A frame is either whole or detectably not. The
 * seed is random and a segment's own, so that bytes which a mail client can put
 * into a payload are never taken for a frame, nor even for the beginning of
 * one, when a reader looks for the next one behind damage. No I/O here.
 */
#ifndef PROTO_FRAME_H
#define PROTO_FRAME_H

#include <stddef.h>
#include <stdint.h>

struct buffer;

#define FRAME_HEADER_BYTES 12
#define FRAME_PAYLOAD_MAX (4u << 20)

/* Turns what `buffer` holds from `start` on, FRAME_HEADER_BYTES left free by
 * the caller and then the payload, into a frame. Returns 0, or -1 when the
 * payload is too large. */
int frame_seal(struct buffer *buffer, size_t start, uint64_t seed);

enum frame_state {
	FRAME_WHOLE,  /* a frame stands at the beginning */
	FRAME_SHORT,  /* what is there may be the beginning of one */
	FRAME_DAMAGED /* no frame begins here, whatever follows */
};

/* Looks at the beginning of the bytes. For FRAME_WHOLE *payload_r and
 * *payload_size_r tell the payload; the frame takes FRAME_HEADER_BYTES more. */
enum frame_state frame_open(const uint8_t *data, size_t size, uint64_t seed,
    const uint8_t **payload_r, size_t *payload_size_r);

/* After FRAME_SHORT: how many bytes the next look needs to tell more. */
size_t frame_bytes_wanted(const uint8_t *data, size_t size);

/* The offset, at least 1, of the next place where frame_open() says
 * FRAME_WHOLE; `size` if there is none. */
size_t frame_find(const uint8_t *data, size_t size, uint64_t seed);

/* The same for FRAME_SHORT: where a frame may begin whose end is not there. */
size_t frame_find_beginning(const uint8_t *data, size_t size, uint64_t seed);

#endif

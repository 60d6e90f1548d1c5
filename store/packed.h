/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packed: numbers, stamps and bytes in as few bytes as they need.
 *
 * Unsigned numbers are little-endian groups of seven bits, signed ones are
 * zigzagged first. A stamp is written as its distance in microseconds from the
 * stamp before it in the same blob, on the monotonic clock, and by how much the
 * wall clock walked differently, which is nearly nothing. What is below a
 * microsecond is cut off (rounded down, so that no order is reversed), or
 * written beside where it matters. Any value survives the round trip, but for
 * the last nanoseconds that a stamp can hold. Pure; any thread.
 */
#ifndef STORE_PACKED_H
#define STORE_PACKED_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* Where the next stamp is written to or read from: relative to `last`. */
struct packed_writer {
	struct buffer *out;
	struct stamp last;
};

/* After bytes ran out or made no sense, `failed` stays set and everything reads
 * as zero: check once, at the end. */
struct packed_reader {
	const uint8_t *data;
	size_t size;
	struct stamp last;
	bool failed;
};

/* The writer appends; out->failed tells. */
void packed_put_unsigned(struct packed_writer *writer, uint64_t value);
void packed_put_signed(struct packed_writer *writer, int64_t value);
void packed_put_bytes(
    struct packed_writer *writer, const void *data, size_t size);

/* The stamps at `stamps[0..count)`, at most 32 of them: which are set, then
 * those. */
void packed_put_stamps(struct packed_writer *writer,
    const struct stamp *const *stamps, unsigned count);

/* What is left of a stamp then. */
struct stamp packed_cut(struct stamp stamp);

/* The nanoseconds that this cut off one of them. */
void packed_put_rest(struct packed_writer *writer, const struct stamp *stamp);

uint64_t packed_unsigned(struct packed_reader *reader);
int64_t packed_signed(struct packed_reader *reader);

/* Points into the reader's data; NULL when it failed. */
const void *packed_bytes(struct packed_reader *reader, size_t *size_r);

void packed_stamps(struct packed_reader *reader, struct stamp *const *stamps_r,
    unsigned count);
void packed_rest(struct packed_reader *reader, struct stamp *stamp);

#endif

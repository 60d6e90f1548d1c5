/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The packing that rows' blobs and histograms share. Called by the writer on
 * the ingest thread and by readers on theirs; no state of its own.
 *
 * Differences are taken modulo 2^64, so that a stamp which a broken producer
 * made up comes back as it was.
 */
#include "store/packed.h"

#include <string.h>

#include "base/buffer.h"

#define VARINT_BYTES_MAX 10
#define NS_PER_US 1000

void
packed_put_unsigned(struct packed_writer *writer, uint64_t value)
{
	uint8_t bytes[VARINT_BYTES_MAX];
	size_t size = 0;

	while (value >= 0x80) {
		bytes[size++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes[size++] = (uint8_t)value;
	buffer_append(writer->out, bytes, size);
}

static uint64_t
zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static int64_t
unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

void
packed_put_signed(struct packed_writer *writer, int64_t value)
{
	packed_put_unsigned(writer, zigzag(value));
}

void
packed_put_bytes(struct packed_writer *writer, const void *data, size_t size)
{
	packed_put_unsigned(writer, size);
	if (size > 0)
		buffer_append(writer->out, data, size);
}

static int64_t
minus(int64_t left, int64_t right)
{
	return (int64_t)((uint64_t)left - (uint64_t)right);
}

static int64_t
plus(int64_t left, int64_t right)
{
	return (int64_t)((uint64_t)left + (uint64_t)right);
}

/* Rounded down, also before 1970; the last microsecond before the lowest number
 * is taken for that. */
#define LOWEST_US (INT64_MIN / NS_PER_US)

static int64_t
in_us(int64_t ns)
{
	int64_t us = ns / NS_PER_US - (ns % NS_PER_US < 0);

	return us < LOWEST_US ? LOWEST_US : us;
}

static int64_t
in_ns(int64_t us)
{
	return (int64_t)((uint64_t)us * NS_PER_US);
}

/* How far the wall clock walked differently: in the low bits of the step, or
 * both in full behind a word that says so. */
enum { WALKED_EQUALLY, WALKED_MORE, WALKED_LESS, WALKED_FREELY };

#define WALK_BITS 2
#define STEP_MAX (INT64_C(1) << 60)

static void
put_stamp(struct packed_writer *writer, const struct stamp *stamp)
{
	struct stamp us = {in_us(stamp->wall_ns), in_us(stamp->monotonic_ns)};
	int64_t step = minus(us.monotonic_ns, in_us(writer->last.monotonic_ns));
	int64_t walk =
	    minus(minus(us.wall_ns, in_us(writer->last.wall_ns)), step);
	unsigned walked = walk == 0   ? WALKED_EQUALLY
			  : walk == 1 ? WALKED_MORE
				      : WALKED_LESS;

	if (walk < -1 || walk > 1 || step >= STEP_MAX || step <= -STEP_MAX) {
		packed_put_unsigned(writer, WALKED_FREELY);
		packed_put_signed(writer, step);
		packed_put_signed(writer, walk);
	} else {
		packed_put_unsigned(writer, zigzag(step) << WALK_BITS | walked);
	}
	writer->last = *stamp;
}

void
packed_put_stamps(struct packed_writer *writer,
    const struct stamp *const *stamps, unsigned count)
{
	uint32_t set = 0;

	for (unsigned i = 0; i < count; i++)
		set |= (uint32_t)stamp_is_set(stamps[i]) << i;
	packed_put_unsigned(writer, set);
	for (unsigned i = 0; i < count; i++) {
		if (set >> i & 1)
			put_stamp(writer, stamps[i]);
	}
}

struct stamp
packed_cut(struct stamp stamp)
{
	return (struct stamp){
	    in_ns(in_us(stamp.wall_ns)), in_ns(in_us(stamp.monotonic_ns))};
}

static uint64_t
rest_of(int64_t ns)
{
	int64_t rest = ns - in_us(ns) * NS_PER_US;

	return rest < 0 ? 0 : (uint64_t)rest;
}

void
packed_put_rest(struct packed_writer *writer, const struct stamp *stamp)
{
	packed_put_unsigned(writer,
	    rest_of(stamp->wall_ns) * NS_PER_US + rest_of(stamp->monotonic_ns));
}

static void
fail(struct packed_reader *reader)
{
	reader->failed = true;
	reader->size = 0;
}

uint64_t
packed_unsigned(struct packed_reader *reader)
{
	uint64_t value = 0;

	for (size_t i = 0; i < reader->size && i < VARINT_BYTES_MAX; i++) {
		uint8_t byte = reader->data[i];

		if (i == VARINT_BYTES_MAX - 1 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			reader->data += i + 1;
			reader->size -= i + 1;
			return value;
		}
	}
	fail(reader);
	return 0;
}

int64_t
packed_signed(struct packed_reader *reader)
{
	return unzigzag(packed_unsigned(reader));
}

const void *
packed_bytes(struct packed_reader *reader, size_t *size_r)
{
	uint64_t size = packed_unsigned(reader);
	const void *data = reader->data;

	*size_r = 0;
	if (size > reader->size)
		fail(reader);
	if (reader->failed)
		return NULL;
	reader->data += size;
	reader->size -= (size_t)size;
	*size_r = (size_t)size;
	return data;
}

static void
get_stamp(struct packed_reader *reader, struct stamp *stamp_r)
{
	uint64_t word = packed_unsigned(reader);
	unsigned walked = word & WALKED_FREELY;
	int64_t step = unzigzag(word >> WALK_BITS), walk;

	if (walked == WALKED_FREELY) {
		step = packed_signed(reader);
		walk = packed_signed(reader);
	} else {
		walk = walked == WALKED_MORE ? 1 : -(walked == WALKED_LESS);
	}
	if (reader->failed)
		return;
	stamp_r->monotonic_ns =
	    in_ns(plus(in_us(reader->last.monotonic_ns), step));
	stamp_r->wall_ns =
	    in_ns(plus(in_us(reader->last.wall_ns), plus(step, walk)));
	reader->last = *stamp_r;
}

void
packed_stamps(
    struct packed_reader *reader, struct stamp *const *stamps_r, unsigned count)
{
	uint64_t set = packed_unsigned(reader);

	if (set >> count != 0)
		fail(reader);
	for (unsigned i = 0; i < count; i++) {
		memset(stamps_r[i], 0, sizeof(*stamps_r[i]));
		if (set >> i & 1)
			get_stamp(reader, stamps_r[i]);
	}
}

void
packed_rest(struct packed_reader *reader, struct stamp *stamp)
{
	uint64_t rest = packed_unsigned(reader);

	stamp->wall_ns = plus(stamp->wall_ns, (int64_t)(rest / NS_PER_US));
	stamp->monotonic_ns =
	    plus(stamp->monotonic_ns, (int64_t)(rest % NS_PER_US));
}

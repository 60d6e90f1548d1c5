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

void
packed_put_signed(struct packed_writer *writer, int64_t value)
{
	uint64_t sign = value < 0 ? UINT64_MAX : 0;

	packed_put_unsigned(writer, ((uint64_t)value << 1) ^ sign);
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

static void
put_stamp(struct packed_writer *writer, const struct stamp *stamp)
{
	int64_t step = minus(stamp->monotonic_ns, writer->last.monotonic_ns);
	int64_t wall_step = minus(stamp->wall_ns, writer->last.wall_ns);

	packed_put_signed(writer, step);
	packed_put_signed(writer, minus(wall_step, step));
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
	uint64_t value = packed_unsigned(reader);

	return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
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
	int64_t step = packed_signed(reader);
	int64_t wall_step = plus(packed_signed(reader), step);

	if (reader->failed)
		return;
	stamp_r->monotonic_ns = plus(reader->last.monotonic_ns, step);
	stamp_r->wall_ns = plus(reader->last.wall_ns, wall_step);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* A frame is whole or detectably not, and never forged. */
#include "proto/frame.h"

#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/unit.h"

#define SEED UINT64_C(0x123456789abcdef0)

static void
append_frame(
    struct buffer *out, const void *payload, size_t size, uint64_t seed)
{
	size_t start = out->size;

	buffer_reserve(out, FRAME_HEADER_BYTES);
	buffer_append(out, payload, size);
	assert_false(out->failed);
	assert_int_equal(frame_seal(out, start, seed), 0);
}

static enum frame_state
open_state(const uint8_t *data, size_t size, uint64_t seed)
{
	const uint8_t *payload;
	size_t payload_size;

	return frame_open(data, size, seed, &payload, &payload_size);
}

static void
opens_what_it_sealed(void **state)
{
	static const size_t sizes[] = {
	    0, 1, 2, 3, 4, 8, 16, 17, 128, 129, 240, 241, 300, 4096, 1 << 20};
	uint8_t *payload = malloc(1 << 20);
	struct buffer buffer = {0};

	for (size_t i = 0; i < 1 << 20; i++)
		payload[i] = (uint8_t)(i * 31 + i / 256);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		const uint8_t *opened;
		size_t size;

		buffer_clear(&buffer);
		append_frame(&buffer, payload, sizes[i], SEED);
		buffer_append(&buffer, "behind", 6);
		assert_int_equal(
		    frame_open(buffer.data, buffer.size, SEED, &opened, &size),
		    FRAME_WHOLE);
		assert_int_equal(size, sizes[i]);
		assert_ptr_equal(opened, buffer.data + FRAME_HEADER_BYTES);
		assert_memory_equal(opened, payload, size);
	}
	buffer_free(&buffer);
	free(payload);
}

static void
the_bytes_on_disk_stay_as_they_are(void **state)
{
	/* Marker, length, checksum, payload, as format 1 has them. */
	static const uint8_t plain[] = {0xf5, 0x50, 0x4c, 0x47, 3, 0, 0, 0,
	    0x50, 0x39, 0x2f, 0x89, 'a', 'b', 'c'};
	static const uint8_t seeded[] = {0x8d, 0x06, 0x78, 0x55, 3, 0, 0, 0,
	    0xd4, 0x04, 0xba, 0x21, 'a', 'b', 'c'};
	struct buffer buffer = {0};

	append_frame(&buffer, "abc", 3, 0);
	append_frame(&buffer, "abc", 3, SEED);
	assert_int_equal(buffer.size, sizeof(plain) + sizeof(seeded));
	assert_memory_equal(buffer.data, plain, sizeof(plain));
	assert_memory_equal(
	    buffer.data + sizeof(plain), seeded, sizeof(seeded));
	buffer_free(&buffer);
}

static void
every_beginning_of_a_frame_is_short(void **state)
{
	struct buffer buffer = {0};

	append_frame(&buffer, "some payload", 12, SEED);
	for (size_t size = 0; size < buffer.size; size++) {
		assert_int_equal(
		    open_state(buffer.data, size, SEED), FRAME_SHORT);
		assert_int_equal(frame_bytes_wanted(buffer.data, size),
		    size < FRAME_HEADER_BYTES ? FRAME_HEADER_BYTES
					      : buffer.size);
	}
	buffer_free(&buffer);
}

static void
no_changed_bit_is_accepted(void **state)
{
	struct buffer buffer = {0};

	append_frame(&buffer, "some payload", 12, SEED);
	for (size_t bit = 0; bit < buffer.size * 8; bit++) {
		buffer.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_not_equal(
		    open_state(buffer.data, buffer.size, SEED), FRAME_WHOLE);
		buffer.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	buffer_free(&buffer);
}

static void
too_large_a_payload_is_refused_both_ways(void **state)
{
	struct buffer buffer = {0};
	uint8_t header[FRAME_HEADER_BYTES];

	buffer_reserve(&buffer, FRAME_HEADER_BYTES + FRAME_PAYLOAD_MAX);
	assert_int_equal(frame_seal(&buffer, 0, SEED), 0);
	assert_int_equal(
	    open_state(buffer.data, buffer.size, SEED), FRAME_WHOLE);
	memcpy(header, buffer.data, sizeof(header));
	buffer_append(&buffer, "x", 1);
	assert_int_equal(frame_seal(&buffer, 0, SEED), -1);
	header[4]++; /* the length */
	assert_int_equal(
	    open_state(header, sizeof(header), SEED), FRAME_DAMAGED);
	buffer_free(&buffer);
}

static void
finds_the_next_whole_frame_only(void **state)
{
	struct buffer buffer = {0};
	size_t second, third;

	append_frame(&buffer, "first", 5, SEED);
	second = buffer.size;
	append_frame(&buffer, "second", 6, SEED);
	third = buffer.size;
	append_frame(&buffer, "third", 5, SEED);
	assert_int_equal(frame_find(buffer.data, buffer.size, SEED), second);
	buffer.data[second + FRAME_HEADER_BYTES]++;
	assert_int_equal(frame_find(buffer.data, buffer.size, SEED), third);
	assert_int_equal(
	    frame_find(buffer.data, buffer.size - 1, SEED), buffer.size - 1);
	assert_int_equal(
	    frame_find_beginning(buffer.data, buffer.size - 1, SEED), third);
	/* Nothing but the beginning of a marker. */
	for (size_t cut = 1; cut <= 3; cut++)
		assert_int_equal(
		    frame_find_beginning(buffer.data, third + cut, SEED),
		    third);
	assert_int_equal(frame_find_beginning(buffer.data, third, SEED), third);
	assert_int_equal(frame_find(buffer.data, 0, SEED), 0);
	assert_int_equal(frame_find_beginning(buffer.data, 0, SEED), 0);
	assert_int_equal(frame_find_beginning(buffer.data, 1, SEED), 1);
	buffer_free(&buffer);
}

/* What a client sends may hold frames made with seeds that it can guess. */
static void
a_frame_forged_inside_a_payload_is_never_found(void **state)
{
	struct buffer forged = {0}, buffer = {0};
	size_t end;

	append_frame(&forged, "forged", 6, 0);
	append_frame(&forged, "forged", 6, 1);
	append_frame(&forged, "forged", 6, SEED ^ UINT64_C(1) << 63);
	append_frame(&buffer, forged.data, forged.size, SEED);
	end = buffer.size;
	for (size_t size = end; size > 0; size--) {
		assert_int_equal(frame_find(buffer.data, size, SEED), size);
		/* Where a marker is cut, a byte of it can be anything's. */
		if (size > FRAME_HEADER_BYTES + 4)
			assert_true(
			    frame_find_beginning(buffer.data, size, SEED) + 4 >
			    size);
	}
	append_frame(&buffer, "true", 4, SEED);
	assert_int_equal(frame_find(buffer.data, buffer.size, SEED), end);
	buffer_free(&forged);
	buffer_free(&buffer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(opens_what_it_sealed),
	    cmocka_unit_test(the_bytes_on_disk_stay_as_they_are),
	    cmocka_unit_test(every_beginning_of_a_frame_is_short),
	    cmocka_unit_test(no_changed_bit_is_accepted),
	    cmocka_unit_test(too_large_a_payload_is_refused_both_ways),
	    cmocka_unit_test(finds_the_next_whole_frame_only),
	    cmocka_unit_test(a_frame_forged_inside_a_payload_is_never_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers, bytes and stamps survive packing; what is cut or wrong fails once
 * and for all. */
#include "store/packed.h"

#include <string.h>

#include "base/buffer.h"
#include "tests/lib/unit.h"

static const int64_t edges[] = {0, 1, -1, 63, 64, -64, -65, 127, 128, 8191,
    8192, INT64_C(1) << 60, -(INT64_C(1) << 60), (INT64_C(1) << 60) - 1,
    INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1};

static void
numbers_survive_in_few_bytes(void **state)
{
	static const struct {
		uint64_t value;
		size_t size;
	} rows[] = {{0, 1}, {127, 1}, {128, 2}, {16383, 2}, {16384, 3},
	    {UINT64_MAX, 10}};
	struct buffer buffer = {0};
	struct packed_writer writer = {.out = &buffer};
	struct packed_reader reader = {0};

	for (size_t i = 0; i < COUNT(rows); i++) {
		buffer_clear(&buffer);
		packed_put_unsigned(&writer, rows[i].value);
		assert_row(i, buffer.size == rows[i].size);
		reader = (struct packed_reader){
		    .data = buffer.data, .size = buffer.size};
		assert_row(i, packed_unsigned(&reader) == rows[i].value);
		assert_row(i, !reader.failed && reader.size == 0);
	}
	for (size_t i = 0; i < COUNT(edges); i++) {
		buffer_clear(&buffer);
		packed_put_signed(&writer, edges[i]);
		reader = (struct packed_reader){
		    .data = buffer.data, .size = buffer.size};
		assert_row(i, packed_signed(&reader) == edges[i]);
	}
	buffer_free(&buffer);
}

static void
any_two_stamps_survive_with_their_rests(void **state)
{
	struct buffer buffer = {0};

	for (size_t i = 0; i < COUNT(edges) * COUNT(edges); i++) {
		int64_t a = edges[i / COUNT(edges)];
		int64_t b = edges[i % COUNT(edges)];
		const struct stamp first = {a, b}, second = {b, a};
		bool lowest = a < INT64_MIN + 1000 || b < INT64_MIN + 1000;
		const struct stamp *stamps[] = {&first, &second};
		struct stamp got[2], *got_list[] = {&got[0], &got[1]};
		struct packed_writer writer = {.out = &buffer};
		struct packed_reader reader = {0};

		buffer_clear(&buffer);
		packed_put_stamps(&writer, stamps, 2);
		packed_put_rest(&writer, &first);
		packed_put_rest(&writer, &second);
		reader.data = buffer.data;
		reader.size = buffer.size;
		packed_stamps(&reader, got_list, 2);
		packed_rest(&reader, &got[0]);
		packed_rest(&reader, &got[1]);
		assert_row(i, !reader.failed && reader.size == 0);
		assert_row(
		    i, lowest || memcmp(&got[0], &first, sizeof(first)) == 0);
		assert_row(
		    i, lowest || memcmp(&got[1], &second, sizeof(second)) == 0);
		assert_row(i, got[0].wall_ns - got[1].monotonic_ns == 0);
	}
	buffer_free(&buffer);
}

static void
stamps_are_rounded_down_and_keep_their_order(void **state)
{
	const struct stamp stamps[] = {{-1, 1999}, {0, 2000}, {999, 2999},
	    {1000, 3000}, {1500000, 1502000}};
	const struct stamp *list[COUNT(stamps)];
	struct stamp got[COUNT(stamps)], *got_list[COUNT(stamps)];
	struct buffer buffer = {0};
	struct packed_writer writer = {.out = &buffer};
	struct packed_reader reader = {0};

	for (size_t i = 0; i < COUNT(stamps); i++) {
		list[i] = &stamps[i];
		got_list[i] = &got[i];
	}
	packed_put_stamps(&writer, list, COUNT(stamps));
	reader.data = buffer.data;
	reader.size = buffer.size;
	packed_stamps(&reader, got_list, COUNT(stamps));
	assert_int_equal(got[0].wall_ns, -1000);
	assert_int_equal(got[0].monotonic_ns, 1000);
	assert_int_equal(got[2].wall_ns, 0);
	assert_int_equal(got[3].wall_ns, 1000);
	assert_int_equal(got[4].monotonic_ns, 1502000);
	for (size_t i = 1; i < COUNT(stamps); i++)
		assert_row(i, got[i].monotonic_ns >= got[i - 1].monotonic_ns);
	buffer_free(&buffer);
}

static void
a_stamp_soon_after_another_takes_two_bytes(void **state)
{
	const struct stamp first = {INT64_C(1796025600) * 1000000000, 5000};
	const struct stamp second = {
	    first.wall_ns + 2000000, first.monotonic_ns + 2000090};
	const struct stamp *stamps[] = {&first, &second};
	struct buffer buffer = {0};
	struct packed_writer writer = {.out = &buffer, .last = first};

	packed_put_stamps(&writer, stamps, 2);
	/* Which are set, nothing, 2 ms. */
	assert_int_equal(buffer.size, 1 + 1 + 2);
	buffer_free(&buffer);
}

static void
bytes_survive_and_sizes_are_checked(void **state)
{
	struct buffer buffer = {0};
	struct packed_writer writer = {.out = &buffer};
	struct packed_reader reader;
	const void *got;
	size_t size;

	packed_put_bytes(&writer, "\0\xff", 2);
	packed_put_bytes(&writer, NULL, 0);
	reader =
	    (struct packed_reader){.data = buffer.data, .size = buffer.size};
	got = packed_bytes(&reader, &size);
	assert_int_equal(size, 2);
	assert_memory_equal(got, "\0\xff", 2);
	packed_bytes(&reader, &size);
	assert_int_equal(size, 0);
	assert_false(reader.failed);
	packed_bytes(&reader, &size);
	assert_true(reader.failed);
	buffer_free(&buffer);
}

static void
what_makes_no_sense_fails_and_stays_failed(void **state)
{
	static const char *const blobs[] = {"", "\x80", "\xff\xff\xff",
	    "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
	    "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"};

	for (size_t i = 0; i < COUNT(blobs); i++) {
		struct packed_reader reader = {
		    .data = (const uint8_t *)blobs[i],
		    .size = strlen(blobs[i])};
		struct stamp stamp, *stamps[] = {&stamp};
		size_t size;

		assert_row(i, packed_unsigned(&reader) == 0 && reader.failed);
		assert_row(i, packed_signed(&reader) == 0);
		assert_row(i, packed_bytes(&reader, &size) == NULL);
		packed_stamps(&reader, stamps, 1);
		assert_row(i, !stamp_is_set(&stamp) && reader.failed);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_survive_in_few_bytes),
	    cmocka_unit_test(any_two_stamps_survive_with_their_rests),
	    cmocka_unit_test(stamps_are_rounded_down_and_keep_their_order),
	    cmocka_unit_test(a_stamp_soon_after_another_takes_two_bytes),
	    cmocka_unit_test(bytes_survive_and_sizes_are_checked),
	    cmocka_unit_test(what_makes_no_sense_fails_and_stays_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

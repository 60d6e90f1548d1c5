/* SPDX-License-Identifier: BSD-2-Clause */
/* Names, order and headers of segments. */
#include "proto/segment.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/reason.h"
#include "proto/event_codec.h"
#include "proto/frame.h"

#include <string.h>

#include "tests/proto/journal_fixture.h"

static void
names_are_numbers_of_16_hexadecimal_digits(void **state)
{
	static const uint64_t numbers[] = {
	    0, 1, UINT64_C(0x0006617b4456181f), UINT64_MAX};
	char name[SEGMENT_NAME_SIZE];
	uint64_t number;

	for (size_t i = 0; i < COUNT(numbers); i++) {
		segment_name(numbers[i], name);
		assert_row(i, strlen(name) == SEGMENT_NAME_SIZE - 1);
		assert_row(i, segment_number(name, &number) == 1);
		assert_row(i, number == numbers[i]);
	}
	segment_name(0xab, name);
	assert_string_equal(name, "00000000000000ab.journal");
}

static void
other_names_are_no_segments(void **state)
{
	static const char *const names[] = {"", ".", "..", "lock", "new",
	    "00000000000000ab", "00000000000000ab.",
	    "00000000000000ab.journal~", "00000000000000AB.journal",
	    "0000000000000ab.journal", "000000000000000ab.journal",
	    "000000000000000g.journal", "0x000000000000ab.journal",
	    " 0000000000000ab.journal"};
	uint64_t number;

	for (size_t i = 0; i < COUNT(names); i++)
		assert_row(i, segment_number(names[i], &number) == 0);
}

static void
positions_are_ordered_by_segment_then_offset(void **state)
{
	const struct journal_position positions[] = {
	    {0, 0}, {0, 1}, {1, 0}, {1, UINT64_MAX}, {UINT64_MAX, 0}};

	for (int i = 0; i < (int)COUNT(positions); i++)
		for (int k = 0; k < (int)COUNT(positions); k++) {
			int order = journal_position_compare(
			    positions[i], positions[k]);

			assert_true((order < 0) == (i < k));
			assert_true((order > 0) == (i > k));
		}
}

static void
lists_segments_in_order_and_nothing_else(void **state)
{
	static const char *const files[] = {"00000000000000ff.journal",
	    "0000000000000002.journal", "lock", "new", "x.journal",
	    "000000000000000a.journal"};
	struct fixture *fixture = *state;
	int fd = open(fixture->directory, O_RDONLY | O_DIRECTORY);
	uint64_t *numbers;

	for (int round = 0; round < 2; round++) {
		assert_int_equal(segment_list(fd, &numbers, NULL), 3 * round);
		for (size_t i = 0; i < COUNT(files) && round == 0; i++)
			close(openat(fd, files[i], O_CREAT | O_WRONLY, 0600));
		if (round == 1) {
			assert_int_equal(numbers[0], 2);
			assert_int_equal(numbers[1], 10);
			assert_int_equal(numbers[2], 255);
		}
		free(numbers);
	}
	close(fd);
	assert_int_equal(segment_list(fd, &numbers, NULL), -1);
	free(numbers);
}

/* Headers. */

struct headers {
	struct arena *arena;
	struct buffer bytes;
	struct segment_header header;
	struct segment_header_extent extent;
};

static void
headers_begin(struct headers *headers)
{
	static const struct segment_header header = {.format = SEGMENT_FORMAT,
	    .source = "milter",
	    .instance = "mx.example.com",
	    .boot_id = {7},
	    .start = {1, 2},
	    .checksum_seed = UINT64_C(0xfedcba9876543210),
	    .program = "test"};

	*headers = (struct headers){.arena = arena_new(1 << 20)};
	assert_int_equal(
	    segment_header_write(&header, headers->arena, &headers->bytes), 0);
}

static void
headers_end(struct headers *headers)
{
	arena_free(&headers->arena);
	buffer_free(&headers->bytes);
}

static int
headers_read(struct headers *headers, size_t size)
{
	return segment_header_read(headers->bytes.data, size, headers->arena,
	    &headers->header, &headers->extent, NULL);
}

static void
a_header_is_read_back_and_the_records_begin_behind_it(void **state)
{
	struct headers headers;
	size_t size;

	headers_begin(&headers);
	size = headers.bytes.size;
	buffer_append(&headers.bytes, "records", 7);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(headers_read(&headers, i), 0);
	assert_int_equal(headers_read(&headers, headers.bytes.size), 1);
	assert_int_equal(headers.extent.bytes, size);
	assert_int_equal(headers.extent.damaged, 0);
	assert_string_equal(headers.header.source, "milter");
	assert_true(
	    headers.header.checksum_seed == UINT64_C(0xfedcba9876543210));
	headers_end(&headers);
}

static void
one_damaged_copy_costs_nothing(void **state)
{
	struct headers headers;
	size_t size;

	headers_begin(&headers);
	size = headers.bytes.size;
	buffer_append(&headers.bytes, "records", 7);
	for (size_t i = 0; i < size; i++) {
		headers.bytes.data[i] ^= 0x40;
		assert_int_equal(headers_read(&headers, headers.bytes.size), 1);
		assert_int_equal(headers.extent.bytes, size);
		assert_int_equal(headers.extent.damaged, 1);
		assert_string_equal(headers.header.program, "test");
		headers.bytes.data[i] ^= 0x40;
	}
	headers_end(&headers);
}

/* Its seed is known, so a client could send one. */
static void
a_forged_header_behind_two_damaged_copies_is_not_believed(void **state)
{
	static const char filler[4 * SEGMENT_HEADER_COPY_MAX];
	struct headers headers, forged;
	size_t copy_bytes;

	headers_begin(&headers);
	headers_begin(&forged);
	copy_bytes = headers.bytes.size / 2;
	headers.bytes.data[0] ^= 1;
	headers.bytes.data[copy_bytes] ^= 1;
	for (size_t gap = 0; gap < 3; gap++) {
		buffer_append(&headers.bytes, "...", gap);
		buffer_append(
		    &headers.bytes, forged.bytes.data, forged.bytes.size);
	}
	buffer_append(&headers.bytes, filler, sizeof(filler));
	assert_int_equal(headers_read(&headers, headers.bytes.size), -1);
	assert_int_equal(headers.extent.damaged, 2);
	headers_end(&headers);
	headers_end(&forged);
}

static void
a_newer_format_is_told_apart(void **state)
{
	struct segment_header header = {
	    .format = SEGMENT_FORMAT + 1, .source = "s"};
	struct reason reason = {""};
	struct headers headers;

	headers_begin(&headers);
	buffer_clear(&headers.bytes);
	assert_int_equal(
	    segment_header_write(&header, headers.arena, &headers.bytes), 0);
	assert_int_equal(
	    segment_header_read(headers.bytes.data, headers.bytes.size,
		headers.arena, &headers.header, &headers.extent, &reason),
	    -1);
	assert_non_null(strstr(reason.text, "format 2"));
	headers_end(&headers);
}

static void
a_header_too_large_to_be_found_again_is_not_written(void **state)
{
	char instance[SEGMENT_HEADER_COPY_MAX];
	struct segment_header header = {.instance = instance};
	struct headers headers;

	headers_begin(&headers);
	memset(instance, 'i', sizeof(instance));
	instance[sizeof(instance) - 1] = '\0';
	assert_int_equal(
	    segment_header_write(&header, headers.arena, &headers.bytes), -1);
	headers_end(&headers);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_numbers_of_16_hexadecimal_digits),
	    cmocka_unit_test(other_names_are_no_segments),
	    cmocka_unit_test(positions_are_ordered_by_segment_then_offset),
	    FIXTURE_TEST(lists_segments_in_order_and_nothing_else),
	    cmocka_unit_test(
		a_header_is_read_back_and_the_records_begin_behind_it),
	    cmocka_unit_test(one_damaged_copy_costs_nothing),
	    cmocka_unit_test(
		a_forged_header_behind_two_damaged_copies_is_not_believed),
	    cmocka_unit_test(a_newer_format_is_told_apart),
	    cmocka_unit_test(
		a_header_too_large_to_be_found_again_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

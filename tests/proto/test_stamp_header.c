/* SPDX-License-Identifier: BSD-2-Clause */
/* The stamp header: written in one form, read in no other (cases of forged
 * stamps: issue 2, must show 6). */
#include "proto/stamp_header.h"

#include <string.h>

#include "tests/lib/unit.h"

#define TIME "2026-11-30T07:47:42.123456Z"
#define ID "01a5e0c1-7b2a-7c3d-8e4f-0123456789ab"

static struct stamp_header
stamp_with(const char *queue_id)
{
	struct stamp_header stamp = {
	    .mail_wall_ns = INT64_C(1796024862123456000)};

	assert_int_equal(uuid_parse(ID, strlen(ID), &stamp.id), 0);
	snprintf(stamp.queue_id, sizeof(stamp.queue_id), "%s", queue_id);
	return stamp;
}

static void
is_written_in_two_lines_of_at_most_78_columns(void **state)
{
	struct stamp_header stamp =
	    stamp_with("0123456789abcdefghijklmnopqrstuv");
	char value[STAMP_HEADER_VALUE_SIZE], *second;

	stamp_header_format(&stamp, value);
	assert_string_equal(
	    value, TIME ";\n\tid=" ID "; q=0123456789abcdefghijklmnopqrstuv");
	second = strchr(value, '\n') + 1;
	assert_true(
	    strlen(STAMP_HEADER_NAME ": ") + (size_t)(second - value) - 1 <=
	    78);
	assert_true(strlen(second) <= 78);
	assert_null(strchr(value, '\r'));
}

static void
a_queue_id_that_is_none_is_left_out(void **state)
{
	static const char *const ids[] = {"", "4Kt8 Fh", "a;b", "x\n", "\xe9"};
	char value[STAMP_HEADER_VALUE_SIZE];

	for (size_t i = 0; i < COUNT(ids); i++) {
		struct stamp_header stamp = stamp_with(ids[i]);

		stamp_header_format(&stamp, value);
		assert_row_string(i, value, TIME ";\n\tid=" ID);
	}
}

static void
a_queue_id_without_an_end_is_not_read_beyond(void **state)
{
	char value[STAMP_HEADER_VALUE_SIZE];
	struct stamp_header stamp = stamp_with("");

	memset(stamp.queue_id, 'A', sizeof(stamp.queue_id));
	stamp_header_format(&stamp, value);
	assert_string_equal(value, TIME ";\n\tid=" ID);
}

static void
reads_what_it_wrote_however_it_was_folded(void **state)
{
	static const struct {
		const char *value;
		const char *queue_id;
	} rows[] = {
	    {TIME ";\n\tid=" ID "; q=4Kt8Fh2vZlz9", "4Kt8Fh2vZlz9"},
	    {TIME ";\r\n\tid=" ID "; q=4Kt8Fh2vZlz9", "4Kt8Fh2vZlz9"},
	    {" " TIME ";\r\n\tid=" ID ";\r\n q=A\r\n", "A"},
	    {TIME "; id=" ID "; q=0", "0"},
	    {TIME ";\n\tid=" ID, ""},
	    {"\t" TIME ";\n \t id=" ID " \n", ""},
	    {TIME "; id=01A5E0C1-7B2A-7C3D-8E4F-0123456789AB", ""},
	};
	struct stamp_header stamp, wanted = stamp_with("");

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_row(i, stamp_header_parse(rows[i].value,
				  strlen(rows[i].value), &stamp) == 0);
		assert_row(i, stamp.mail_wall_ns == wanted.mail_wall_ns);
		assert_row(i, uuid_equal(&stamp.id, &wanted.id));
		assert_row_string(i, stamp.queue_id, rows[i].queue_id);
	}
}

static void
reads_nothing_else(void **state)
{
	static const char *const values[] = {
	    "",
	    " ",
	    TIME,
	    TIME ";",
	    TIME ";id=" ID,
	    TIME " id=" ID,
	    TIME "; id=",
	    TIME "; id=" ID ";",
	    TIME "; id=" ID "; q=",
	    TIME "; id=" ID ";q=A",
	    TIME "; id=" ID "; q=A B",
	    TIME "; id=" ID "; q=A;",
	    TIME "; id=" ID "; q=A; x=1",
	    TIME "; id=" ID "; q=0123456789abcdefghijklmnopqrstuvw",
	    TIME "; id=" ID "; q=\xc3\xa9",
	    TIME "; id=" ID " (comment)",
	    TIME "; q=A; id=" ID,
	    TIME "; ID=" ID,
	    TIME "; id=01a5e0c1-7b2a-4c3d-8e4f-0123456789ab",
	    TIME "; id=01a5e0c1-7b2a-7c3d-8e4f-0123456789a",
	    TIME "; id=01a5e0c17b2a7c3d8e4f0123456789ab",
	    TIME "; id={" ID "}",
	    "2026-11-30T07:47:42Z; id=" ID,
	    "2026-11-30 07:47:42.123456Z; id=" ID,
	    "2026-13-30T07:47:42.123456Z; id=" ID,
	    "2026-02-29T07:47:42.123456Z; id=" ID,
	    "2026-11-30T07:47:42.123456+00:00; id=" ID,
	    "1796024862; id=" ID,
	    "x" TIME "; id=" ID,
	};
	struct stamp_header stamp;

	for (size_t i = 0; i < COUNT(values); i++)
		assert_row(i, stamp_header_parse(
				  values[i], strlen(values[i]), &stamp) == -1);
	assert_int_equal(
	    stamp_header_parse(TIME "; id=" ID "\0", 70, &stamp), -1);
}

static void
no_beginning_of_a_stamp_is_one_but_that_without_a_queue_id(void **state)
{
	static const char value[] = TIME "; id=" ID "; q=4Kt8";
	struct stamp_header stamp;
	size_t without = strlen(TIME "; id=" ID);

	for (size_t size = 0; size < strlen(value); size++) {
		int expected =
		    size == without || size > strlen(TIME "; id=" ID "; q=")
			? 0
			: -1;

		assert_int_equal(
		    stamp_header_parse(value, size, &stamp), expected);
	}
}

static void
times_far_away_are_read_as_they_are(void **state)
{
	struct stamp_header stamp;
	char value[STAMP_HEADER_VALUE_SIZE];

	snprintf(
	    value, sizeof(value), "1970-01-01T00:00:00.000000Z; id=%s", ID);
	assert_int_equal(stamp_header_parse(value, strlen(value), &stamp), 0);
	assert_int_equal(stamp.mail_wall_ns, 0);
	snprintf(
	    value, sizeof(value), "2100-01-01T00:00:00.000000Z; id=%s", ID);
	assert_int_equal(stamp_header_parse(value, strlen(value), &stamp), 0);
	assert_true(stamp.mail_wall_ns == INT64_C(4102444800000000000));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(is_written_in_two_lines_of_at_most_78_columns),
	    cmocka_unit_test(a_queue_id_that_is_none_is_left_out),
	    cmocka_unit_test(a_queue_id_without_an_end_is_not_read_beyond),
	    cmocka_unit_test(reads_what_it_wrote_however_it_was_folded),
	    cmocka_unit_test(reads_nothing_else),
	    cmocka_unit_test(
		no_beginning_of_a_stamp_is_one_but_that_without_a_queue_id),
	    cmocka_unit_test(times_far_away_are_read_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Stamps and the text form of times. */
#include "base/clock.h"

#include <string.h>
#include <time.h>

#include "tests/lib/unit.h"

#define SECOND CLOCK_NS_PER_SECOND

static struct stamp
fixed_source(void)
{
	return (struct stamp){.wall_ns = 5, .monotonic_ns = 6};
}

static void
a_stamp_reads_both_clocks_and_never_goes_back(void **state)
{
	struct stamp first = clock_stamp();
	struct stamp second = clock_stamp();

	assert_true(stamp_is_set(&first));
	assert_true(second.monotonic_ns >= first.monotonic_ns);
	assert_in_range(first.wall_ns / SECOND, time(NULL) - 60, time(NULL));
}

static void
a_zero_stamp_was_never_supplied(void **state)
{
	struct stamp stamp = {0, 0};

	assert_false(stamp_is_set(&stamp));
	stamp.monotonic_ns = 1;
	assert_true(stamp_is_set(&stamp));
	stamp = (struct stamp){.wall_ns = -1};
	assert_true(stamp_is_set(&stamp));
}

static void
tests_may_replace_the_clocks(void **state)
{
	clock_set_source(fixed_source);
	assert_int_equal(clock_stamp().wall_ns, 5);
	assert_int_equal(clock_stamp().monotonic_ns, 6);
	clock_set_source(NULL);
	assert_true(clock_stamp().wall_ns > 6);
}

static void
the_boot_id_stays_the_same(void **state)
{
	uint8_t first[CLOCK_BOOT_ID_BYTES], second[CLOCK_BOOT_ID_BYTES];

	assert_int_equal(clock_boot_id(first), 0);
	assert_int_equal(clock_boot_id(second), 0);
	assert_memory_equal(first, second, sizeof(first));
	assert_int_equal(first[6] >> 4, 4);
}

static void
a_day_begins_at_midnight_utc(void **state)
{
	static const struct {
		int64_t wall_ns, day;
	} rows[] = {
	    {0, 0},
	    {CLOCK_NS_PER_DAY - 1, 0},
	    {CLOCK_NS_PER_DAY, 1},
	    {-1, -1},
	    {-CLOCK_NS_PER_DAY, -1},
	    {-CLOCK_NS_PER_DAY - 1, -2},
	    {INT64_MAX, 106751},
	    {INT64_MIN, -106752},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(i, clock_day(rows[i].wall_ns) == rows[i].day);
}

static void
times_are_written_and_read_back(void **state)
{
	static const struct {
		int64_t wall_ns;
		const char *text;
	} rows[] = {
	    {0, "1970-01-01T00:00:00.000000Z"},
	    {-1000, "1969-12-31T23:59:59.999999Z"},
	    {1796024862 * SECOND + 123456000, "2026-11-30T07:47:42.123456Z"},
	    {951782400 * SECOND, "2000-02-29T00:00:00.000000Z"},
	    {951868799 * SECOND + 999999000, "2000-02-29T23:59:59.999999Z"},
	    {951868800 * SECOND, "2000-03-01T00:00:00.000000Z"},
	    {INT64_C(4107542400) * SECOND, "2100-03-01T00:00:00.000000Z"},
	    {INT64_C(-2203891200) * SECOND, "1900-03-01T00:00:00.000000Z"},
	    {1709251199 * SECOND, "2024-02-29T23:59:59.000000Z"},
	    {INT64_MAX / 1000 * 1000, "2262-04-11T23:47:16.854775Z"},
	};
	char text[CLOCK_TEXT_SIZE];
	int64_t wall_ns;

	for (size_t i = 0; i < COUNT(rows); i++) {
		clock_format(rows[i].wall_ns, text);
		assert_row_string(i, text, rows[i].text);
		assert_row(i, clock_parse(text, strlen(text), &wall_ns) == 0);
		assert_row(i, wall_ns == rows[i].wall_ns);
	}
}

static void
each_day_of_four_centuries_agrees_with_the_c_library(void **state)
{
	char text[CLOCK_TEXT_SIZE], wanted[64];

	for (int64_t day = -76000; day < 76000; day++) {
		time_t seconds = (time_t)(day * 86400 + (day & 0xffff));
		int64_t wall_ns;
		struct tm broken_down;

		gmtime_r(&seconds, &broken_down);
		strftime(wanted, sizeof(wanted), "%Y-%m-%dT%H:%M:%S.000000Z",
		    &broken_down);
		clock_format(seconds * SECOND, text);
		assert_row_string(day, text, wanted);
		assert_int_equal(clock_parse(text, strlen(text), &wall_ns), 0);
		assert_int_equal(wall_ns, seconds * SECOND);
	}
}

static void
less_than_a_microsecond_is_rounded_down(void **state)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(1999, text);
	assert_string_equal(text, "1970-01-01T00:00:00.000001Z");
	clock_format(-1, text);
	assert_string_equal(text, "1969-12-31T23:59:59.999999Z");
	clock_format(INT64_MIN, text);
	assert_string_equal(text, "1677-09-21T00:12:43.145224Z");
}

static void
anything_else_is_not_a_time(void **state)
{
	static const char *const rows[] = {
	    "",
	    "2026-11-30T07:47:42.123456",
	    "2026-11-30T07:47:42.123456Z ",
	    "2026-11-30T07:47:42.12345Z",
	    "2026-11-30 07:47:42.123456Z",
	    "2026-11-30T07:47:42,123456Z",
	    "2026-11-30T07:47:42.123456z",
	    "2026-11-31T07:47:42.123456Z",
	    "2026-02-29T07:47:42.123456Z",
	    "2100-02-29T07:47:42.123456Z",
	    "2026-00-30T07:47:42.123456Z",
	    "2026-13-30T07:47:42.123456Z",
	    "2026-11-00T07:47:42.123456Z",
	    "2026-11-30T24:00:00.000000Z",
	    "2026-11-30T07:60:42.123456Z",
	    "2026-12-31T23:59:60.000000Z",
	    "2026-11-30T07:47:4 .123456Z",
	    "+026-11-30T07:47:42.123456Z",
	    "-026-11-30T07:47:42.123456Z",
	    "0000-01-01T00:00:00.000000Z",
	    "9999-12-31T23:59:59.999999Z",
	    "2262-04-11T23:47:16.854776Z",
	};
	int64_t wall_ns = 42;

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(
		    i, clock_parse(rows[i], strlen(rows[i]), &wall_ns) == -1);
	assert_int_equal(wall_ns, 42);
}

static void
no_byte_behind_the_size_is_read(void **state)
{
	char text[CLOCK_TEXT_SIZE - 1];
	int64_t wall_ns;

	memcpy(text, "2026-11-30T07:47:42.123456Z", sizeof(text));
	assert_int_equal(clock_parse(text, sizeof(text), &wall_ns), 0);
	assert_int_equal(clock_parse(text, sizeof(text) - 1, &wall_ns), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_stamp_reads_both_clocks_and_never_goes_back),
	    cmocka_unit_test(a_zero_stamp_was_never_supplied),
	    cmocka_unit_test(tests_may_replace_the_clocks),
	    cmocka_unit_test(the_boot_id_stays_the_same),
	    cmocka_unit_test(a_day_begins_at_midnight_utc),
	    cmocka_unit_test(times_are_written_and_read_back),
	    cmocka_unit_test(
		each_day_of_four_centuries_agrees_with_the_c_library),
	    cmocka_unit_test(less_than_a_microsecond_is_rounded_down),
	    cmocka_unit_test(anything_else_is_not_a_time),
	    cmocka_unit_test(no_byte_behind_the_size_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

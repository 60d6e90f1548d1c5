/* SPDX-License-Identifier: BSD-2-Clause */
/* Which moment a log line's time stamp means, in years and zones. */
#include "exporter/maillog/maillog_time.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "tests/lib/unit.h"

/* As tzset(3) reads them: no time zone files are needed. */
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define AUCKLAND "NZST-12NZDT,M9.5.0,M4.1.0/3"
#define LOS_ANGELES "PST8PDT,M3.2.0,M11.1.0"
#define TOKYO "JST-9"
#define LORD_HOWE "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0" /* half an hour */

static void
use_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static int64_t
moment(const char *text)
{
	int64_t wall_ns;

	if (text == NULL)
		return 0;
	assert_int_equal(clock_parse(text, strlen(text), &wall_ns), 0);
	return wall_ns;
}

struct row {
	const char *zone, *previous, *latest, *text, *wanted;
};

static void
check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct maillog_reference reference = {
		    moment(rows[i].previous), moment(rows[i].latest)};
		struct maillog_time time;
		char got[CLOCK_TEXT_SIZE];
		size_t size = strlen(rows[i].text);

		use_zone(rows[i].zone);
		assert_row(
		    i, maillog_time_parse(rows[i].text, size, &time) == size);
		clock_format(maillog_time_resolve(&time, &reference), got);
		assert_row_string(i, got, rows[i].wanted);
	}
	use_zone("UTC");
}

static void
the_year_is_found_around_new_year(void **state)
{
	static const struct row rows[] = {
	    /* By the file's last change alone. */
	    {"UTC", NULL, "2026-11-30T12:00:00.000000Z", "Nov 30 11:59:59",
		"2026-11-30T11:59:59.000000Z"},
	    {"UTC", NULL, "2027-01-01T00:00:10.000000Z", "Dec 31 23:59:59",
		"2026-12-31T23:59:59.000000Z"},
	    {"UTC", NULL, "2027-01-01T00:00:10.000000Z", "Jan  1 00:00:05",
		"2027-01-01T00:00:05.000000Z"},
	    {"UTC", NULL, "2026-12-31T23:59:59.000000Z", "Jan  1 00:00:00",
		"2027-01-01T00:00:00.000000Z"},
	    {"UTC", NULL, "2026-12-31T23:59:59.000000Z", "Jan  2 00:00:00",
		"2026-01-02T00:00:00.000000Z"},
	    {"UTC", NULL, "2027-03-01T00:00:00.000000Z", "Nov 30 00:00:00",
		"2026-11-30T00:00:00.000000Z"},
	    /* By the line before. */
	    {"UTC", "2026-12-31T23:59:59.000000Z", NULL, "Jan  1 00:00:00",
		"2027-01-01T00:00:00.000000Z"},
	    {"UTC", "2027-01-01T00:00:01.000000Z", NULL, "Dec 31 23:59:59",
		"2026-12-31T23:59:59.000000Z"},
	    {"UTC", "2026-12-20T00:00:00.000000Z",
		"2027-08-01T00:00:00.000000Z", "Jul  3 00:00:00",
		"2027-07-03T00:00:00.000000Z"},
	    {"UTC", "2026-11-30T00:00:00.000000Z",
		"2026-11-30T00:00:01.000000Z", "Jan  1 00:00:00",
		"2026-01-01T00:00:00.000000Z"},
	    {"UTC", "2026-01-01T00:00:00.000000Z",
		"2026-11-30T00:00:01.000000Z", "Nov 30 00:00:00",
		"2026-11-30T00:00:00.000000Z"},
	    /* New year is a local matter. */
	    {AUCKLAND, NULL, "2026-12-31T11:00:10.000000Z", "Jan  1 00:00:05",
		"2026-12-31T11:00:05.000000Z"},
	    {LOS_ANGELES, NULL, "2027-01-01T07:00:10.000000Z",
		"Dec 31 23:00:05", "2027-01-01T07:00:05.000000Z"},
	    {"UTC", NULL, "2028-03-01T00:00:00.000000Z", "Feb 29 12:00:00",
		"2028-02-29T12:00:00.000000Z"},
	    {"UTC", NULL, NULL, "Nov 30 12:00:00",
		"1970-01-01T00:00:00.000000Z"},
	};

	check(rows, COUNT(rows));
}

static void
the_hour_that_comes_twice_follows_the_line_before(void **state)
{
	static const struct row rows[] = {
	    {BERLIN, "2026-10-24T23:00:00.000000Z", NULL, "Oct 25 02:30:00",
		"2026-10-25T00:30:00.000000Z"},
	    {BERLIN, "2026-10-25T00:59:59.000000Z", NULL, "Oct 25 02:00:00",
		"2026-10-25T01:00:00.000000Z"},
	    {BERLIN, "2026-10-25T01:00:01.000000Z", NULL, "Oct 25 02:59:59",
		"2026-10-25T00:59:59.000000Z"},
	    {BERLIN, NULL, "2026-10-25T00:40:00.000000Z", "Oct 25 02:30:00",
		"2026-10-25T00:30:00.000000Z"},
	    {BERLIN, NULL, "2026-10-26T00:00:00.000000Z", "Oct 25 02:30:00",
		"2026-10-25T01:30:00.000000Z"},
	    {BERLIN, "2026-10-24T23:00:00.000000Z", NULL, "2026-10-25 02:30:00",
		"2026-10-25T00:30:00.000000Z"},
	    /* A zone says which. */
	    {BERLIN, NULL, NULL, "2026-10-25T02:30:00+01:00",
		"2026-10-25T01:30:00.000000Z"},
	    /* An hour that never was. */
	    {BERLIN, "2026-03-29T00:59:59.000000Z", NULL, "Mar 29 02:30:00",
		"2026-03-29T01:30:00.000000Z"},
	    {LORD_HOWE, "2026-04-04T14:59:59.000000Z", NULL, "Apr  5 01:45:00",
		"2026-04-04T15:15:00.000000Z"},
	};

	check(rows, COUNT(rows));
}

static void
summer_and_winter_have_their_offsets(void **state)
{
	static const struct row rows[] = {
	    {BERLIN, NULL, "2026-12-01T00:00:00.000000Z", "Jul  1 12:00:00",
		"2026-07-01T10:00:00.000000Z"},
	    {BERLIN, NULL, "2026-12-01T00:00:00.000000Z", "Nov 30 12:00:00",
		"2026-11-30T11:00:00.000000Z"},
	    {"<+0545>-5:45", NULL, "2026-12-01T00:00:00.000000Z",
		"Nov 30 12:00:00", "2026-11-30T06:15:00.000000Z"},
	    {TOKYO, NULL, "2026-12-01T00:00:00.000000Z",
		"2026-11-30 12:00:00.25", "2026-11-30T03:00:00.250000Z"},
	};

	check(rows, COUNT(rows));
}

/* The lines of a night, one by one, as a follower reads them. */
static void
a_whole_night_is_read_in_order(void **state)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {{"Oct 25 01:59:59", "2026-10-24T23:59:59.000000Z"},
	    {"Oct 25 02:00:00", "2026-10-25T00:00:00.000000Z"},
	    {"Oct 25 02:00:30", "2026-10-25T00:00:30.000000Z"},
	    {"Oct 25 02:59:59", "2026-10-25T00:59:59.000000Z"},
	    {"Oct 25 02:00:00", "2026-10-25T01:00:00.000000Z"},
	    {"Oct 25 02:00:30", "2026-10-25T01:00:30.000000Z"},
	    {"Oct 25 02:59:59", "2026-10-25T01:59:59.000000Z"},
	    {"Oct 25 03:00:00", "2026-10-25T02:00:00.000000Z"},
	    {"Dec 31 23:59:59", "2026-12-31T22:59:59.000000Z"},
	    {"Jan  1 00:00:00", "2026-12-31T23:00:00.000000Z"},
	    {"Jan  1 00:00:59", "2026-12-31T23:00:59.000000Z"},
	    {"Mar  1 00:00:00", "2027-02-28T23:00:00.000000Z"}};
	struct maillog_clock clock = {
	    .reference = {0, moment("2027-06-01T00:00:00.000000Z")}};

	use_zone(BERLIN);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct maillog_time time;
		char got[CLOCK_TEXT_SIZE];

		assert_true(maillog_time_parse(
				rows[i].text, strlen(rows[i].text), &time) > 0);
		clock_format(maillog_clock_resolve(&clock, &time), got);
		assert_row_string(i, got, rows[i].wanted);
	}
	use_zone("UTC");
}

/* The cached minute must not show. */
static void
the_clock_agrees_with_each_single_line(void **state)
{
	struct maillog_clock clock = {
	    .reference = {0, moment("2026-12-31T00:00:00.000000Z")}};
	int64_t wall_ns = moment("2026-10-24T22:00:00.000000Z");
	int64_t previous_ns = 0;

	use_zone(BERLIN);
	for (unsigned i = 0; i < 2000; i++, wall_ns += 7 * 1000000000LL) {
		const struct maillog_reference reference = {
		    previous_ns, clock.reference.latest_ns};
		time_t seconds = (time_t)(wall_ns / 1000000000);
		struct maillog_time time;
		struct tm local;
		char text[32];
		size_t size;

		localtime_r(&seconds, &local);
		size = strftime(text, sizeof(text), "%b %d %H:%M:%S", &local);
		assert_int_equal(maillog_time_parse(text, size, &time), size);
		assert_true(maillog_time_resolve(&time, &reference) == wall_ns);
		assert_true(maillog_clock_resolve(&clock, &time) == wall_ns);
		previous_ns = wall_ns;
	}
	use_zone("UTC");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_year_is_found_around_new_year),
	    cmocka_unit_test(the_hour_that_comes_twice_follows_the_line_before),
	    cmocka_unit_test(summer_and_winter_have_their_offsets),
	    cmocka_unit_test(a_whole_night_is_read_in_order),
	    cmocka_unit_test(the_clock_agrees_with_each_single_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

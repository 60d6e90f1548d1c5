/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time stamps of log lines. Pure but for the time zone, which is the process's;
 * called by the parser and the followers, on the ingest thread.
 */
#include "exporter/maillog/maillog_time.h"

#include <string.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)
#define DAY_NS (86400 * SECOND_NS)
/* How far lines may stand in the wrong order. */
#define DISORDER_NS (5 * SECOND_NS)

#define TRADITIONAL_SIZE (sizeof("Nov 30 07:47:42") - 1)
#define DATE_TIME_SIZE (sizeof("2026-11-30T07:47:42") - 1)

/* The number in the two digits at `text`, or -1. */
static int
two_digits(const char *text)
{
	unsigned tens = (unsigned char)text[0] - '0';
	unsigned ones = (unsigned char)text[1] - '0';

	return tens <= 9 && ones <= 9 ? (int)(tens * 10 + ones) : -1;
}

/* Reads "07:47:42". */
static bool
read_clock(const char *text, struct maillog_time *time_r)
{
	int hour = two_digits(text), minute = two_digits(text + 3);
	int second = two_digits(text + 6);

	time_r->hour = (int8_t)hour;
	time_r->minute = (int8_t)minute;
	time_r->second = (int8_t)second;
	return text[2] == ':' && text[5] == ':' && hour >= 0 && hour < 24 &&
	       minute >= 0 && minute < 60 && second >= 0 && second <= 60;
}

static int
month_number(const char *text)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	for (int month = 0; month < 12; month++)
		if (memcmp(text, names + 3 * month, 3) == 0)
			return month + 1;
	return 0;
}

static size_t
parse_traditional(const char *text, size_t size, struct maillog_time *time_r)
{
	int month, day;
	char padded[2];

	if (size < TRADITIONAL_SIZE || text[3] != ' ' || text[6] != ' ')
		return 0;
	month = month_number(text);
	padded[0] = text[4] == ' ' ? '0' : text[4];
	padded[1] = text[5];
	day = two_digits(padded);
	if (month == 0 || day < 1 || day > 31 || !read_clock(text + 7, time_r))
		return 0;
	time_r->month = (int8_t)month;
	time_r->day = (int8_t)day;
	return TRADITIONAL_SIZE;
}

/* Reads ".123456" and further digits, if there are any. */
static size_t
parse_fraction(const char *text, size_t size, int32_t *ns_r)
{
	int32_t unit = (int32_t)SECOND_NS;
	size_t at = 1;

	if (size < 2 || (text[0] != '.' && text[0] != ','))
		return 0;
	for (; at < size && text[at] >= '0' && text[at] <= '9'; at++) {
		unit /= 10;
		*ns_r += (text[at] - '0') * unit;
	}
	return at > 1 ? at : 0;
}

/* Reads "Z", "+01:00" or "+0100", if it is there. */
static size_t
parse_zone(const char *text, size_t size, struct maillog_time *time_r)
{
	int hours, minutes;
	size_t colon;

	if (size >= 1 && (text[0] == 'Z' || text[0] == 'z')) {
		time_r->has_zone = true;
		return 1;
	}
	if (size < 5 || (text[0] != '+' && text[0] != '-'))
		return 0;
	colon = text[3] == ':';
	if (size < 5 + colon)
		return 0;
	hours = two_digits(text + 1);
	minutes = two_digits(text + 3 + colon);
	if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
		return 0;
	time_r->has_zone = true;
	time_r->zone_seconds = (hours * 60 + minutes) * 60;
	if (text[0] == '-')
		time_r->zone_seconds = -time_r->zone_seconds;
	return 5 + colon;
}

static size_t
parse_dated(const char *text, size_t size, struct maillog_time *time_r)
{
	int century, year, month, day;
	size_t at = DATE_TIME_SIZE;

	if (size < at || text[4] != '-' || text[7] != '-' ||
	    (text[10] != 'T' && text[10] != 't' && text[10] != ' '))
		return 0;
	century = two_digits(text);
	year = two_digits(text + 2);
	month = two_digits(text + 5);
	day = two_digits(text + 8);
	/* Nanoseconds reach from 1677 to 2262. */
	if (century < 17 || century > 21 || year < 0 || month < 1 ||
	    month > 12 || day < 1 || day > 31 || !read_clock(text + 11, time_r))
		return 0;
	time_r->year = (int16_t)(century * 100 + year);
	time_r->month = (int8_t)month;
	time_r->day = (int8_t)day;
	at += parse_fraction(text + at, size - at, &time_r->ns);
	return at + parse_zone(text + at, size - at, time_r);
}

size_t
maillog_time_parse(const char *text, size_t size, struct maillog_time *time_r)
{
	size_t used;

	*time_r = (struct maillog_time){0};
	used = size > 0 && text[0] >= '0' && text[0] <= '9'
		   ? parse_dated(text, size, time_r)
		   : parse_traditional(text, size, time_r);
	if (used == 0)
		*time_r = (struct maillog_time){0};
	return used;
}

/* Days from 1970-01-01 to a date of the proleptic Gregorian calendar, by years
 * that begin in March, so that leap days come last. */
static int64_t
days_since_1970(int year, int month, int day)
{
	int64_t from_march = (month + 9) % 12;
	int64_t years = year - (month <= 2);

	return 365 * years + years / 4 - years / 100 + years / 400 +
	       (153 * from_march + 2) / 5 + day - 1 - 719468;
}

static int64_t
zoned_ns(const struct maillog_time *time)
{
	int64_t seconds =
	    days_since_1970(time->year, time->month, time->day) * 86400 +
	    time->hour * 3600 + time->minute * 60 + time->second -
	    time->zone_seconds;

	return seconds * SECOND_NS + time->ns;
}

/* The moment of a local time in `year`, with summer time (1), without (0) or as
 * it comes (-1). Returns whether the clocks showed it then. */
static bool
local_ns(
    const struct maillog_time *time, int year, int summer, int64_t *wall_ns_r)
{
	struct tm local = {
	    .tm_year = year - 1900,
	    .tm_mon = time->month - 1,
	    .tm_mday = time->day,
	    .tm_hour = time->hour,
	    .tm_min = time->minute,
	    .tm_isdst = summer,
	};
	time_t seconds = mktime(&local);

	*wall_ns_r = ((int64_t)seconds + time->second) * SECOND_NS + time->ns;
	return local.tm_mday == time->day && local.tm_hour == time->hour &&
	       local.tm_min == time->minute;
}

/* The moments at which the clocks showed a local time of a year: one or two,
 * ascending. Returns how many; 0 for a leap day in another year. */
static int
local_moments(const struct maillog_time *time, int year, int64_t moments_r[2])
{
	int64_t summer_ns, winter_ns;
	bool summer = local_ns(time, year, 1, &summer_ns);
	bool winter = local_ns(time, year, 0, &winter_ns);
	int count = 0;

	if (summer)
		moments_r[count++] = summer_ns;
	if (winter && !(summer && winter_ns == summer_ns))
		moments_r[count++] = winter_ns;
	if (count == 2 && winter_ns < summer_ns) {
		moments_r[0] = winter_ns;
		moments_r[1] = summer_ns;
	}
	if (count == 0) {
		local_ns(time, year, -1, &moments_r[0]);
		count = !(time->month == 2 && time->day == 29);
	}
	return count;
}

/* Which of the moments of one year is meant. */
static int64_t
choose_moment(const int64_t *moments, int count,
    const struct maillog_reference *reference)
{
	int64_t previous_ns = reference->previous_ns;
	int64_t latest_ns = reference->latest_ns;

	if (count == 1)
		return moments[0];
	if (previous_ns != 0)
		return moments[moments[0] < previous_ns - DISORDER_NS];
	return moments[latest_ns == 0 || moments[1] <= latest_ns + DISORDER_NS];
}

static int
reference_year(int64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / SECOND_NS);
	struct tm local = {0};

	localtime_r(&seconds, &local);
	return local.tm_year + 1900;
}

/* With a line before it, the first year in which the line comes after that one;
 * without, or when that would lie in the future, the last year that does not.
 */
static int64_t
resolve_year(
    const struct maillog_time *time, const struct maillog_reference *reference)
{
	int64_t previous_ns = reference->previous_ns;
	int64_t latest_ns = reference->latest_ns;
	int year = reference_year(previous_ns != 0 ? previous_ns : latest_ns);
	int64_t best = 0;

	for (int candidate = year - 1; candidate <= year + 1; candidate++) {
		int64_t moments[2], moment;
		int count = local_moments(time, candidate, moments);

		if (count == 0)
			continue;
		moment = choose_moment(moments, count, reference);
		if (latest_ns != 0 && moment > latest_ns + DAY_NS && best != 0)
			break;
		best = moment;
		if (previous_ns != 0 && moment >= previous_ns - DAY_NS)
			break;
	}
	return best;
}

int64_t
maillog_time_resolve(
    const struct maillog_time *time, const struct maillog_reference *reference)
{
	int64_t moments[2];
	int count;

	if (time->month == 0)
		return 0;
	if (time->has_zone)
		return zoned_ns(time);
	if (time->year == 0)
		return reference->previous_ns == 0 && reference->latest_ns == 0
			   ? 0
			   : resolve_year(time, reference);
	count = local_moments(time, time->year, moments);
	return count > 0 ? choose_moment(moments, count, reference) : 0;
}

static bool
same_minute(const struct maillog_time *left, const struct maillog_time *right)
{
	return left->year == right->year && left->month == right->month &&
	       left->day == right->day && left->hour == right->hour &&
	       left->minute == right->minute && left->month != 0;
}

/* Most lines stand in the same minute as the one before, and mktime(3) is slow.
 */
static void
remember_minute(struct maillog_clock *clock, const struct maillog_time *time,
    int64_t wall_ns)
{
	int64_t moments[2];

	clock->minute = (struct maillog_time){0};
	clock->minute_ns = wall_ns - time->second * SECOND_NS - time->ns;
	if (local_moments(time, reference_year(wall_ns), moments) == 1)
		clock->minute = *time;
}

int64_t
maillog_clock_resolve(
    struct maillog_clock *clock, const struct maillog_time *time)
{
	int64_t wall_ns;

	if (!time->has_zone && same_minute(&clock->minute, time)) {
		wall_ns =
		    clock->minute_ns + time->second * SECOND_NS + time->ns;
	} else {
		wall_ns = maillog_time_resolve(time, &clock->reference);
		if (wall_ns != 0 && !time->has_zone)
			remember_minute(clock, time, wall_ns);
	}
	if (wall_ns != 0)
		clock->reference.previous_ns = wall_ns;
	return wall_ns;
}

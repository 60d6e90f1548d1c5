/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the clocks and converts wall clock times to text and back. Called by
 * all programs on any thread; stamps are taken on the milter's and the hook's
 * hot paths, where both reads stay in the vDSO. The calendar is computed here
 * (proleptic Gregorian, UTC) so that neither locale nor time zone matters.
 */
#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

#define NS_PER_US 1000
#define DAYS_PER_400_YEARS 146097
/* From 0000-03-01, where the computation below begins, to 1970-01-01. */
#define DAYS_TO_1970 719468

static struct stamp (*clock_source)(void);

static int64_t
read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return now.tv_sec * CLOCK_NS_PER_SECOND + now.tv_nsec;
}

struct stamp
clock_stamp(void)
{
	struct stamp stamp;

	if (clock_source != NULL)
		return clock_source();
	stamp.wall_ns = read_clock(CLOCK_REALTIME);
	stamp.monotonic_ns = read_clock(CLOCK_MONOTONIC);
	return stamp;
}

bool
stamp_is_set(const struct stamp *stamp)
{
	return stamp->wall_ns != 0 || stamp->monotonic_ns != 0;
}

void clock_set_source(struct stamp (*source)(void))
{
	clock_source = source;
}

/* The kernel writes the boot id as a UUID: 32 digits between hyphens. */
static int
read_boot_id(const char *text, uint8_t boot_id_r[CLOCK_BOOT_ID_BYTES])
{
	size_t digits = 0;

	memset(boot_id_r, 0, CLOCK_BOOT_ID_BYTES);
	for (; *text != '\0' && *text != '\n'; text++) {
		int value = text_hex_value(*text);

		if (*text == '-')
			continue;
		if (value < 0 || digits == 2 * (size_t)CLOCK_BOOT_ID_BYTES)
			return -1;
		boot_id_r[digits / 2] |=
		    (uint8_t)(digits % 2 == 0 ? value << 4 : value);
		digits++;
	}
	return digits == 2 * (size_t)CLOCK_BOOT_ID_BYTES ? 0 : -1;
}

int
clock_boot_id(uint8_t boot_id_r[CLOCK_BOOT_ID_BYTES])
{
	char text[64] = "";
	ssize_t size = -1;
	int fd;

	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		size = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[size > 0 ? size : 0] = '\0';
	if (read_boot_id(text, boot_id_r) == 0)
		return 0;
	memset(boot_id_r, 0, CLOCK_BOOT_ID_BYTES);
	return -1;
}

static int64_t
floor_divide(int64_t dividend, int64_t divisor)
{
	int64_t quotient = dividend / divisor;

	return dividend % divisor < 0 ? quotient - 1 : quotient;
}

int64_t
clock_day(int64_t wall_ns)
{
	return floor_divide(wall_ns, CLOCK_NS_PER_DAY);
}

/* Years are counted from March, so that the leap day is a year's last and the
 * days before a month follow one formula (153 days in five months). */
static int64_t
day_from_date(int64_t year, int64_t month, int64_t day)
{
	int64_t from_march = (month + 9) % 12;
	int64_t march_year = year - (month <= 2);
	int64_t cycle = floor_divide(march_year, 400);
	int64_t in_cycle = march_year - cycle * 400;

	return cycle * DAYS_PER_400_YEARS + in_cycle * 365 + in_cycle / 4 -
	       in_cycle / 100 + (153 * from_march + 2) / 5 + day - 1 -
	       DAYS_TO_1970;
}

static void
date_from_day(int64_t day, int64_t *year_r, int64_t *month_r, int64_t *day_r)
{
	int64_t cycle = floor_divide(day + DAYS_TO_1970, DAYS_PER_400_YEARS);
	int64_t in_cycle = day + DAYS_TO_1970 - cycle * DAYS_PER_400_YEARS;
	int64_t year = (in_cycle - in_cycle / 1460 + in_cycle / 36524 -
			   in_cycle / (DAYS_PER_400_YEARS - 1)) /
		       365;
	int64_t in_year = in_cycle - (year * 365 + year / 4 - year / 100);
	int64_t from_march = (5 * in_year + 2) / 153;

	*day_r = in_year - (153 * from_march + 2) / 5 + 1;
	*month_r = (from_march + 2) % 12 + 1;
	*year_r = year + cycle * 400 + (*month_r <= 2);
}

static char *
write_number(char *text, int64_t number, int digits, char after)
{
	for (int i = digits - 1; i >= 0; i--) {
		text[i] = (char)('0' + number % 10);
		number /= 10;
	}
	text[digits] = after;
	return text + digits + 1;
}

void
clock_format(int64_t wall_ns, char text_r[CLOCK_TEXT_SIZE])
{
	int64_t days = clock_day(wall_ns);
	int64_t in_day_ns =
	    wall_ns % CLOCK_NS_PER_DAY +
	    (wall_ns % CLOCK_NS_PER_DAY < 0 ? CLOCK_NS_PER_DAY : 0);
	int64_t us = in_day_ns / NS_PER_US;
	int64_t seconds = us / 1000000;
	int64_t year, month, day;
	char *text = text_r;

	date_from_day(days, &year, &month, &day);
	text = write_number(text, year, 4, '-');
	text = write_number(text, month, 2, '-');
	text = write_number(text, day, 2, 'T');
	text = write_number(text, seconds / 3600, 2, ':');
	text = write_number(text, seconds / 60 % 60, 2, ':');
	text = write_number(text, seconds % 60, 2, '.');
	text = write_number(text, us % 1000000, 6, 'Z');
	*text = '\0';
}

/* The fields of the text form, in order. */
static const struct {
	int digits;
	char after;
	int minimum, maximum;
} text_fields[] = {
    {4, '-', 0, 9999}, /* year */
    {2, '-', 1, 12},   /* month */
    {2, 'T', 1, 31},   /* day */
    {2, ':', 0, 23},   /* hour */
    {2, ':', 0, 59},   /* minute */
    {2, '.', 0, 59},   /* second */
    {6, 'Z', 0, 999999},
};

enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, MICROSECOND, TEXT_FIELDS };

static int
read_fields(const char *text, int64_t fields[TEXT_FIELDS])
{
	for (int field = 0; field < TEXT_FIELDS; field++) {
		int64_t number = 0;

		for (int i = 0; i < text_fields[field].digits; i++, text++) {
			if (*text < '0' || *text > '9')
				return -1;
			number = number * 10 + (*text - '0');
		}
		if (*text++ != text_fields[field].after ||
		    number < text_fields[field].minimum ||
		    number > text_fields[field].maximum)
			return -1;
		fields[field] = number;
	}
	return 0;
}

int
clock_parse(const char *text, unsigned long size, int64_t *wall_ns_r)
{
	int64_t fields[TEXT_FIELDS];
	int64_t days, year, month, day, seconds, ns;

	if (size != CLOCK_TEXT_SIZE - 1 || read_fields(text, fields) < 0)
		return -1;
	days = day_from_date(fields[YEAR], fields[MONTH], fields[DAY]);
	date_from_day(days, &year, &month, &day);
	if (day != fields[DAY])
		return -1;
	seconds = days * 86400 + fields[HOUR] * 3600 + fields[MINUTE] * 60 +
		  fields[SECOND];
	if (__builtin_mul_overflow(seconds, CLOCK_NS_PER_SECOND, &ns) ||
	    __builtin_add_overflow(ns, fields[MICROSECOND] * NS_PER_US, &ns))
		return -1;
	*wall_ns_r = ns;
	return 0;
}

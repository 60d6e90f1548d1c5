/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads durations and moments. Called by the parser of searches. */
#include "store/search_time.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define MS (CLOCK_NS_PER_SECOND / 1000)
#define MINUTE (60 * CLOCK_NS_PER_SECOND)
#define HOUR (60 * MINUTE)
/* Beyond the nanoseconds that 64 bits hold. */
#define LONGEST (INT64_C(100) * 366 * CLOCK_NS_PER_DAY)

static const struct unit {
	const char *name;
	int64_t ns;
} units[] = {
    {"ms", MS},
    {"sec", CLOCK_NS_PER_SECOND},
    {"s", CLOCK_NS_PER_SECOND},
    {"min", MINUTE},
    {"m", MINUTE},
    {"h", HOUR},
    {"d", CLOCK_NS_PER_DAY},
    {"w", 7 * CLOCK_NS_PER_DAY},
};

static bool
skip(const char **text, const char *word)
{
	size_t size = strlen(word);

	if (strncmp(*text, word, size) != 0)
		return false;
	*text += size;
	return true;
}

/* A unit, with nothing but another number or the end behind it. */
static int64_t
take_unit(const char **text)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (skip(text, units[i].name))
			return isalpha((unsigned char)**text) ? 0 : units[i].ns;
	return 0;
}

/* Up to `most` digits. Returns how many there were. */
static unsigned
take_digits(const char **text, unsigned most, int64_t *number_r)
{
	unsigned count = 0;

	for (*number_r = 0; count < most && isdigit((unsigned char)**text);
	     count++)
		*number_r = *number_r * 10 + (*(*text)++ - '0');
	return count;
}

/* Digits behind a point, as a part of `whole`; those too small to matter are
 * passed over. */
static bool
take_fraction(const char **text, int64_t whole, int64_t *part_r)
{
	int64_t place = whole;

	*part_r = 0;
	if (**text != '.' && **text != ',')
		return true;
	if (!isdigit((unsigned char)*++*text))
		return false;
	for (; isdigit((unsigned char)**text); (*text)++) {
		place /= 10;
		*part_r += place * (**text - '0');
	}
	return true;
}

int
search_duration(const char *text, int64_t *ns_r)
{
	int64_t sum = 0;

	do {
		const char *fraction;
		int64_t number, part, unit;

		if (take_digits(&text, 12, &number) == 0)
			return -1;
		fraction = text;
		if (!take_fraction(&text, 1, &part))
			return -1;
		unit = take_unit(&text);
		if (unit == 0 || number > LONGEST / unit)
			return -1;
		take_fraction(&fraction, unit, &part);
		sum += number * unit + part;
	} while (*text != '\0' && sum <= LONGEST);
	if (sum > LONGEST)
		return -1;
	*ns_r = sum;
	return 0;
}

/* A moment as far as it was written. */
struct moment {
	struct tm date;  /* UTC */
	int64_t day_ns;  /* since midnight */
	int64_t zone_ns; /* east of UTC */
	bool has_time, is_month;
};

/* Exactly `digits` of them, not more than `most`. */
static bool
take_number(const char **text, unsigned digits, int most, int *number_r)
{
	int64_t number;

	if (take_digits(text, digits, &number) != digits || number > most)
		return false;
	*number_r = (int)number;
	return true;
}

static bool
take_clock(const char **text, int64_t *ns_r)
{
	int hour, minute, second = 0;
	int64_t part = 0;

	if (!take_number(text, 2, 23, &hour) || !skip(text, ":") ||
	    !take_number(text, 2, 59, &minute))
		return false;
	if (skip(text, ":") &&
	    (!take_number(text, 2, 60, &second) ||
		!take_fraction(text, CLOCK_NS_PER_SECOND, &part)))
		return false;
	*ns_r =
	    hour * HOUR + minute * MINUTE + second * CLOCK_NS_PER_SECOND + part;
	return true;
}

static bool
take_zone(const char **text, int64_t *zone_ns_r)
{
	bool is_west = **text == '-';
	int hour, minute;

	*zone_ns_r = 0;
	if (skip(text, "Z") || (!is_west && **text != '+'))
		return true;
	(*text)++;
	if (!take_number(text, 2, 23, &hour))
		return false;
	skip(text, ":");
	if (!take_number(text, 2, 59, &minute))
		return false;
	*zone_ns_r = (hour * HOUR + minute * MINUTE) * (is_west ? -1 : 1);
	return true;
}

/* Whether the day exists: timegm(3) moves one that does not. */
static bool
is_date(const struct tm *date)
{
	struct tm copy = *date;

	timegm(&copy);
	return copy.tm_mday == date->tm_mday && copy.tm_mon == date->tm_mon;
}

static bool
take_date(const char **text, struct moment *moment)
{
	struct tm *date = &moment->date;
	int year, month;

	*date = (struct tm){.tm_mday = 1};
	if (!take_number(text, 4, 2261, &year) || year < 1970 ||
	    !skip(text, "-") || !take_number(text, 2, 12, &month))
		return false;
	date->tm_year = year - 1900;
	date->tm_mon = month - 1;
	moment->is_month = !skip(text, "-");
	if (!moment->is_month && !take_number(text, 2, 31, &date->tm_mday))
		return false;
	return is_date(date);
}

static bool
take_moment(const char *text, int64_t now_wall_ns, struct moment *moment_r)
{
	time_t now = (time_t)(now_wall_ns / CLOCK_NS_PER_SECOND);

	*moment_r = (struct moment){.has_time = true};
	gmtime_r(&now, &moment_r->date);
	moment_r->date.tm_hour = moment_r->date.tm_min = 0;
	moment_r->date.tm_sec = 0;
	if (strlen(text) > 2 && text[2] != ':') {
		if (!take_date(&text, moment_r))
			return false;
		moment_r->has_time = skip(&text, "T") || skip(&text, " ");
	}
	if (moment_r->has_time &&
	    (moment_r->is_month || !take_clock(&text, &moment_r->day_ns) ||
		!take_zone(&text, &moment_r->zone_ns)))
		return false;
	return *text == '\0';
}

static int64_t
moment_ns(struct moment *moment, bool is_end)
{
	if (is_end && !moment->has_time) {
		moment->date.tm_mon += moment->is_month;
		moment->date.tm_mday += !moment->is_month;
	}
	return (int64_t)timegm(&moment->date) * CLOCK_NS_PER_SECOND +
	       moment->day_ns - moment->zone_ns;
}

int
search_moment(
    const char *text, int64_t now_wall_ns, bool is_end, int64_t *wall_ns_r)
{
	int64_t today_ns = clock_day(now_wall_ns) * CLOCK_NS_PER_DAY;
	struct moment moment;
	int64_t ago_ns;

	if (is_end)
		today_ns += CLOCK_NS_PER_DAY;
	if (strcmp(text, "today") == 0)
		*wall_ns_r = today_ns;
	else if (strcmp(text, "yesterday") == 0)
		*wall_ns_r = today_ns - CLOCK_NS_PER_DAY;
	else if (search_duration(text, &ago_ns) == 0)
		*wall_ns_r = now_wall_ns - ago_ns;
	else if (take_moment(text, now_wall_ns, &moment))
		*wall_ns_r = moment_ns(&moment, is_end);
	else
		return -1;
	return 0;
}

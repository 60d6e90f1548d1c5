/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RateLimitIntervalSec= and RateLimitBurst= of section [Journal]. Called by
 * logger_conf.c at start.
 */
#include "exporter/read/journald_conf.h"

#include "base/clock.h"

const struct log_limit journald_conf_default = {
    .interval_ns = 30 * CLOCK_NS_PER_SECOND,
    .burst = 10000,
};

#define SECONDS_DIGITS_MAX 9

struct unit {
	struct maillog_view name;
	int64_t times; /* a second */
	int64_t parts; /* that it is divided into */
};

/* As systemd.time(7) names them. */
static const struct unit units[] = {
    {MAILLOG_LITERAL(""), 1, 1},
    {MAILLOG_LITERAL("s"), 1, 1},
    {MAILLOG_LITERAL("sec"), 1, 1},
    {MAILLOG_LITERAL("second"), 1, 1},
    {MAILLOG_LITERAL("seconds"), 1, 1},
    {MAILLOG_LITERAL("ms"), 1, 1000},
    {MAILLOG_LITERAL("msec"), 1, 1000},
    {MAILLOG_LITERAL("us"), 1, 1000000},
    {MAILLOG_LITERAL("usec"), 1, 1000000},
    {MAILLOG_LITERAL("m"), 60, 1},
    {MAILLOG_LITERAL("min"), 60, 1},
    {MAILLOG_LITERAL("minute"), 60, 1},
    {MAILLOG_LITERAL("minutes"), 60, 1},
    {MAILLOG_LITERAL("h"), 3600, 1},
    {MAILLOG_LITERAL("hr"), 3600, 1},
    {MAILLOG_LITERAL("hour"), 3600, 1},
    {MAILLOG_LITERAL("hours"), 3600, 1},
};

static struct maillog_view
trim(struct maillog_view text)
{
	while (text.size > 0 && memchr(" \t\r", *text.at, 3) != NULL)
		text = maillog_view_behind(text, 1);
	while (
	    text.size > 0 && memchr(" \t\r", text.at[text.size - 1], 3) != NULL)
		text.size--;
	return text;
}

static struct maillog_view
take_while(struct maillog_view *text, const char *characters)
{
	struct maillog_view taken = {text->at, 0};

	while (taken.size < text->size &&
	       strchr(characters, text->at[taken.size]) != NULL &&
	       text->at[taken.size] != '\0')
		taken.size++;
	*text = maillog_view_behind(*text, taken.size);
	return taken;
}

/* "30s", "1min 30s", "0". Returns 0, or -1. */
static int
read_span(struct maillog_view text, int64_t *ns_r)
{
	int64_t sum_ns = 0;

	do {
		struct maillog_view number = take_while(&text, "0123456789.");
		struct maillog_view name;
		int64_t ns;
		size_t i = 0;

		if (number.size > SECONDS_DIGITS_MAX ||
		    maillog_view_seconds(number, &ns) != 0)
			return -1;
		text = trim(text);
		name = take_while(&text, "abcdefghijklmnopqrstuvwxyz");
		text = trim(text);
		while (i < sizeof(units) / sizeof(units[0]) &&
		       !maillog_view_equal(units[i].name, name))
			i++;
		if (i == sizeof(units) / sizeof(units[0]) ||
		    ns / CLOCK_NS_PER_SECOND * units[i].times > INT32_MAX)
			return -1;
		sum_ns += ns / units[i].parts * units[i].times;
	} while (text.size > 0 && sum_ns / CLOCK_NS_PER_SECOND <= INT32_MAX);
	*ns_r = sum_ns;
	return text.size == 0 ? 0 : -1;
}

/* An empty value is the default again. Returns whether it is one of ours. */
static bool
read_setting(struct maillog_view name, struct maillog_view value,
    struct log_limit *limit)
{
	static const struct maillog_view burst =
	    MAILLOG_LITERAL("RateLimitBurst");
	static const struct maillog_view interval =
	    MAILLOG_LITERAL("RateLimitIntervalSec");
	/* Before systemd 230. */
	static const struct maillog_view old_interval =
	    MAILLOG_LITERAL("RateLimitInterval");
	int64_t number;

	if (maillog_view_equal(name, burst)) {
		if (value.size == 0)
			limit->burst = journald_conf_default.burst;
		else if (maillog_view_number(value, &number) == 0)
			limit->burst = number;
		return true;
	}
	if (!maillog_view_equal(name, interval) &&
	    !maillog_view_equal(name, old_interval))
		return false;
	if (value.size == 0)
		limit->interval_ns = journald_conf_default.interval_ns;
	else if (read_span(value, &number) == 0)
		limit->interval_ns = number;
	return true;
}

static struct maillog_view
take_line(struct maillog_view *text)
{
	const char *end = memchr(text->at, '\n', text->size);
	struct maillog_view line = *text;

	if (end != NULL)
		line.size = (size_t)(end - text->at);
	*text = maillog_view_behind(*text, line.size + (end != NULL));
	return trim(line);
}

bool
journald_conf_read(struct maillog_view text, struct log_limit *limit)
{
	static const struct maillog_view section = MAILLOG_LITERAL("[Journal]");
	bool is_ours = false, has_any = false;

	while (text.size > 0) {
		struct maillog_view line = take_line(&text);
		const char *equals =
		    line.size > 0 ? memchr(line.at, '=', line.size) : NULL;
		size_t size = equals != NULL ? (size_t)(equals - line.at) : 0;

		if (line.size > 0 && *line.at == '[')
			is_ours = maillog_view_equal(line, section);
		else if (is_ours && equals != NULL)
			has_any |= read_setting(
			    trim((struct maillog_view){line.at, size}),
			    trim(maillog_view_behind(line, size + 1)), limit);
	}
	return has_any;
}

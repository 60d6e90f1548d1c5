/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maillog_time: the time stamps of log lines, and which moment they mean.
 *
 *     Nov 30 07:47:42                      postlogd, traditional syslog
 *     2026-11-30T07:47:42.123456+01:00     RFC 3339, as rsyslog writes it
 *     2026-11-30 07:47:42                  the same without a zone
 *
 * What has no zone is local time: that of the environment variable TZ, else of
 * /etc/localtime, so that a log from elsewhere needs TZ set to its zone. What
 * has no year gets it from references. A local time that exists twice, at the
 * end of summer time, is the earlier of the two unless the line before it lies
 * more than five seconds behind that one; without a line before it, the later
 * one. A local time that does not exist is taken as mktime(3) does.
 */
#ifndef EXPORTER_MAILLOG_MAILLOG_TIME_H
#define EXPORTER_MAILLOG_MAILLOG_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maillog_time {
	int16_t year;                     /* 0: not written */
	int8_t month;                     /* 1 to 12; 0: no time at all */
	int8_t day, hour, minute, second; /* 60 is possible */
	bool has_zone;
	int32_t zone_seconds; /* east of UTC */
	int32_t ns;
};

/* Reads a time stamp from the front of the `size` bytes. Returns how many
 * bytes it has, or 0 when there is none. Months are English. */
size_t maillog_time_parse(
    const char *text, size_t size, struct maillog_time *time_r);

/* What is known of the moment that a time without year or zone stands for.
 * Either may be 0, unknown. */
struct maillog_reference {
	int64_t previous_ns; /* of the line before; clocks may be set back a
				day */
	int64_t latest_ns;   /* not later, give or take a day: the time of the
				file's last change */
};

/* The wall clock time meant; 0 when there is no time or nothing to tell the
 * year by. A function of its arguments and TZ. */
int64_t maillog_time_resolve(
    const struct maillog_time *time, const struct maillog_reference *reference);

/* Resolves the times of one log's lines in their order, each by the one before.
 * A zeroed struct with reference.latest_ns set is a start. */
struct maillog_clock {
	struct maillog_reference reference;
	struct maillog_time minute; /* the last minute that exists once */
	int64_t minute_ns;
};

int64_t maillog_clock_resolve(
    struct maillog_clock *clock, const struct maillog_time *time);

#endif

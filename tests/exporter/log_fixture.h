/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_fixture: a log in a directory of its own, written to and rotated as
 * programs do it, and read by a follower. Each line holds its number; what is
 * read is told as ranges of numbers and gaps:
 *
 *     "0..9 copied 10..14"
 */
#ifndef TESTS_EXPORTER_LOG_FIXTURE_H
#define TESTS_EXPORTER_LOG_FIXTURE_H

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/reason.h"
#include "exporter/read/log_catalog.h"
#include "exporter/read/log_follower.h"
#include "tests/lib/unit.h"

/* 2026-11-30T07:47:42Z; each line is a second later than the one before. */
#define FIRST_WALL_NS (INT64_C(1796024862) * CLOCK_NS_PER_SECOND)

struct log_fixture {
	char directory[PATH_MAX / 2];
	char path[PATH_MAX];
	int next; /* number of the next line */
	bool traditional;
	struct log_catalog catalog;
	struct log_follower *follower;
	char told[4096];
	int first, last; /* of the range that is not told yet */
	/* Of the last gap. */
	int64_t gap_start_wall_ns, gap_end_wall_ns;
};

static inline void
fixture_name(
    const struct log_fixture *log, const char *name, char path_r[PATH_MAX])
{
	snprintf(path_r, PATH_MAX, "%s/%s", log->directory, name);
}

static inline int
log_setup(void **state)
{
	struct log_fixture *log = calloc(1, sizeof(*log));

	const char *parent = getenv("TMPDIR");

	snprintf(log->directory, sizeof(log->directory), "%s/log.XXXXXX",
	    parent != NULL ? parent : "/tmp");
	assert_non_null(mkdtemp(log->directory));
	snprintf(log->path, sizeof(log->path), "%s/mail.log", log->directory);
	*state = log;
	return 0;
}

static inline int
remove_one(
    const char *path, const struct stat *status, int type, struct FTW *walk)
{
	return remove(path);
}

static inline int
log_teardown(void **state)
{
	struct log_fixture *log = *state;

	log_follower_free(&log->follower);
	log_catalog_free(&log->catalog);
	nftw(log->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(log);
	clock_set_source(NULL);
	return 0;
}

static inline int64_t
line_wall_ns(int number)
{
	return FIRST_WALL_NS + number * CLOCK_NS_PER_SECOND;
}

static inline int
format_line(const struct log_fixture *log, int number, char *text, size_t size)
{
	time_t seconds = (time_t)(line_wall_ns(number) / CLOCK_NS_PER_SECOND);
	struct tm local;
	char stamp[64];

	localtime_r(&seconds, &local);
	strftime(stamp, sizeof(stamp),
	    log->traditional ? "%b %d %H:%M:%S" : "%Y-%m-%dT%H:%M:%S.000001%z",
	    &local);
	return snprintf(text, size,
	    "%s mx postfix/qmgr[%d]: 4F5E3A1C0: removed\n", stamp, number + 1);
}

static inline void
append_text(const struct log_fixture *log, const char *name, const char *text)
{
	char path[PATH_MAX];
	int fd;

	fixture_name(log, name, path);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Sets the time of the last change to a line's. */
static inline void
set_changed(const struct log_fixture *log, const char *name, int number)
{
	struct timespec times[2] = {{0, UTIME_OMIT},
	    {(time_t)(line_wall_ns(number) / CLOCK_NS_PER_SECOND), 0}};
	char path[PATH_MAX];

	fixture_name(log, name, path);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Appends the next `count` lines. */
static inline void
append(struct log_fixture *log, const char *name, int count)
{
	for (int i = 0; i < count; i++) {
		char text[256];

		format_line(log, log->next++, text, sizeof(text));
		append_text(log, name, text);
	}
	set_changed(log, name, log->next - 1);
}

static inline void
rename_log(const struct log_fixture *log, const char *from, const char *to)
{
	char old[PATH_MAX], new[PATH_MAX];

	fixture_name(log, from, old);
	fixture_name(log, to, new);
	assert_int_equal(rename(old, new), 0);
}

static inline bool
log_exists(const struct log_fixture *log, const char *name)
{
	char path[PATH_MAX];

	fixture_name(log, name, path);
	return access(path, F_OK) == 0;
}

/* Returns whether it was there. */
static inline bool
rename_if_there(const struct log_fixture *log, const char *from, const char *to)
{
	bool there = log_exists(log, from);

	if (there)
		rename_log(log, from, to);
	return there;
}

static inline void
run(const struct log_fixture *log, const char *program, const char *name)
{
	char command[3 * PATH_MAX], path[PATH_MAX];

	fixture_name(log, name, path);
	snprintf(command, sizeof(command), "%s %s", program, path);
	assert_int_equal(system(command), 0);
}

static inline void
compress_log(const struct log_fixture *log, const char *name)
{
	run(log, "gzip", name);
}

static inline void
remove_log(const struct log_fixture *log, const char *name)
{
	run(log, "rm", name);
}

static inline void
truncate_log(const struct log_fixture *log, const char *name, long bytes)
{
	char path[PATH_MAX];

	fixture_name(log, name, path);
	assert_int_equal(truncate(path, bytes), 0);
}

static inline void
copy_log(const struct log_fixture *log, const char *from, const char *to)
{
	char old[PATH_MAX], new[PATH_MAX], piece[4096];
	struct stat status;
	ssize_t size;
	int in, out;

	fixture_name(log, from, old);
	fixture_name(log, to, new);
	in = open(old, O_RDONLY);
	out = open(new, O_WRONLY | O_CREAT | O_EXCL, 0644);
	assert_true(in >= 0 && out >= 0 && fstat(in, &status) == 0);
	while ((size = read(in, piece, sizeof(piece))) > 0)
		assert_int_equal(write(out, piece, (size_t)size), size);
	assert_int_equal(
	    futimens(out, (struct timespec[2]){status.st_atim, status.st_mtim}),
	    0);
	close(in);
	close(out);
}

/* Opens a follower at a position with the catalog as it would be after it was
 * saved and loaded. */
static inline void
follow_from(struct log_fixture *log, struct journal_position from)
{
	struct buffer saved = {0};

	log_follower_free(&log->follower);
	log_catalog_write(&log->catalog, &saved);
	log_catalog_free(&log->catalog);
	assert_int_equal(
	    log_catalog_read(&log->catalog, saved.data, saved.size), 0);
	buffer_free(&saved);
	log->follower =
	    log_follower_open(log->path, &log->catalog, from, false);
}

static inline void
follow(struct log_fixture *log)
{
	follow_from(log, (struct journal_position){0, 0});
}

/* Ends the follower; returns where it was. */
static inline struct journal_position
unfollow(struct log_fixture *log)
{
	struct journal_position position = log_follower_position(log->follower);

	log_follower_free(&log->follower);
	return position;
}

static inline void
tell_word(struct log_fixture *log, const char *word)
{
	size_t size = strlen(log->told);

	snprintf(log->told + size, sizeof(log->told) - size, "%s%s",
	    size > 0 ? " " : "", word);
}

static inline void
tell_range(struct log_fixture *log)
{
	char range[64];

	if (log->first >= 0) {
		snprintf(range, sizeof(range), "%d..%d", log->first, log->last);
		tell_word(log, range);
	}
	log->first = -1;
}

static inline void
tell(struct log_fixture *log, const struct log_entry *entry)
{
	int number = (int)entry->line.pid - 1;

	if (entry->gap != LOG_GAP_NONE) {
		tell_range(log);
		tell_word(log, log_gap_name(entry->gap));
		log->gap_start_wall_ns = entry->gap_start_wall_ns;
		log->gap_end_wall_ns = entry->gap_end_wall_ns;
	} else if (number < 0) {
		tell_range(log);
		tell_word(log, entry->is_cut ? "cut" : "other");
	} else if (log->first >= 0 && number == log->last + 1) {
		log->last = number;
	} else {
		tell_range(log);
		log->first = log->last = number;
	}
}

static inline void
check_time(const struct log_entry *entry)
{
	if (entry->gap == LOG_GAP_NONE && entry->line.pid > 0)
		assert_int_equal(entry->wall_ns / CLOCK_NS_PER_SECOND,
		    line_wall_ns((int)entry->line.pid - 1) /
			CLOCK_NS_PER_SECOND);
}

/* Reads to the end; returns what was read. Positions must grow. */
static inline const char *
drain(struct log_fixture *log)
{
	struct journal_position before = log_follower_position(log->follower);
	struct log_entry entry;
	struct reason reason = {""};
	int result;

	log->told[0] = '\0';
	log->first = -1;
	while (
	    (result = log_follower_next(log->follower, &entry, &reason)) == 1) {
		int order = journal_position_compare(before, entry.position);

		tell(log, &entry);
		check_time(&entry);
		assert_true(entry.gap != LOG_GAP_NONE ? order <= 0 : order < 0);
		before = entry.position;
	}
	if (result < 0)
		fail_msg("%s", reason.text);
	tell_range(log);
	return log->told;
}

/* A log of `count` lines, followed and read to its end. */
static inline void
follow_lines(struct log_fixture *log, int count)
{
	char wanted[32];

	append(log, "mail.log", count);
	follow(log);
	snprintf(wanted, sizeof(wanted), "0..%d", count - 1);
	assert_string_equal(drain(log), wanted);
}

/* The last gap lies between these two lines. */
static inline void
check_gap(const struct log_fixture *log, int before, int behind)
{
	assert_int_equal(log->gap_start_wall_ns / CLOCK_NS_PER_SECOND,
	    line_wall_ns(before) / CLOCK_NS_PER_SECOND);
	assert_int_equal(log->gap_end_wall_ns / CLOCK_NS_PER_SECOND,
	    line_wall_ns(behind) / CLOCK_NS_PER_SECOND);
}

#endif

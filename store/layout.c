/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and births of files. Called by the writer on the ingest thread, by
 * readers on theirs. Opens no file that SQLite may have open.
 */
#include "store/layout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/reason.h"

#define ODD_NAME "odd.db"
#define DAY_NAME_SIZE sizeof("day-YYYYMMDD.db")
#define SET_ASIDE_MAX 1000

enum { LOG, INDEX, LOGS };
static const char *const log_suffixes[LOGS] = {
    [LOG] = "-wal", [INDEX] = "-shm"};

char *
layout_path(const char *directory, const char *name)
{
	return memory_format("%s/%s", directory, name);
}

char *
layout_day_path(const char *directory, int64_t day)
{
	char text[CLOCK_TEXT_SIZE];

	if (day == LAYOUT_ODD)
		return layout_path(directory, ODD_NAME);
	clock_format(day * CLOCK_NS_PER_DAY, text);
	return memory_format(
	    "%s/day-%.4s%.2s%.2s.db", directory, text, text + 5, text + 8);
}

int
layout_parse(const char *name, int64_t *day_r)
{
	char text[CLOCK_TEXT_SIZE];
	int64_t wall_ns;

	if (strcmp(name, ODD_NAME) == 0) {
		*day_r = LAYOUT_ODD;
		return 1;
	}
	if (strlen(name) != DAY_NAME_SIZE - 1 ||
	    strncmp(name, "day-", 4) != 0 || strcmp(name + 12, ".db") != 0)
		return 0;
	snprintf(text, sizeof(text), "%.4s-%.2s-%.2sT00:00:00.000000Z",
	    name + 4, name + 8, name + 10);
	if (clock_parse(text, strlen(text), &wall_ns) != 0)
		return 0;
	*day_r = clock_day(wall_ns);
	return 1;
}

static int
newest_first(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a < *b) - (*a > *b);
}

long
layout_list(const char *directory, int64_t **days_r, struct reason *reason)
{
	DIR *entries = opendir(directory);
	const struct dirent *entry;
	int64_t *days = NULL, day;
	size_t count = 0;

	*days_r = NULL;
	if (entries == NULL)
		return reason_set_errno(reason, "%s", directory);
	while (errno = 0, (entry = readdir(entries)) != NULL) {
		if (!layout_parse(entry->d_name, &day))
			continue;
		days = memory_resize(days, count + 1, sizeof(*days));
		days[count++] = day;
	}
	/* Of a list that is not all, sums would be too small. */
	if (errno != 0) {
		reason_set_errno(reason, "%s", directory);
		closedir(entries);
		free(days);
		return -1;
	}
	closedir(entries);
	if (count > 0)
		qsort(days, count, sizeof(*days), newest_first);
	*days_r = days;
	return (long)count;
}

struct layout_identity
layout_identify(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return (struct layout_identity){0};
	return (struct layout_identity){
	    .device = status.st_dev, .inode = status.st_ino};
}

static struct stat
look_at_log(const char *path, size_t suffix)
{
	char *log = memory_format("%s%s", path, log_suffixes[suffix]);
	struct stat status;

	if (stat(log, &status) != 0)
		memset(&status, 0, sizeof(status));
	free(log);
	return status;
}

struct layout_identity
layout_identify_all(const char *path)
{
	struct layout_identity identity;
	struct stat status;

	if (stat(path, &status) != 0)
		return (struct layout_identity){0};
	identity = (struct layout_identity){.device = status.st_dev,
	    .inode = status.st_ino,
	    .bytes = status.st_size};
	identity.log = look_at_log(path, LOG).st_ino;
	identity.index = look_at_log(path, INDEX).st_ino;
	return identity;
}

enum layout_change
layout_compare(
    const struct layout_identity *before, const struct layout_identity *now)
{
	if (now->device != before->device || now->inode != before->inode)
		return LAYOUT_REPLACED;
	if (now->log != before->log)
		return LAYOUT_LOG_REPLACED;
	if (now->index != before->index)
		return LAYOUT_INDEX_REPLACED;
	return now->bytes < before->bytes ? LAYOUT_CUT : LAYOUT_SAME;
}

const char *
layout_change_text(enum layout_change change)
{
	static const char *const texts[LAYOUT_CHANGES] = {
	    [LAYOUT_SAME] = "the same",
	    [LAYOUT_REPLACED] = "others removed or replaced it",
	    [LAYOUT_LOG_REPLACED] = "others removed its log",
	    [LAYOUT_INDEX_REPLACED] = "others removed its log's index",
	    [LAYOUT_CUT] = "others cut it short",
	};

	return texts[change];
}

int
layout_sync_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = memory_format("%.*s", (int)(slash - path), path);
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result = fd < 0 ? -1 : fsync(fd);

	if (fd >= 0)
		close(fd);
	free(directory);
	return result;
}

static void
remove_log(const char *path)
{
	for (size_t i = 0; i < LOGS; i++) {
		char *log = memory_format("%s%s", path, log_suffixes[i]);

		unlink(log);
		free(log);
	}
}

/* The log goes last: a file without it may lack what was committed. */
int
layout_remove(const char *path, struct reason *reason)
{
	if (unlink(path) != 0 && errno != ENOENT)
		return reason_set_errno(reason, "%s", path);
	remove_log(path);
	return 0;
}

/* Whether it is the log of a day file; cuts off the suffix. */
static bool
is_log(char *name)
{
	size_t size = strlen(name);
	int64_t day;

	if (size < 4 || (strcmp(name + size - 4, log_suffixes[LOG]) != 0 &&
			    strcmp(name + size - 4, log_suffixes[INDEX]) != 0))
		return false;
	name[size - 4] = '\0';
	return layout_parse(name, &day) == 1;
}

void
layout_remove_orphans(const char *directory)
{
	DIR *entries = opendir(directory);
	const struct dirent *entry;

	while (entries != NULL && (entry = readdir(entries)) != NULL) {
		char *name = memory_string(entry->d_name);
		char *path = is_log(name) ? layout_path(directory, name) : NULL;

		if (path != NULL && layout_identify(path).inode == 0)
			remove_log(path);
		free(path);
		free(name);
	}
	if (entries != NULL)
		closedir(entries);
}

int
layout_create(const char *path, struct reason *reason)
{
	int fd, result;

	remove_log(path);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW,
	    LAYOUT_FILE_MODE);
	if (fd < 0)
		return reason_set_errno(reason, "%s", path);
	result = fchmod(fd, LAYOUT_FILE_MODE);
	close(fd);
	if (result == 0)
		result = layout_sync_name(path);
	return result == 0 ? 0 : reason_set_errno(reason, "%s", path);
}

int
layout_set_aside(const char *path, struct reason *reason)
{
	char *aside = NULL, *log, *log_aside;
	int number = 0;

	do {
		free(aside);
		aside = memory_format("%s.damaged-%d", path, ++number);
	} while (access(aside, F_OK) == 0 && number < SET_ASIDE_MAX);
	if (number == SET_ASIDE_MAX || rename(path, aside) != 0) {
		reason_set_errno(reason, "%s: cannot be set aside", path);
		free(aside);
		return -1;
	}
	for (size_t i = 0; i < LOGS; i++) {
		log = memory_format("%s%s", path, log_suffixes[i]);
		log_aside = memory_format("%s%s", aside, log_suffixes[i]);
		rename(log, log_aside);
		free(log);
		free(log_aside);
	}
	free(aside);
	return 0;
}

uint64_t
layout_bytes(const char *path)
{
	struct stat status;
	uint64_t bytes = (uint64_t)look_at_log(path, LOG).st_size;

	if (stat(path, &status) == 0)
		bytes += (uint64_t)status.st_size;
	return bytes;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The choice between the two kinds of log. Owned by log_source.c, on the ingest
 * thread.
 */
#include "exporter/read/log_reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/reason.h"
#include "exporter/read/log_catalog.h"
#include "exporter/read/log_follower.h"
#include "exporter/read/log_journald.h"
#include "exporter/read/watch.h"

#define JOURNAL "journal"

struct log_reader {
	char *name;
	struct watch *watch;
	struct log_catalog *catalog;
	/* One of the two. Of a journal that failed neither, until it is opened
	 * again at `position`. */
	struct log_follower *follower;
	struct log_journald *journald;
	struct journal_position position;
	int watched[LOG_WATCHES_MAX]; /* numbers of what is watched */
};

static bool
is_journal(const char *name)
{
	return strncmp(name, JOURNAL, strlen(JOURNAL)) == 0 &&
	       (name[strlen(JOURNAL)] == '\0' || name[strlen(JOURNAL)] == ':');
}

/* NULL: the system's. */
static const char *
journal_directory(const char *name)
{
	const char *colon = name + strlen(JOURNAL);

	return *colon == ':' ? colon + 1 : NULL;
}

int
log_reader_check(const char *name, struct reason *reason)
{
	if (!is_journal(name) || log_journald_is_supported())
		return 0;
	return reason_set(reason,
	    "maillog: \"%s\": this build cannot read the systemd journal, "
	    "it was made without libsystemd",
	    name);
}

static int
open_journal(struct log_reader *reader, struct reason *reason)
{
	int fd;

	reader->journald = log_journald_open(journal_directory(reader->name),
	    reader->catalog, reader->position, false, reason);
	if (reader->journald == NULL)
		return -1;
	fd = log_journald_fd(reader->journald);
	if (fd < 0)
		reason_set(reason, "the systemd journal cannot be watched");
	else if (watch_add_fd(reader->watch, fd, reason) == 0)
		return 0;
	log_journald_free(&reader->journald);
	return -1;
}

struct log_reader *
log_reader_open(const char *name, struct watch *watch,
    struct log_catalog *catalog, struct journal_position from,
    struct reason *reason)
{
	struct log_reader *reader = memory_zeroed(1, sizeof(*reader));

	reader->name = memory_string(name);
	reader->watch = watch;
	reader->catalog = catalog;
	reader->position = from;
	if (!is_journal(name))
		reader->follower =
		    log_follower_open(name, catalog, from, false);
	else if (log_reader_check(name, reason) != 0 ||
		 open_journal(reader, reason) != 0)
		log_reader_free(&reader);
	return reader;
}

void
log_reader_free(struct log_reader **reader)
{
	if (*reader == NULL)
		return;
	log_follower_free(&(*reader)->follower);
	log_journald_free(&(*reader)->journald);
	free((*reader)->name);
	free(*reader);
	*reader = NULL;
}

/* Watches what has to be. Returns whether that are other files than before. */
static bool
renew_watches(struct log_reader *reader)
{
	struct log_watch watches[LOG_WATCHES_MAX];
	size_t count = log_follower_watches(reader->follower, watches);
	struct reason reason;
	bool is_new = false;

	for (size_t i = 0; i < count; i++) {
		int number = watch_add_path(
		    reader->watch, watches[i].path, watches[i].events, &reason);

		is_new |= number >= 0 && number != reader->watched[i];
		reader->watched[i] = number;
	}
	return is_new;
}

static int
next_of_file(
    struct log_reader *reader, struct log_entry *entry_r, struct reason *reason)
{
	int result = log_follower_next(reader->follower, entry_r, reason);

	if (result == 0 && renew_watches(reader))
		result = log_follower_next(reader->follower, entry_r, reason);
	return result;
}

/* One that failed is closed, also because its descriptor may stay readable. */
static int
next_of_journal(
    struct log_reader *reader, struct log_entry *entry_r, struct reason *reason)
{
	int result;

	if (reader->journald == NULL && open_journal(reader, reason) != 0)
		return -1;
	result = log_journald_next(reader->journald, entry_r, reason);
	reader->position = log_journald_position(reader->journald);
	if (result < 0)
		log_journald_free(&reader->journald);
	return result;
}

int
log_reader_next(
    struct log_reader *reader, struct log_entry *entry_r, struct reason *reason)
{
	return reader->follower != NULL
		   ? next_of_file(reader, entry_r, reason)
		   : next_of_journal(reader, entry_r, reason);
}

struct journal_position
log_reader_position(const struct log_reader *reader)
{
	return reader->follower != NULL
		   ? log_follower_position(reader->follower)
		   : reader->position;
}

bool
log_reader_sees(const struct log_reader *reader)
{
	return reader->follower != NULL ? log_follower_sees(reader->follower)
					: reader->journald != NULL;
}

int64_t
log_reader_behind_bytes(const struct log_reader *reader)
{
	const struct journal_position position = log_reader_position(reader);
	const struct log_catalog *catalog = reader->catalog;
	struct stat status;

	if (reader->follower == NULL || stat(reader->name, &status) != 0)
		return 0;
	if (catalog->count == 0 ||
	    catalog->items[catalog->count - 1].number != position.segment)
		return status.st_size;
	return status.st_size > (off_t)position.offset
		   ? status.st_size - (off_t)position.offset
		   : 0;
}

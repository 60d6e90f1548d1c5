/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The readers of all journals and the order in which their records come. Owned
 * by ingest, on its thread.
 */
#include "exporter/read/sources.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/disk.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "exporter/metrics/metrics.h"
#include "exporter/read/log_source.h"
#include "exporter/read/source.h"
#include "exporter/read/watch.h"

/* How many records of one source are taken before the next source's turn. */
#define TURN_RECORDS 256

struct sources {
	const char *directory;
	struct store *store;
	struct watch *watch;
	struct source *items;
	struct source_position *positions;
	size_t count;
	size_t turn; /* whose it is */
	size_t turn_records;
	size_t ended; /* sources in a row that had nothing */
	uint64_t moment;
	struct stat scanned; /* the directory when it was scanned last */
	bool trouble;
	bool at_end; /* the last sources_next() returned 0 */
};

struct sources *
sources_new(const char *directory, struct store *store, struct watch *watch)
{
	struct sources *sources = memory_zeroed(1, sizeof(*sources));

	sources->directory = directory;
	sources->store = store;
	sources->watch = watch;
	return sources;
}

void
sources_free(struct sources **sources)
{
	if (*sources == NULL)
		return;
	for (size_t i = 0; i < (*sources)->count; i++)
		source_close(&(*sources)->items[i]);
	free((*sources)->items);
	free((*sources)->positions);
	free(*sources);
	*sources = NULL;
}

static bool
is_open(const struct sources *sources, const char *name)
{
	for (size_t i = 0; i < sources->count; i++)
		if (strcmp(sources->items[i].name, name) == 0)
			return true;
	return false;
}

static void
source_add(struct sources *sources, const struct source *source)
{
	sources->items =
	    memory_resize(sources->items, sources->count + 1, sizeof(*source));
	/* A log has two positions. */
	sources->positions = memory_resize(sources->positions,
	    2 * (sources->count + 1), sizeof(*sources->positions));
	sources->items[sources->count++] = *source;
	log_info("source=%s state=opened", source->name);
}

static void
add_journal(struct sources *sources, const char *name)
{
	struct source source = {.name = memory_string(name)};
	struct reason reason;

	if (watch_add(sources->watch, name, &reason) == 0 &&
	    source_open(&source, sources->directory, sources->store, &reason) ==
		0) {
		source_add(sources, &source);
		return;
	}
	log_warn("source=%s reason=\"%s\"", name, reason.text);
	source_close(&source);
}

static int
add_log(struct sources *sources, struct log_source *log, struct reason *reason)
{
	struct source source = {.log = log};

	source.name = memory_string(log_source_name(source.log));
	if (source_open(&source, sources->directory, sources->store, reason) !=
	    0) {
		source_close(&source);
		return -1;
	}
	source_add(sources, &source);
	return 0;
}

int
sources_add_log(struct sources *sources, const char *path,
    const char *limit_root, struct reason *reason)
{
	struct log_source *log = log_source_new(
	    path, LOG_OF_POSTFIX, sources->store, sources->watch);

	log_source_look_for_limits(log, limit_root);
	return add_log(sources, log, reason);
}

int
sources_add_dovecot_log(
    struct sources *sources, const char *path, struct reason *reason)
{
	return add_log(sources,
	    log_source_new(
		path, LOG_OF_DOVECOT, sources->store, sources->watch),
	    reason);
}

static bool
is_directory(DIR *directory, const struct dirent *entry)
{
	struct stat status;

	if (*entry->d_name == '.')
		return false;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
	       S_ISDIR(status.st_mode);
}

int
sources_scan(struct sources *sources, struct reason *reason)
{
	DIR *directory = opendir(sources->directory);
	const struct dirent *entry;

	if (directory == NULL)
		return reason_set_errno(
		    reason, "cannot read %s", sources->directory);
	fstat(dirfd(directory), &sources->scanned);
	while ((entry = readdir(directory)) != NULL)
		if (is_directory(directory, entry) &&
		    !is_open(sources, entry->d_name))
			add_journal(sources, entry->d_name);
	closedir(directory);
	sources->ended = 0;
	return 0;
}

int
sources_restart(struct sources *sources, struct reason *reason)
{
	sources->ended = 0;
	for (size_t i = 0; i < sources->count; i++)
		if (source_open(&sources->items[i], sources->directory,
			sources->store, reason) != 0)
			return -1;
	return sources_scan(sources, reason);
}

/* Whether every other source was read as far as it was when the record was
 * read. A source that is held back itself has nothing to wait for; but
 * deliveries come after lines. */
static bool
is_released(const struct sources *sources, const struct source *source)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct source *other = &sources->items[i];
		bool is_held = other->held_back &&
			       (other->log == NULL || source->log != NULL);

		if (other != source && !is_held &&
		    other->ended_at <= source->held_since &&
		    !source_is_later(other, source))
			return false;
	}
	return true;
}

/* It is tried again each second: told once, and again when it is another. */
static void
fail(
    struct sources *sources, struct source *source, const struct reason *reason)
{
	if (strcmp(source->trouble.text, reason->text) != 0)
		log_error(
		    "source=%s reason=\"%s\"", source->name, reason->text);
	source->trouble = *reason;
	source->failed = true;
	sources->trouble = true;
}

static void
end_trouble(struct source *source)
{
	if (source->trouble.text[0] == '\0')
		return;
	log_info("source=%s reason=read again", source->name);
	source->trouble.text[0] = '\0';
}

/* Looks for the source's next record. Returns whether there is one, which may
 * be held back. */
static bool
look_ahead(struct sources *sources, struct source *source, sources_ready *ready,
    void *context)
{
	struct source_record record;
	struct reason reason;
	int result;

	if (source->held_back)
		return true;
	result = source_read(source, &reason);
	source->is_at_end = result <= 0;
	if (result < 0)
		fail(sources, source, &reason);
	else if (!source->failed)
		end_trouble(source);
	if (result <= 0) {
		source->ended_at = ++sources->moment;
		return false;
	}
	record = source_record(source);
	source->held_back = !ready(context, &record);
	source->held_since = ++sources->moment;
	return true;
}

/* Whether there are journals that were begun since the last scan: what
 * is held back must wait for them, too. */
static bool
find_new_journals(struct sources *sources)
{
	const struct stat *last = &sources->scanned;
	size_t count = sources->count;
	struct stat status;

	if (stat(sources->directory, &status) != 0 ||
	    (status.st_mtim.tv_sec == last->st_mtim.tv_sec &&
		status.st_mtim.tv_nsec == last->st_mtim.tv_nsec &&
		status.st_nlink == last->st_nlink))
		return false;
	sources_scan(sources, NULL);
	return sources->count > count;
}

static void
end_turn(struct sources *sources)
{
	sources->turn_records = 0;
	sources->turn = (sources->turn + 1) % sources->count;
}

/* Whether another source that has more was not read as far: the log takes five
 * lines to tell of a message, and who runs ahead of it leaves more to remember
 * than need be. */
static bool
is_ahead(const struct sources *sources, const struct source *source)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct source *other = &sources->items[i];

		if (!other->is_at_end && !other->held_back &&
		    other->latest.wall_ns < source->latest.wall_ns)
			return true;
	}
	return false;
}

static void
forget_trouble(struct sources *sources)
{
	sources->at_end = false;
	sources->trouble = false;
	for (size_t i = 0; i < sources->count; i++)
		sources->items[i].failed = false;
}

/* Whether the next line of a log was read before a restart already. Another one
 * is then held back, as it has been read. */
static bool
is_replay(struct sources *sources, struct source *source)
{
	struct source_record record;

	if (!source->is_replayed)
		return false;
	source->is_replayed = source_read(source, NULL) == 1;
	if (!source->is_replayed)
		return false;
	record = source_record(source);
	source->is_replayed = store_is_replay(
	    sources->store, source->name, record.line->position);
	if (!source->is_replayed) {
		source->held_back = true;
		source->held_since = ++sources->moment;
	}
	return source->is_replayed;
}

/* Gives a line that is read again after a restart, if there is one. */
static bool
replay(struct sources *sources, struct source_record *record_r)
{
	for (size_t i = 0; i < sources->count; i++)
		if (is_replay(sources, &sources->items[i])) {
			source_give(&sources->items[i], record_r);
			return true;
		}
	return false;
}

int
sources_next(struct sources *sources, sources_ready *ready, void *context,
    struct source_record *record_r)
{
	if (sources->at_end)
		forget_trouble(sources);
	if (replay(sources, record_r))
		return 1;
	while (sources->ended < sources->count) {
		struct source *source = &sources->items[sources->turn];

		if (sources->turn_records == TURN_RECORDS) {
			end_turn(sources);
		} else if (sources->turn_records == 0 && !source->held_back &&
			   is_ahead(sources, source)) {
			sources->ended = 0;
			end_turn(sources);
		} else if (!look_ahead(sources, source, ready, context)) {
			end_turn(sources);
			sources->ended++;
			if (!source->failed &&
			    source_give_end(source, record_r))
				return 1;
		} else if (source->held_back && !is_released(sources, source)) {
			sources->ended = 0;
			end_turn(sources);
		} else if (!source->held_back || !find_new_journals(sources)) {
			sources->ended = 0;
			sources->turn_records++;
			source_give(source, record_r);
			return 1;
		}
	}
	sources->ended = 0;
	sources->at_end = true;
	return 0;
}

bool
sources_see_logs(const struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		if (sources->items[i].log != NULL &&
		    log_source_owner(sources->items[i].log) == LOG_OF_POSTFIX &&
		    !log_source_sees(sources->items[i].log))
			return false;
	return true;
}

bool
sources_in_trouble(const struct sources *sources)
{
	return sources->trouble;
}

const struct source_position *
sources_positions(struct sources *sources, sources_start *start, void *context,
    size_t *count_r)
{
	size_t count = 0;

	for (size_t i = 0; i < sources->count; i++) {
		const struct source *source = &sources->items[i];

		sources->positions[count++] =
		    (struct source_position){source->name, source->position};
		if (source->log != NULL)
			sources->positions[count++] = (struct source_position){
			    log_source_start_name(source->log),
			    start(context, source->name, source->position)};
	}
	*count_r = count;
	return sources->positions;
}

int
sources_save(struct sources *sources, struct reason *reason)
{
	for (size_t i = 0; i < sources->count; i++)
		if (sources->items[i].log != NULL &&
		    log_source_save(sources->items[i].log, reason) != 0)
			return -1;
	return 0;
}

void
sources_remove_read(struct sources *sources)
{
	struct reason reason;

	for (size_t i = 0; i < sources->count; i++) {
		struct source *source = &sources->items[i];
		struct journal_position synced =
		    store_synced_bound(sources->store, source->name);

		if (source->log != NULL ||
		    synced.segment == source->removed_before)
			continue;
		source->removed_before = synced.segment;
		if (journal_reader_remove(source->reader, synced, &reason) < 0)
			log_warn("source=%s reason=\"%s\"", source->name,
			    reason.text);
	}
}

void
sources_gauges(struct sources *sources, int64_t *live)
{
	for (unsigned i = 0; i < SOURCES; i++)
		live[metric_index(METRIC_JOURNAL_BEHIND_BYTES, i)] =
		    live[metric_index(METRIC_SOURCE_EVENTS, i)] =
			live[metric_index(METRIC_BEHIND_EVENTS, i)] = 0;
	for (unsigned i = 0; i < LOG_LINE_KINDS; i++)
		live[metric_index(METRIC_LOG_LINES, i)] = 0;
	for (unsigned i = 0; i < LOG_LIMITS; i++)
		live[metric_index(METRIC_LOG_RATE_LIMIT_USED, i)] = 0;
	live[metric_index(METRIC_LOG_BEHIND_BYTES, 0)] = 0;
	live[metric_index(METRIC_DISK_AVAILABLE_BYTES, DISK_JOURNAL)] =
	    disk_available_bytes(sources->directory);
	for (size_t i = 0; i < sources->count; i++)
		source_gauges(&sources->items[i], live);
}

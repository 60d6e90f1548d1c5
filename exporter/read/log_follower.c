/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Following one log: its lines, one by one, from the file that is read at
 * present. Which file that is, is decided in log_follower_move.c. Owned by
 * ingest, on its thread.
 */
#include "exporter/read/log_follower.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "exporter/read/log_follower_private.h"

/* How much in front of a position is read for the times of its lines. */
#define CONTEXT_BYTES (64u << 10)

#define DIRECTORY_EVENTS                                                       \
	(IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB |     \
	    IN_ONLYDIR)
#define FILE_EVENTS (IN_MODIFY | IN_ATTRIB)

struct log_follower *
log_follower_open(const char *path, struct log_catalog *catalog,
    struct journal_position from, bool from_end)
{
	struct log_follower *follower = memory_zeroed(1, sizeof(*follower));
	const char *slash = strrchr(path, '/');

	follower->path = memory_string(path);
	follower->base = slash != NULL ? follower->path + (slash - path) + 1
				       : follower->path;
	follower->directory =
	    slash == NULL ? memory_string(".")
			  : memory_format("%.*s/", (int)(slash - path), path);
	follower->catalog = catalog;
	follower->from_end = from_end;
	follower->number = from.segment;
	follower->offset = from.offset;
	follower->lines = log_lines_new();
	if (from.segment == 0 && catalog->count > 0) {
		follower->number = catalog->items[0].number;
		follower->offset = catalog->items[0].start_offset;
	}
	return follower;
}

void
log_follower_free(struct log_follower **follower)
{
	if (*follower == NULL)
		return;
	log_file_close(&(*follower)->file);
	log_lines_free(&(*follower)->lines);
	free((*follower)->path);
	free((*follower)->directory);
	free(*follower);
	*follower = NULL;
}

void
log_follower_note_gap(struct log_follower *follower, enum log_gap gap)
{
	if (gap > follower->gap)
		follower->gap = gap;
}

void
log_follower_update_latest(struct log_follower *follower)
{
	int64_t *latest_ns = &follower->clock.reference.latest_ns;
	struct stat status;

	if (follower->is_path || log_file_status(follower->file, &status) != 0)
		*latest_ns = clock_stamp().wall_ns;
	else
		*latest_ns = status.st_mtim.tv_sec * CLOCK_NS_PER_SECOND +
			     status.st_mtim.tv_nsec;
}

static void
begin_lines(struct log_follower *follower, uint64_t offset)
{
	log_lines_begin(follower->lines, follower->file, offset,
	    follower->is_path ? &follower->head : NULL);
}

static void
note_time(struct log_follower *follower, struct maillog_view text)
{
	struct maillog_line line;
	int64_t wall_ns;

	maillog_line_parse(text.at, text.size, &line);
	wall_ns = maillog_clock_resolve(&follower->clock, &line.time);
	if (wall_ns != 0)
		follower->last_wall_ns = wall_ns;
}

/* Reads the lines in front of the position for their times. Where no line ends
 * at the position, the file's end was lost and written anew. */
static void
read_context(struct log_follower *follower, uint64_t start)
{
	uint64_t from = follower->offset - start > CONTEXT_BYTES
			    ? follower->offset - CONTEXT_BYTES
			    : start;
	struct log_one_line one;

	begin_lines(follower, from);
	while (log_lines_offset(follower->lines) < follower->offset &&
	       log_lines_next(follower->lines, &one, NULL) == 1)
		if (one.begin > from || from == start)
			note_time(follower, one.text);
	if (log_lines_offset(follower->lines) > follower->offset) {
		log_follower_note_gap(follower, LOG_GAP_DAMAGED);
		follower->offset = log_lines_offset(follower->lines);
	}
	begin_lines(follower, follower->offset);
}

/* Where the next generation begins, if it lies in the same file. */
static uint64_t
find_limit(const struct log_follower *follower)
{
	const struct log_generation *next =
	    log_generation_in_same_file(follower->catalog, follower->number);

	return next != NULL ? next->start_offset : UINT64_MAX;
}

void
log_follower_take(struct log_follower *follower,
    struct log_candidate *candidate, const struct log_generation *generation)
{
	log_file_close(&follower->file);
	follower->file = candidate->file;
	candidate->file = NULL;
	follower->head = candidate->head;
	follower->is_path = candidate->is_path;
	follower->is_final = false;
	follower->end_gap = LOG_GAP_NONE;
	follower->number = generation->number;
	follower->limit = find_limit(follower);
	follower->seen_ns = clock_stamp().monotonic_ns;
	log_follower_update_latest(follower);
	if (follower->offset > generation->start_offset)
		read_context(follower, generation->start_offset);
	else
		begin_lines(follower, follower->offset);
}

void
log_follower_take_start(struct log_follower *follower,
    struct log_candidate *candidate, const struct log_generation *generation)
{
	follower->offset = generation->start_offset;
	log_follower_take(follower, candidate, generation);
}

void
log_follower_skip_to(
    struct log_follower *follower, const struct log_generation *generation)
{
	follower->number = generation->number;
	follower->offset = generation->start_offset;
	follower->limit = find_limit(follower);
	begin_lines(follower, follower->offset);
}

static void
note_read(struct log_follower *follower)
{
	struct log_generation *generation =
	    log_catalog_find(follower->catalog, follower->number);

	follower->offset = follower->entry.position.offset;
	follower->last_wall_ns = follower->entry.wall_ns;
	if (generation != NULL)
		generation->read_wall_ns = follower->last_wall_ns;
}

static void
give_gap(
    struct log_follower *follower, uint64_t offset, struct log_entry *entry_r)
{
	*entry_r = (struct log_entry){
	    .position = {follower->number, offset},
	    .gap = follower->gap,
	    .gap_start_wall_ns = follower->last_wall_ns,
	    .gap_end_wall_ns = follower->entry.wall_ns,
	};
	follower->offset = offset;
	follower->gap = LOG_GAP_NONE;
	follower->held = true;
}

/* A line, or the gap in front of it. */
static void
give(struct log_follower *follower, const struct log_one_line *one,
    struct log_entry *entry_r)
{
	struct log_entry *entry = &follower->entry;

	*entry = (struct log_entry){
	    .position = {follower->number, one->end}, .is_cut = one->is_cut};
	maillog_line_parse(one->text.at, one->text.size, &entry->line);
	entry->wall_ns =
	    maillog_clock_resolve(&follower->clock, &entry->line.time);
	if (entry->wall_ns == 0)
		entry->wall_ns = follower->last_wall_ns;
	if (follower->gap != LOG_GAP_NONE) {
		give_gap(follower, one->begin, entry_r);
		return;
	}
	note_read(follower);
	*entry_r = *entry;
}

/* Whether what failed to be read is to be given up now. */
static bool
has_failed_for_long(struct log_follower *follower)
{
	int64_t now_ns = clock_stamp().monotonic_ns;

	if (follower->failing_since_ns == 0)
		follower->failing_since_ns = now_ns;
	return now_ns - follower->failing_since_ns >= LOG_UNREADABLE_NS;
}

/* Goes on behind what cannot be read, with a gap. Returns whether it can. */
static bool
pass_unreadable(struct log_follower *follower)
{
	uint64_t offset = log_lines_offset(follower->lines);

	if (!log_lines_pass_unreadable(follower->lines))
		return false;
	if (follower->gap < LOG_GAP_DAMAGED)
		log_error("log=%s offset=%" PRIu64 " reason=unreadable, what "
			  "can be read behind it is read",
		    follower->path, offset);
	log_follower_note_gap(follower, LOG_GAP_DAMAGED);
	return true;
}

/* As log_lines_next(), but for what the disk has failed to read for too long.
 */
static int
next_line(struct log_follower *follower, struct log_one_line *one_r,
    struct reason *reason)
{
	int result;

	while ((result = log_lines_next(follower->lines, one_r, reason)) < 0 &&
	       !log_file_is_compressed(follower->file))
		if (!has_failed_for_long(follower) ||
		    !pass_unreadable(follower))
			return -1;
	follower->failing_since_ns = 0;
	return result;
}

/* Reads on in the present file. A damaged .gz ends where it is damaged. */
static int
read_line(struct log_follower *follower, struct log_one_line *one_r,
    struct reason *reason)
{
	int result;

	if (log_lines_offset(follower->lines) >= follower->limit)
		return 0;
	result = next_line(follower, one_r, reason);
	/* A line torn there goes on with what was written later. */
	if (result == 1 && one_r->end > follower->limit)
		return 0;
	if (result >= 0 || !log_file_is_compressed(follower->file))
		return result;
	log_follower_note_gap(follower, LOG_GAP_DAMAGED);
	return 0;
}

int
log_follower_next(struct log_follower *follower, struct log_entry *entry_r,
    struct reason *reason)
{
	struct log_one_line one;
	int result = 1;

	if (follower->held) {
		follower->held = false;
		note_read(follower);
		*entry_r = follower->entry;
		return 1;
	}
	while (result == 1) {
		if (follower->file == NULL) {
			result = log_follower_find(follower, reason);
			continue;
		}
		result = read_line(follower, &one, reason);
		if (result == 1) {
			give(follower, &one, entry_r);
			return 1;
		}
		if (result == 0)
			result = log_follower_move(follower, reason);
	}
	return result;
}

struct journal_position
log_follower_position(const struct log_follower *follower)
{
	return (struct journal_position){follower->number, follower->offset};
}

bool
log_follower_sees(const struct log_follower *follower)
{
	return follower->file != NULL;
}

size_t
log_follower_watches(const struct log_follower *follower,
    struct log_watch watches_r[LOG_WATCHES_MAX])
{
	size_t count = 0;

	watches_r[count++] =
	    (struct log_watch){follower->directory, DIRECTORY_EVENTS};
	if (follower->file != NULL)
		watches_r[count++] = (struct log_watch){
		    log_file_descriptor_path(follower->file), FILE_EVENTS};
	if (follower->file == NULL || !follower->is_path)
		watches_r[count++] =
		    (struct log_watch){follower->path, FILE_EVENTS};
	return count;
}

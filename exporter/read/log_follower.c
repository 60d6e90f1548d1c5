/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Following one log: its lines, one by one, from the file that is read at
 * present. Owned by ingest, on its thread.
 */
#include "exporter/read/log_follower.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "exporter/read/log_follower_move.h"
#include "exporter/read/log_follower_state.h"

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

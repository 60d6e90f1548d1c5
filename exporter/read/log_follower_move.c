/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides from what lies in the log's directory. Called by log_follower.c, on
 * the ingest thread.
 */
#include "exporter/read/log_follower_move.h"

#include <sys/stat.h>

#include "base/clock.h"
#include "exporter/read/log_follower_state.h"

/* A log is not rotated twice in this time. */
#define ROTATION_NS (60 * CLOCK_NS_PER_SECOND)
/* How much of a log's end is searched for its last whole line. */
#define TAIL_BYTES (2 * LOG_LINE_MAX)

/* Makes the candidate's file a generation. */
static struct log_generation *
add_generation(struct log_follower *follower,
    const struct log_candidate *candidate, uint64_t start_offset)
{
	const struct log_generation generation = {
	    .identity = {candidate->head.bytes, candidate->head.hash},
	    .start_offset = start_offset,
	    .first_wall_ns = candidate->head.wall_ns,
	    .read_wall_ns = candidate->head.wall_ns,
	    .device = candidate->device,
	    .inode = candidate->inode,
	    .born_wall_ns = candidate->born_wall_ns,
	};

	return log_catalog_add(follower->catalog, &generation);
}

/* Where the last whole line of the file ends. */
static uint64_t
end_of_lines(struct log_file *file, uint64_t bytes)
{
	struct log_lines *lines = log_lines_new();
	struct log_one_line one;
	uint64_t end = bytes > TAIL_BYTES ? bytes - TAIL_BYTES : 0;

	log_lines_begin(lines, file, end, NULL);
	while (log_lines_next(lines, &one, NULL) == 1)
		end = one.end;
	log_lines_free(&lines);
	return end;
}

/* Nothing was ever read: begins with the log as it is. */
static int
begin_anew(struct log_follower *follower, const struct log_series *series)
{
	struct log_candidate *path = log_series_path(series);
	uint64_t start = 0;

	/* What is not there yet is not to be left out. */
	if (path == NULL || path->head.bytes == 0) {
		follower->from_end = false;
		return 0;
	}
	if (follower->from_end)
		start = end_of_lines(path->file, path->bytes);
	log_follower_take_start(
	    follower, path, add_generation(follower, path, start));
	return 1;
}

/* Whether the log was truncated rather than renamed while nobody read: its
 * inode is still that of the generation that now lies elsewhere. */
static bool
was_copied(const struct log_series *series, const struct log_candidate *found,
    const struct log_generation *generation)
{
	const struct log_candidate *path = log_series_path(series);

	return path != NULL && path != found &&
	       log_candidate_is_inode_of(path, generation);
}

/* The generation behind the present one, and a file to read it from; NULL:
 * there is none yet. Generations that are not there any more are passed over. A
 * file that is no generation yet has NULL for one. */
static struct log_candidate *
find_successor(struct log_follower *follower, const struct log_series *series,
    struct log_generation **generation_r)
{
	const struct log_generation nothing = {0};
	const struct log_generation *present =
	    log_catalog_find(follower->catalog, follower->number);
	uint64_t number = follower->number;

	while ((*generation_r = log_catalog_after(follower->catalog, number)) !=
	       NULL) {
		struct log_candidate *found =
		    log_series_match(series, *generation_r);

		if (found != NULL)
			return found;
		log_follower_note_gap(follower, LOG_GAP_GONE);
		number = (*generation_r)->number;
	}
	return log_series_after(series, follower->catalog,
	    present != NULL ? present : &nothing, follower->last_wall_ns);
}

/* Files are removed oldest first. When the present one is there, so are all
 * that came after it; when it is not, others may have come and gone since it
 * was. */
static void
check_missing(struct log_follower *follower, const struct log_series *series)
{
	const struct log_generation *present =
	    log_catalog_find(follower->catalog, follower->number);
	int64_t now_ns = clock_stamp().monotonic_ns;

	if (present == NULL)
		return;
	if (log_series_match(series, present) != NULL)
		follower->seen_ns = now_ns;
	else if (now_ns - follower->seen_ns > ROTATION_NS)
		log_follower_note_gap(follower, LOG_GAP_GONE);
}

/* Goes on to the next generation. Returns whether there is one. */
static bool
advance(struct log_follower *follower, const struct log_series *series)
{
	struct log_generation *generation;
	struct log_candidate *next =
	    find_successor(follower, series, &generation);

	if (next == NULL)
		return false;
	log_follower_note_gap(follower, follower->end_gap);
	if (log_series_hides(
		series, follower->last_wall_ns, next->head.wall_ns))
		log_follower_note_gap(follower, LOG_GAP_UNREADABLE);
	if (generation != NULL) {
		log_follower_note_gap(follower, (enum log_gap)generation->gap);
	} else {
		generation = add_generation(follower, next, 0);
		generation->gap = follower->gap;
	}
	log_follower_take_start(follower, next, generation);
	return true;
}

/* A catalog that was lost numbers its files as before: by their first lines. */
static int
find_by_number(struct log_follower *follower, const struct log_series *series)
{
	struct log_candidate *found =
	    log_series_began_at(series, follower->number);

	if (found == NULL || follower->catalog->count > 0)
		return 0;
	log_follower_take(follower, found, add_generation(follower, found, 0));
	return 1;
}

/* The file of the present generation is not there: goes on behind it. */
static int
pass_over(struct log_follower *follower, const struct log_series *series)
{
	const struct log_generation *generation =
	    log_catalog_find(follower->catalog, follower->number);

	if (generation == NULL && find_by_number(follower, series))
		return 1;
	if (follower->last_wall_ns == 0 && generation != NULL)
		follower->last_wall_ns = generation->read_wall_ns;
	log_follower_note_gap(follower,
	    log_series_hides(series,
		follower->last_wall_ns - 2 * LOG_TIME_GRAIN_NS, INT64_MAX)
		? LOG_GAP_UNREADABLE
		: LOG_GAP_GONE);
	return advance(follower, series);
}

static int
find_in(struct log_follower *follower, const struct log_series *series)
{
	const struct log_generation *generation =
	    log_catalog_find(follower->catalog, follower->number);
	struct log_candidate *found;

	if (follower->number == 0)
		return begin_anew(follower, series);
	if (generation == NULL)
		return pass_over(follower, series);
	found = log_series_match(series, generation);
	if (found == NULL)
		return pass_over(follower, series);
	log_follower_take(follower, found, generation);
	if (was_copied(series, found, generation))
		follower->end_gap = LOG_GAP_COPIED;
	return 1;
}

int
log_follower_find(struct log_follower *follower, struct reason *reason)
{
	struct log_series series = {0};
	int result = log_series_scan(
	    &series, follower->directory, follower->base, reason);

	if (result == 0)
		result = find_in(follower, &series);
	log_series_free(&series);
	return result;
}

/* Whether the next generation lies in the same file, whose end was lost once.
 */
static bool
continue_in_file(struct log_follower *follower)
{
	const struct log_generation *next =
	    log_generation_in_same_file(follower->catalog, follower->number);

	if (next == NULL)
		return false;
	log_follower_note_gap(follower, LOG_GAP_DAMAGED);
	log_follower_skip_to(follower, next);
	return true;
}

/* The log is shorter than what was read of it, but the same: its end was lost,
 * as by a power cut. What is written now is a generation of its own. */
static int
begin_again(struct log_follower *follower, uint64_t bytes)
{
	const struct log_generation *present =
	    log_catalog_find(follower->catalog, follower->number);
	struct log_generation next;

	if (present == NULL)
		return 0;
	next = *present;
	next.start_offset = bytes;
	log_catalog_add(follower->catalog, &next);
	return continue_in_file(follower);
}

/* The log was emptied and has other content by now, or none. */
static int
leave_truncated(struct log_follower *follower, struct reason *reason)
{
	const struct log_generation *generation =
	    log_catalog_find(follower->catalog, follower->number);
	struct log_series series = {0};
	struct log_candidate *copy = NULL;

	if (log_series_scan(
		&series, follower->directory, follower->base, reason) != 0)
		return -1;
	log_file_close(&follower->file);
	if (generation != NULL)
		copy = log_series_match(&series, generation);
	if (copy != NULL) {
		log_follower_take(follower, copy, generation);
		follower->end_gap = LOG_GAP_COPIED;
	} else {
		log_follower_note_gap(follower, LOG_GAP_TRUNCATED);
	}
	log_series_free(&series);
	return 1;
}

/* Whether the present file is still found under the log's name. */
static bool
is_still_path(const struct log_follower *follower, const struct stat *status)
{
	struct stat path;

	return stat(follower->path, &path) == 0 &&
	       path.st_ino == status->st_ino && path.st_dev == status->st_dev;
}

/* A file that is not the log itself any more ends when it has a successor. */
static int
leave_rotated(struct log_follower *follower, struct reason *reason)
{
	struct log_generation *generation;
	struct log_series series = {0};
	int result = 0;

	if (log_series_scan(
		&series, follower->directory, follower->base, reason) != 0) {
		result = -1;
	} else if (!follower->is_final) {
		follower->is_final =
		    find_successor(follower, &series, &generation) != NULL;
		result = follower->is_final;
	} else {
		if (log_lines_pending(follower->lines) > 0)
			log_follower_note_gap(follower, LOG_GAP_TORN);
		check_missing(follower, &series);
		result = advance(follower, &series);
	}
	log_series_free(&series);
	return result;
}

static int
move_from_path(struct log_follower *follower, const struct stat *status,
    struct reason *reason)
{
	uint64_t read = log_lines_offset(follower->lines) +
			log_lines_pending(follower->lines);

	if ((uint64_t)status->st_size >= read)
		return 0;
	if (!log_file_has_head(follower->file, &follower->head))
		return leave_truncated(follower, reason);
	return begin_again(follower, (uint64_t)status->st_size);
}

int
log_follower_move(struct log_follower *follower, struct reason *reason)
{
	struct stat status;

	if (continue_in_file(follower))
		return 1;
	if (log_file_status(follower->file, &status) != 0)
		return 0;
	follower->is_path = is_still_path(follower, &status);
	log_follower_update_latest(follower);
	if (log_lines_changed(follower->lines))
		return leave_truncated(follower, reason);
	if (follower->is_path) {
		follower->seen_ns = clock_stamp().monotonic_ns;
		return move_from_path(follower, &status, reason);
	}
	return leave_rotated(follower, reason);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking a file of a log, at a position or at its start. Used by the other
 * files of the follower, on the ingest thread.
 */
#include "exporter/read/log_follower_state.h"

#include <sys/stat.h>

#include "base/clock.h"

/* How much in front of a position is read for the times of its lines. */
#define CONTEXT_BYTES (64u << 10)

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

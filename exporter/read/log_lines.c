/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buffer between a file of a log and its lines. Owned by a follower, on the
 * ingest thread.
 */
#include "exporter/read/log_lines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "exporter/read/log_file.h"

#define BUFFER_BYTES (4 * LOG_LINE_MAX)
/* What a disk fails to read at least, as the page cache has it. */
#define BLOCK_BYTES 4096

struct log_lines {
	struct log_file *file;
	const struct log_head *head;
	bool changed;
	uint64_t offset; /* in the file, of the byte at `begin` */
	size_t begin;    /* the first byte not given yet */
	size_t scanned;  /* there is no newline between `begin` and here */
	size_t end;
	uint64_t dropped; /* bytes of an overlong line left out at `end` */
	bool skips;       /* what there is up to the next newline */
	char data[BUFFER_BYTES];
};

struct log_lines *
log_lines_new(void)
{
	return memory_zeroed(1, sizeof(struct log_lines));
}

void
log_lines_free(struct log_lines **lines)
{
	free(*lines);
	*lines = NULL;
}

void
log_lines_begin(struct log_lines *lines, struct log_file *file, uint64_t offset,
    const struct log_head *head)
{
	lines->file = file;
	lines->head = head;
	lines->offset = offset;
	lines->changed = false;
	lines->begin = lines->scanned = lines->end = 0;
	lines->dropped = 0;
	lines->skips = false;
}

/* Makes room behind `end`. */
static void
make_room(struct log_lines *lines)
{
	if (lines->begin > 0 && BUFFER_BYTES - lines->end < LOG_LINE_MAX) {
		size_t size = lines->end - lines->begin;

		memmove(lines->data, lines->data + lines->begin, size);
		lines->scanned -= lines->begin;
		lines->begin = 0;
		lines->end = size;
	}
	if (lines->end - lines->begin > LOG_LINE_MAX) {
		size_t keep = lines->begin + LOG_LINE_MAX;

		lines->dropped += lines->end - keep;
		lines->end = lines->scanned = keep;
	}
}

/* Where the file is read on. */
static uint64_t
read_offset(const struct log_lines *lines)
{
	return lines->offset + (lines->end - lines->begin) + lines->dropped;
}

/* Returns 1 when there is more, 0, or -1. */
static int
fill(struct log_lines *lines, struct reason *reason)
{
	long got;

	make_room(lines);
	got = log_file_read(lines->file, read_offset(lines),
	    lines->data + lines->end, BUFFER_BYTES - lines->end, reason);
	if (got < 0)
		return -1;
	if (lines->head != NULL &&
	    !log_file_has_head(lines->file, lines->head)) {
		lines->changed = true;
		return 0;
	}
	lines->end += (size_t)got;
	return got > 0;
}

/* Gives the line that ends at `newline`. */
static void
give(struct log_lines *lines, const char *newline, struct log_one_line *line_r)
{
	const char *begin = lines->data + lines->begin;
	size_t size = (size_t)(newline - begin);

	*line_r = (struct log_one_line){
	    .text = {begin, size < LOG_LINE_MAX ? size : LOG_LINE_MAX},
	    .is_cut = size > LOG_LINE_MAX || lines->dropped > 0,
	    .begin = lines->offset,
	    .end = lines->offset + lines->dropped + size + 1,
	};
	lines->offset = line_r->end;
	lines->begin += size + 1;
	lines->scanned = lines->begin;
	lines->dropped = 0;
}

int
log_lines_next(
    struct log_lines *lines, struct log_one_line *line_r, struct reason *reason)
{
	lines->changed = false;
	for (;;) {
		const char *newline = memchr(lines->data + lines->scanned, '\n',
		    lines->end - lines->scanned);
		int result;

		if (newline != NULL) {
			give(lines, newline, line_r);
			if (!lines->skips)
				return 1;
			lines->skips = false;
			continue;
		}
		lines->scanned = lines->end;
		result = lines->file != NULL ? fill(lines, reason) : 0;
		if (result <= 0)
			return result;
	}
}

bool
log_lines_pass_unreadable(struct log_lines *lines)
{
	uint64_t failed = read_offset(lines);
	uint64_t next = failed - failed % BLOCK_BYTES + BLOCK_BYTES;
	struct stat status;

	if (log_file_status(lines->file, &status) != 0 ||
	    (uint64_t)status.st_size <= failed)
		return false;
	if (next > (uint64_t)status.st_size)
		next = (uint64_t)status.st_size;
	log_lines_begin(lines, lines->file, next, lines->head);
	lines->skips = true;
	return true;
}

bool
log_lines_changed(const struct log_lines *lines)
{
	return lines->changed;
}

uint64_t
log_lines_pending(const struct log_lines *lines)
{
	return lines->end - lines->begin + lines->dropped;
}

uint64_t
log_lines_offset(const struct log_lines *lines)
{
	return lines->offset;
}

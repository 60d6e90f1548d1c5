/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_lines: the lines of one file of a log.
 *
 * Whole lines only: what stands behind the last newline is waited for. A line
 * longer than LOG_LINE_MAX is given without its rest. Before lines of a file
 * that may be truncated are given, it is made sure that it was not while they
 * were read. Not thread-safe.
 */
#ifndef EXPORTER_READ_LOG_LINES_H
#define EXPORTER_READ_LOG_LINES_H

#include "exporter/maillog/maillog_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_file;
struct log_head;
struct log_lines;
struct reason;

#define LOG_LINE_MAX (64u << 10)

struct log_lines *log_lines_new(void);
void log_lines_free(struct log_lines **lines);

/* Goes on in `file` (borrowed, NULL: none) at `offset`. `head`, if given, is
 * borrowed too: the front that the file must keep. */
void log_lines_begin(struct log_lines *lines, struct log_file *file,
    uint64_t offset, const struct log_head *head);

struct log_one_line {
	struct maillog_view text; /* without the newline; until the next call */
	bool is_cut;
	uint64_t begin, end; /* offsets, `end` behind the newline */
};

/* Returns 1 with a line; 0 at the end of what is there, or when the file's
 * front is another now; -1 on an I/O error or in a damaged file. */
int log_lines_next(struct log_lines *lines, struct log_one_line *line_r,
    struct reason *reason);

/* After -1: goes on at the first line that begins behind the block that cannot
 * be read. Returns whether there is anything behind it. */
bool log_lines_pass_unreadable(struct log_lines *lines);

/* Whether the front was another at the last call. */
bool log_lines_changed(const struct log_lines *lines);

/* Bytes behind the last line given that are no whole line yet. */
uint64_t log_lines_pending(const struct log_lines *lines);

/* Behind the last line given. */
uint64_t log_lines_offset(const struct log_lines *lines);

#endif

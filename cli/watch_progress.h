/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_progress: tell who watches that what is shown is not of now: the
 * exporter catches up, or does not run.
 */
#ifndef CLI_WATCH_PROGRESS_H
#define CLI_WATCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct store_reader;

/* Begins as zero. */
struct watch_progress {
	int64_t looked_ns, told_ns; /* CLOCK_MONOTONIC */
	bool is_behind, is_silent;
};

/* Looks at most once a second, and says what has changed; while it catches up,
 * each ten seconds. */
void watch_progress_tell(struct watch_progress *progress,
    struct store_reader *reader, const char *directory);

#endif

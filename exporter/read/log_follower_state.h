/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_follower_state: what following one log means now: which file, and where.
 *
 * Below log_follower_move.h and log_follower.h, in this order; only for them.
 */
#ifndef EXPORTER_READ_LOG_FOLLOWER_STATE_H
#define EXPORTER_READ_LOG_FOLLOWER_STATE_H

#include "exporter/read/log_catalog.h"
#include "exporter/read/log_entry.h"
#include "exporter/read/log_file.h"
#include "exporter/read/log_lines.h"
#include "exporter/read/log_series.h"

struct log_follower {
	char *path, *directory;
	const char *base; /* the path's last part */
	struct log_catalog *catalog;
	bool from_end;

	uint64_t number;       /* of the generation; 0: none yet */
	struct log_file *file; /* NULL: to be looked for */
	struct log_head head;
	uint64_t offset; /* behind the last entry given */
	uint64_t limit;  /* where the generation ends within the file */
	bool is_path;    /* the file is the log itself, and may be truncated */
	/* A successor was seen, so that what comes up to the next end of the
	 * file is all of it. */
	bool is_final;
	int64_t seen_ns; /* CLOCK_MONOTONIC: last found in the directory */
	int64_t failing_since_ns; /* the same; 0: the file can be read */
	struct log_lines *lines;
	struct maillog_clock clock;

	enum log_gap gap;     /* to be told in front of the next line */
	enum log_gap end_gap; /* the same, when the present file has ended */
	int64_t last_wall_ns;
	bool held; /* `entry` is to be given after its gap */
	struct log_entry entry;
};

/* Lines are missing in front of the next one. */
void log_follower_note_gap(struct log_follower *follower, enum log_gap gap);

/* Goes on in a candidate's file, which it takes, at the position or at the
 * generation's start. */
void log_follower_take(struct log_follower *follower,
    struct log_candidate *candidate, const struct log_generation *generation);
void log_follower_take_start(struct log_follower *follower,
    struct log_candidate *candidate, const struct log_generation *generation);

/* Goes on in the present file at the start of a later generation of it. */
void log_follower_skip_to(
    struct log_follower *follower, const struct log_generation *generation);

/* A log that grows has no line later than now, another file none later than its
 * last change. */
void log_follower_update_latest(struct log_follower *follower);

#endif

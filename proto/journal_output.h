/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_output: events into segments, one after the other.
 *
 * What the journal's writer guards with its mutex: the current segment, the
 * room there is, and the memory in which a record is built. Knows neither
 * threads nor when something is due. Not thread-safe.
 */
#ifndef PROTO_JOURNAL_OUTPUT_H
#define PROTO_JOURNAL_OUTPUT_H

#include "base/buffer.h"
#include "proto/journal_room.h"
#include "proto/segment.h"
#include "proto/segment_file.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct event;

/* Then segments grow beyond their size. One that breaks is retired all the
 * same; there is no other before one was synced. */
#define JOURNAL_RETIRED_MAX 16

struct journal_output {
	struct segment_header header; /* of the next segment; strings kept */
	int directory_fd;             /* not owned */
	int64_t segment_bytes;
	struct arena *scratch;
	struct buffer frame;
	struct buffer beginning; /* of a new segment */
	struct journal_room room;
	struct segment_file segment;
	int64_t rotation_retry_ns;
	uint64_t records; /* written since the start */
	/* Descriptors of former segments, to be synced and closed by the owner,
	 * and whether a segment was created since it synced the directory. */
	int retired[JOURNAL_RETIRED_MAX + 1];
	size_t retired_count;
	bool directory_dirty;
};

enum journal_outcome {
	JOURNAL_APPENDED,
	JOURNAL_DROPPED_LIMIT,
	JOURNAL_DROPPED_ERROR,
	JOURNAL_DROPPED_MEMORY
};

/* Opens the first segment if that is possible; a full disk is no failure.
 * Returns 0, or -1 when there is no memory. */
int journal_output_open(struct journal_output *output, int directory_fd,
    const struct segment_header *header, int64_t segment_bytes);

/* Appends the event, unless all segments then exceeded the limit. Reasons of
 * JOURNAL_DROPPED_ERROR are logged. */
enum journal_outcome journal_output_append(struct journal_output *output,
    const struct event *event, int64_t limit_bytes);

/* Goes on in a new segment; if that does not work now, in the current one. */
void journal_output_rotate(struct journal_output *output);

/* Whether somebody removed the segment that is written to. */
bool journal_output_is_gone(const struct journal_output *output);

/* Closes all descriptors but the directory's, frees all memory. */
void journal_output_close(struct journal_output *output);

#endif

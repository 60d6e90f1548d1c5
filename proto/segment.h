/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * segment: the files of a journal and what stands at their beginning.
 *
 *     DIRECTORY/SOURCE/<number>.journal     16 hexadecimal digits
 *     DIRECTORY/SOURCE/lock                 locked while a writer lives
 *
 * Numbers grow: a new segment takes the microseconds of the wall clock, or one
 * more than the highest there is if that is larger, so that a clock set back
 * does not put new events before old ones. A segment is written by one process
 * and never reopened for writing. It begins with its header, twice, as frames
 * with seed 0: one damaged copy costs nothing. It gets its name by rename(2)
 * when its header is in it, and an older one is not written any more once a
 * newer one is there.
 */
#ifndef PROTO_SEGMENT_H
#define PROTO_SEGMENT_H

#include "base/clock.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;
struct reason;

#define SEGMENT_FORMAT 1
#define SEGMENT_HEADER_COPY_MAX 1024 /* one of the two, as a frame */
#define SEGMENT_NAME_SIZE sizeof("0123456789abcdef.journal")

struct segment_header {
	uint32_t format;
	const char *source;
	const char *instance; /* which Postfix; the host name by default */
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
	struct stamp start;
	uint64_t checksum_seed;
	const char *program; /* name and version of the writer */
};

/* A place in a journal: everything before `offset` of segment `segment`, and
 * all segments with lower numbers, lie behind it. Zero is the beginning. */
struct journal_position {
	uint64_t segment;
	uint64_t offset;
};

/* Less than, equal to, greater than 0, as memcmp(3). */
int journal_position_compare(
    struct journal_position left, struct journal_position right);

void segment_name(uint64_t number, char name_r[SEGMENT_NAME_SIZE]);

/* Returns 1 and the number if `name` is a segment's, else 0. */
int segment_number(const char *name, uint64_t *number_r);

/* The numbers of all segments in a source's directory (an open descriptor),
 * ascending, malloc'ed. Returns their count, or -1. */
long segment_list(
    int directory_fd, uint64_t **numbers_r, struct reason *reason);

/* Appends both copies of the header to `out`. Returns 0, or -1 when there is no
 * memory or the header is too large. */
int segment_header_write(const struct segment_header *header,
    struct arena *scratch, struct buffer *out);

/* How the header lies in a segment. */
struct segment_header_extent {
	size_t bytes;     /* both copies; where the records begin */
	unsigned damaged; /* copies that are */
};

/* Reads the header from the first `size` bytes of a segment. Returns 1; 0 when
 * more bytes are needed; -1 when both copies are damaged or the format is a
 * newer one. extent_r->damaged is set in each case. The header's strings live
 * in `arena`. */
int segment_header_read(const uint8_t *data, size_t size, struct arena *arena,
    struct segment_header *header_r, struct segment_header_extent *extent_r,
    struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * segment_file: one segment while it is written.
 *
 * Records are appended whole or not at all: what a failed write(2) left behind
 * is cut off again. Not thread-safe.
 */
#ifndef PROTO_SEGMENT_FILE_H
#define PROTO_SEGMENT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;
struct reason;
struct segment_header;

struct segment_file {
	int fd;          /* -1: none */
	uint64_t number; /* also kept when there is none */
	uint64_t seed;
	uint64_t bytes;
	bool has_records;
};

/* Creates a segment with a number higher than that of all others and than
 * file->number, and fills in *file_r. The header's start and seed are set here.
 * `scratch` and `out` are used and left dirty. Returns 0; or -1, *file_r being
 * as before. */
int segment_file_create(int directory_fd, struct segment_header *header,
    struct arena *scratch, struct buffer *out, struct segment_file *file_r,
    struct reason *reason);

/* Appends with one write(2). Returns 1 when it is all there, 0 when nothing of
 * it is (errno tells why), -1 when something of it is and cannot be cut off:
 * nothing may be appended to this segment any more. */
int segment_file_append(
    struct segment_file *file, const void *data, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_room: whether there is room for another record.
 *
 * Two reasons against it: the journal's size limit, and a disk that refused.
 * Neither costs more than a system call or two while it lasts, and neither
 * outlasts its cause: the limit is compared with the directory's files again as
 * soon as one may have been removed, and after a failed write the next attempt
 * is made as soon as the file system has room. Not thread-safe.
 */
#ifndef PROTO_JOURNAL_ROOM_H
#define PROTO_JOURNAL_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct journal_room {
	int directory_fd;
	int64_t total_bytes; /* of all segments, as far as known */
	struct timespec measured_change;
	bool measured_young;
	bool write_failed;
	int64_t retry_ns; /* no attempt before; monotonic */
};

/* Measures the directory (an open descriptor, not owned). */
void journal_room_open(struct journal_room *room, int directory_fd);

/* Whether all segments and `size` more bytes stay within the limit. */
bool journal_room_in_limit(
    struct journal_room *room, size_t size, int64_t limit_bytes);

/* Whether writing `size` bytes is worth an attempt. */
bool journal_room_on_disk(const struct journal_room *room, size_t size);

/* To be told of every attempt. Success returns whether writing had failed
 * before. */
bool journal_room_written(struct journal_room *room, size_t size);
void journal_room_failed(struct journal_room *room);

#endif

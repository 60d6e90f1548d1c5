/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_writer: append events to this process's journal.
 *
 * One writer process per source, held by a lock; append may be called from any
 * thread. An appended record has been given to the kernel with one write(2): it
 * survives the death of any process. A thread of the writer's own syncs it
 * within sync_interval, opens new segments by size and age, writes heartbeats
 * and watches the size limit. When the limit is reached or the disk is full,
 * events are dropped and counted (producer_counter.h), and appending starts
 * again by itself when there is room. Nothing here ends the process or fails
 * its caller.
 */
#ifndef PROTO_JOURNAL_WRITER_H
#define PROTO_JOURNAL_WRITER_H

#include <stdint.h>

struct event;
struct journal_writer;
struct reason;

struct journal_writer_settings {
	const char *directory; /* of all journals */
	const char *source;    /* the subdirectory, created 2770 if missing */
	const char *instance;
	const char *program;
	int64_t segment_bytes;
	int64_t segment_age_ns;
	int64_t limit_bytes;      /* all segments of the source together */
	int64_t sync_interval_ns; /* 0: fdatasync(2) before append returns */
	int64_t heartbeat_interval_ns;
};

/* Opens a new segment. The settings are copied. Returns NULL with a reason when
 * the directory cannot be used or another process writes this source. */
struct journal_writer *journal_writer_open(
    const struct journal_writer_settings *settings, struct reason *reason);

/* What a kind of event may use of the size limit. */
enum journal_share {
	JOURNAL_SHARE_ALL,
	JOURNAL_SHARE_HALF /* events that an attacker can make at will */
};

/* Returns 1 when the event was appended, 0 when it was dropped and counted. */
int journal_writer_append(struct journal_writer *writer,
    const struct event *event, enum journal_share share);

/* Returns 0 when everything that was appended is on the disk, or -1 when the
 * disk refused, which is logged. */
int journal_writer_sync(struct journal_writer *writer);

/* Writes a last heartbeat, syncs, ends the thread, frees; sets *writer to NULL.
 * NULL-safe. Appends by other threads must have ended. An abandoned one is left
 * as it is. */
void journal_writer_close(struct journal_writer **writer);

/* The same within milliseconds and without freeing, for a process that is about
 * to _exit(2) while other threads may still append: later appends are dropped.
 * Only asks the kernel to write; does not wait for the disk. */
void journal_writer_abandon(struct journal_writer *writer);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_sync: have write-ahead logs reach the disk behind the ingest thread.
 *
 * A commit that waited for the disk would stand still whenever the disk does.
 * So day files are committed without, and a thread of its own syncs their logs.
 * The functions belong to the ingest thread.
 */
#ifndef STORE_LOG_SYNC_H
#define STORE_LOG_SYNC_H

struct log_sync;
struct reason;

enum log_sync_state {
	LOG_SYNC_DONE, /* all that was noted before is on the disk */
	LOG_SYNC_BUSY,
	LOG_SYNC_FAILED /* to begin again; told once */
};

/* Returns NULL with a reason when there can be no thread. */
struct log_sync *log_sync_start(struct reason *reason);

/* Says that a commit wrote to the log of the file at `path`. */
void log_sync_note(struct log_sync *sync, const char *path);

/* Has the thread sync what was noted; not while it is busy. */
void log_sync_begin(struct log_sync *sync);

/* Since log_sync_begin(). */
enum log_sync_state log_sync_state(struct log_sync *sync);

/* Ends the thread, after it has synced what was noted. Returns 0, or -1 when
 * something may not be on the disk. */
int log_sync_stop(struct log_sync **sync);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_private: what the files that make up the writer share.
 */
#ifndef STORE_STORE_PRIVATE_H
#define STORE_STORE_PRIVATE_H

#include "base/buffer.h"
#include "base/reason.h"
#include "store/layout.h"
#include "store/positions.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checkpoint;
struct control;
struct day_file;
struct forgetting;
struct log_sync;
struct retention;

struct store {
	char *directory;
	int64_t queue_lifetime_ns;
	struct totals *totals;
	int lock_fd;
	struct control *control;
	struct checkpoint *checkpoint;
	struct forgetting *forgetting;
	/* Objects for every file asked for since the start; few are open. */
	struct day_file **files;
	size_t file_count;
	int64_t today;                 /* when the window was last looked at */
	uint64_t old_files, old_bytes; /* those past writing, as of today */
	struct positions highest;
	/* See store_sync.c. */
	struct log_sync *log_sync;
	bool is_sync_due, is_syncing;
	int64_t sync_at_ns, sync_look_ns;
	uint64_t syncing_commits, synced_commits;
	struct positions syncing; /* bounds when that began */
	struct buffer syncing_counted;
	int64_t archived_day; /* the newest one that was purged */
	struct layout_identity archive_identity;
	struct buffer counted; /* the sums' note */
	bool has_new_file;     /* one that the list of files has not */
	uint64_t known_in_trouble; /* files, when that was noted */
	int64_t retention_ns; /* 0: for ever */
	uint64_t retention_bytes;
	struct retention *retention;
	uint64_t bytes;     /* as last measured */
	int64_t oldest_day; /* likewise; INT64_MAX: there is none */
	uint64_t purged_days;
	/* Beside what day files and control.db count themselves. */
	uint64_t set_aside, replaced, failures;
	struct reason seal_trouble; /* the last one told; "": none since */
	/* See purge.c. */
	bool is_pressed;
	int64_t purge_looked_day;
	uint64_t purge_looked_bytes;
	int64_t purge_after_ns;
	uint64_t commits;
	int64_t longest_commit_ns, longest_pause_ns;
};

/* Adds up what all files have counted. What was counted in files that are gone
 * stays in the sums. Returns 0, or -1 with a reason. */
int store_sum_up(struct store *store, struct reason *reason);

/* How many files were set aside or replaced since the start. */
uint64_t store_files_in_trouble(const struct store *store);

/* Notes the sums, and which files there are, for control_write(). */
void store_note_sums(struct store *store);

/* The same, written now. */
void store_write_sums(struct store *store);

/* Notes sums, as store->counted was, that the disk has. */
void store_note_synced_sums(struct store *store, const struct buffer *counted);

/* store_sync.c's part of opening, committing and closing. Opening returns 0, or
 * -1 with a reason. */
int store_sync_open(struct store *store, struct reason *reason);
void store_sync_note(struct store *store, const struct day_file *file);
void store_sync_close(struct store *store);

/* Whether all that was committed to a file since the start is on the disk, and
 * nothing of it is read again after a power cut. */
bool store_is_synced(const struct store *store, const struct day_file *file);

/* The archive's part of it. *days_r: the days that it has, newest first, to be
 * freed. Returns how many, or -1 with a reason; one that cannot be read now has
 * none, which is told. */
long store_sum_up_archive(
    struct store *store, int64_t **days_r, struct reason *reason);

/* Looks whether others did something to the archive since it was our own
 * last. Not while days are purged. */
void store_watch_archive(struct store *store);
void store_own_archive(struct store *store);

/* store_forget.c's part of opening and closing. */
void store_forget_open(struct store *store);
void store_forget_close(struct store *store);

/* Closes the file that is being gone through, to begin anew. */
void store_forget_leave(struct store *store);

/* The object for a day or LAYOUT_ODD; opens nothing. */
struct day_file *store_day(struct store *store, int64_t day);

/* The same, but NULL for a day that has no file: ids that anybody can make must
 * not make objects. */
struct day_file *store_known_day(struct store *store, int64_t day);

/* Whether the file may still be written, by today's date. */
bool store_day_is_writable(const struct store *store, int64_t day);

/* Looks how large the files are that are past writing. */
void store_measure(struct store *store);

/* Whether there is something to purge must be looked for again. */
void store_look_again(struct store *store);

/* The files that may be written or are not sealed, and are there, opened,
 * newest first, odd.db last. Returns how many, or -1 with a reason. */
#define STORE_WRITABLE_MAX 128 /* more than the longest queue_lifetime */
long store_writable_files(struct store *store,
    struct day_file *files_r[STORE_WRITABLE_MAX], struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store: write day files, exactly once.
 *
 * One SQLite file per UTC day of a message's id, `day-YYYYMMDD.db`, or `odd.db`
 * for ids that a wrong clock made. Every durable effect of an event lies in one
 * file, in one transaction together with that file's position in the event's
 * source: rows, counter increases, histogram cells. So an event is applied if
 * and only if it lies beyond its file's position, whoever was killed whenever.
 *
 * All functions here belong to one thread, the exporter's ingest thread. A
 * batch is what lies between two store_commit() calls: it opens transactions in
 * the files it touches and commits them one after another. Nothing of a batch
 * is visible (totals, readers) before its commit.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "proto/segment.h"
#include "store/record.h"
#include "store/settings.h"
#include "store/store_filing.h"
#include "store/store_forget.h"
#include "store/store_purge.h"
#include "store/store_read.h"
#include "store/store_seal.h"
#include "store/store_sync.h"
#include "store/store_take.h"
#include "store/store_write.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buffer;
struct day_file;
struct observation;
struct reason;
struct store;
struct totals;

/* Opens or creates the store: control.db and the day files. `totals` (borrowed)
 * is filled with the sums over all files. Returns NULL with a reason when the
 * directory cannot be used, another process writes it, or a file in it was
 * written by a newer version. A damaged file is set aside (NAME.damaged-N),
 * told in the log and counted; a new one takes its place when there is
 * something to write. Starts a thread for checkpoints, with all signals
 * blocked. */
struct store *store_open(const struct store_settings *settings,
    struct totals *totals, struct reason *reason);

/* Where reading `source` has to start: everything up to there is applied in
 * whatever file it belongs to. Zero for an unknown source. */
struct journal_position store_lower_bound(
    struct store *store, const char *source);

/* The file for what was made at `wall_ns` (an id's time, or a heartbeat's):
 * that UTC day's if it lies within [today - queue lifetime - 1 day, today + 1
 * day], else odd.db. Opens a transaction in it. NULL with a reason when it
 * cannot be written now; the batch should then be rolled back and tried again
 * later. */
struct day_file *store_file(
    struct store *store, int64_t wall_ns, struct reason *reason);

/* Whether what ends at `position` of `source` lies behind this file's position:
 * if it belongs to this file, it is applied already. */
bool day_file_has(struct day_file *file, const char *source,
    struct journal_position position);

/* Whether it is one that store_file() may give. */
bool store_writes(const struct store *store, const struct day_file *file);

/* Whether store_find_message() looks for the id there. */
bool day_file_may_have(const struct day_file *file, const struct uuid *id);

/* Whether it is odd.db. */
bool day_file_is_odd(const struct day_file *file);

/* True while `position` may have been applied to some file before a crash: it
 * is not beyond the highest position of `source` in any file. Only then need
 * store_find_message() and store_has_leg() be asked whether an event is there
 * already in a file that today's knowledge would not choose for it. */
bool store_is_replay(
    struct store *store, const char *source, struct journal_position position);

/* Counter increases and histogram observations go to the file of their event
 * and become part of the totals at commit. Indices are those of totals_new().
 * `wall_ns` is when the thing measured was complete; it chooses minute and
 * hour. */
void day_file_count(struct day_file *file, unsigned counter, uint64_t increase);
void day_file_observe(struct day_file *file, unsigned histogram,
    int64_t wall_ns, int64_t value_ns);

/* The same, kept by host and, by the hour, by relay and provider, too (see
 * series_slots.h for how many), as far as labels say so. Without a host they
 * are not looked at. The batch must have begun in the file. */
void day_file_observe_labelled(
    struct day_file *file, const struct observation *observation);

/* Before anything else of a batch: whether the disk takes writes at all.
 * Returns 0, or -1 with a reason. Then every file is closed, and the caller
 * must forget its own memory of open messages. Readers, too, must then be told
 * to close what they have open (store_reader_close_gone()), and again when it
 * takes writes. */
int store_probe_disk(struct store *store, struct reason *reason);

struct source_position {
	const char *source;
	struct journal_position position;
};

/* How many events the batch should have at most, at least 1: few for a moment
 * while the end of a large write-ahead log is copied. */
int64_t store_most_events(const struct store *store);

/* Ends the batch: every touched file is committed with these positions, then
 * the totals are published. The disk is not waited for: what has to be there
 * before is waited for when a file is first touched. Returns 0, or -1: what was
 * not committed is rolled back, and the caller must forget its own memory of
 * open messages and read again from store_lower_bound(). */
int store_commit(struct store *store, const struct source_position *positions,
    size_t count, struct reason *reason);

/* To be called after each commit: begins write-ahead logs anew that have grown
 * large. That waits for the disk, so that commits need not. */
void store_shorten_logs(struct store *store);

/* Rolls back everything since the last commit; the same is then due. */
void store_rollback(struct store *store);

/* What whoever feeds the store has to remember besides positions, under a name:
 * something small that rarely changes. On disk when this returns, whatever
 * becomes of the batch. Returns 0, or -1. */
int store_note_write(struct store *store, const char *name,
    const struct buffer *value, struct reason *reason);

/* Appends the note to *value_r. Returns false when there is none (also when
 * control.db was lost between two runs). */
bool store_note_read(
    const struct store *store, const char *name, struct buffer *value_r);

/* How many recipients are in a state by what is committed, in all files. For
 * now and then. Returns 0, or -1 with a reason. */
int store_count_state(struct store *store, enum recipient_state state,
    int64_t *count_r, struct reason *reason);

struct store_figures {
	uint64_t files;
	uint64_t bytes;          /* all files with their WALs */
	int64_t available_bytes; /* on its disk; -1: cannot be told */
	uint64_t damaged_files;  /* set aside since the start */
	uint64_t replaced_files; /* found removed, replaced or cut by others */
	uint64_t purged_days;    /* since the start */
	uint64_t failures;       /* to do what is tried again later */
	int64_t oldest_day;      /* of day files; INT64_MAX: none */
	uint64_t commits;
	int64_t longest_commit_ns;
	int64_t longest_pause_ns; /* for the disk, between two commits */
};

void store_figures(struct store *store, struct store_figures *figures_r);

/* Whether nothing was ever committed to it. */
bool store_is_new(const struct store *store);

/* Checkpoints and closes. The WALs' sidecar files stay, so that readers of
 * another user go on working. */
void store_close(struct store **store);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * day_file: one day file as its writer has it: connection, transaction,
 * positions, the batch's share.
 *
 * An object lives as long as its store: the join keeps pointers to it in the
 * keys of open messages. Only its connection comes and goes. Ingest thread
 * only.
 */
#ifndef STORE_DAY_FILE_H
#define STORE_DAY_FILE_H

#include "store/day_tables.h"
#include "store/layout.h"
#include "store/positions.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct day_outcomes;
struct day_totals;
struct feed;
struct reason;
struct source_position;
struct totals;
struct totals_names;
struct unwritten;

/* A leg of the batch that belongs to a message. Readers find it by a recipient
 * that it decided, or else by a row of its own. */
struct batch_leg {
	int64_t message_row, leg_row;
	bool decided;
};

struct day_file {
	int64_t day; /* or LAYOUT_ODD */
	char *path;
	struct day_tables tables; /* database is NULL while closed */
	struct layout_identity identity;
	bool is_suspect; /* others cut it; it may be damaged */
	bool in_transaction; /* to write */
	bool is_reading;     /* in one to read, which excludes the other */
	bool unpublished;    /* committed, not yet in the sums */
	uint64_t written;    /* in which commit; 0: released memory since */
	uint64_t committed;  /* likewise; 0: not since the start */
	bool is_sealed;      /* see store_seal.h */
	bool log_is_copied;  /* nearly; it may be begun anew */
	bool is_listed;      /* the store's list of files may have it */
	struct positions positions;
	struct day_totals *totals;
	struct day_outcomes *outcomes;
	struct feed *feed;
	struct batch_leg *legs;
	size_t leg_count, leg_capacity;
	struct unwritten *unwritten; /* of the batch */
	struct row_hint message_hint, leg_hint;
	bool has_queue_ids; /* some message may have got a further one */
	struct arena *scratch;
	uint64_t set_aside; /* times that a damaged one was */
	uint64_t replaced;
	int64_t longest_pause_ns; /* to open it, or begin its log */
};

/* Of the store's directory; opens nothing. */
struct day_file *day_file_new(
    const char *directory, int64_t day, const struct totals_names *names);
void day_file_free(struct day_file **file);

/* Opens it unless it is open, and unless `sums` is NULL adds its totals there.
 * A damaged file is set aside, told and counted, and is then absent. Returns 1;
 * 0 when there is no file and `create` is false; -1 with a reason, also for one
 * of a newer version. */
int day_file_open(struct day_file *file, bool create, struct totals *sums,
    struct reason *reason);

/* Whether nothing is open and no delivery waits in it, or it is closed. */
bool day_file_is_finished(struct day_file *file);

/* Closes the connection, emptying its log if nobody else reads it. */
void day_file_close(struct day_file *file);

/* Closes it on a disk that takes no writes: nothing is written or copied. */
void day_file_leave(struct day_file *file);

/* Begins a transaction unless there is one, in the file that now stands at the
 * path. When that is not the one that was open, or others did something to it
 * or its log, fails once: what the caller knows of the old file's rows is void.
 * Waits for the disk when its log is begun with it. Returns 0, or -1 with a
 * reason. */
int day_file_begin(struct day_file *file, bool create, struct reason *reason);

/* Begins a transaction to read, unless there is one at all: so that the file is
 * locked once for a batch rather than for each statement. It must be open.
 * Ended by what begins to write, commits or rolls back. */
void day_file_begin_read(struct day_file *file);
void day_file_end_read(struct day_file *file);

/* Writes what the batch says of one message, or of all, so that it can be read.
 * Returns 0, or -1 with a reason. */
int day_file_write_message(
    struct day_file *file, int64_t row, struct reason *reason);
int day_file_write(struct day_file *file, struct reason *reason);

/* Says that the batch made a leg a message's, and that one decided. */
void day_file_note_leg(
    struct day_file *file, int64_t message_row, int64_t leg_row);
void day_file_note_decision(struct day_file *file, int64_t leg_row);

/* Makes the batch's legs of a message undecided ones that a reader finds. */
void day_file_forget_legs(struct day_file *file, int64_t message_row);

/* Writes the batch's share and the positions, and commits. Returns 0, or -1
 * with a reason; day_file_rollback() is due then. */
int day_file_commit(struct day_file *file,
    const struct source_position *positions, size_t count,
    struct reason *reason);

/* Gives back memory that only makes writing faster. Between batches. */
void day_file_release_memory(struct day_file *file);

/* Forgets the batch. A file that turned out to be damaged is set aside. */
void day_file_rollback(struct day_file *file);

#endif

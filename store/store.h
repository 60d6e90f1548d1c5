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

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct day_file;
struct reason;
struct store;
struct totals;

struct store_settings {
	char *directory;
	int64_t queue_lifetime_ns; /* Postfix's maximal_queue_lifetime */
};

/* Opens or creates the store: control.db and the day files that may still be
 * written. `totals` (borrowed) is filled with the sums over all files. Returns
 * NULL with a reason when the directory cannot be used or another process
 * writes it. A damaged or newer day file is left alone, told in the log and
 * counted. */
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

/* True while `position` may have been applied to some file before a crash: it
 * is not beyond the highest position of `source` in any file. Only then need
 * store_find_message() and store_has_leg() be asked whether an event is there
 * already in a file that today's knowledge would not choose for it. */
bool store_is_replay(
    struct store *store, const char *source, struct journal_position position);

/* A message's place: its file and its row. */
struct message_key {
	struct day_file *file;
	int64_t row;
};

/* Adds a message with its recipients in the states given by `states`, one for
 * each of event->recipients. Returns 0, or -1. */
int store_add_message(struct day_file *file, const struct message_event *event,
    const struct segment_header *segment, const enum recipient_state *states,
    struct message_key *key_r, struct reason *reason);

/* What the join may say of recipient `number`, which counts from 0 in the order
 * of the envelope, then as added. */
struct recipient_change {
	uint32_t number;
	enum recipient_state state;
	uint32_t attempts;
	int64_t leg_row;       /* the delivery that decided; 0: none */
	uint32_t leg_position; /* delivery_recipient.position in it */
};

/* Adds a recipient that was not in the envelope, as change->number, which must
 * be the next one. */
int store_add_recipient(const struct message_key *key, const char *address,
    const struct recipient_change *change, struct reason *reason);

int store_change_recipient(const struct message_key *key,
    const struct recipient_change *change, struct reason *reason);

/* What is said of a leg besides its event. `message` is NULL for a leg without
 * a message, else in the leg's own file. */
struct leg_verdict {
	enum leg_state state;
	const struct message_key *message;
};

/* Adds one part of a delivery to `file`. All parts of a delivery must be given
 * the same file. */
int store_add_leg(struct day_file *file, const struct delivery_event *event,
    const struct segment_header *segment, const struct leg_verdict *verdict,
    int64_t *leg_row_r, struct reason *reason);

/* Decides what was LEG_WAITING. */
int store_settle_leg(struct day_file *file, int64_t leg_row,
    const struct leg_verdict *verdict, struct reason *reason);

/* What the join keeps of a message: enough to join deliveries to it. */
struct open_recipient {
	const char *address;
	enum recipient_state state;
	uint32_t attempts;
	bool expected;
	int64_t leg_row; /* the delivery that decided; 0: none */
	uint32_t leg_position;
};

struct open_message {
	struct message_key key;
	struct uuid id;
	const char *instance;
	const char *queue_id;
	enum message_ending ending;
	struct stamp mail_at;
	struct stamp eom_at;
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
	struct open_recipient *recipients;
	size_t recipient_count;
};

/* Finds a message by id in the file of the id's day and in odd.db. Returns 1
 * with *message_r in `arena`, 0 if there is none, -1. */
int store_find_message(struct store *store, const struct uuid *id,
    struct arena *arena, struct open_message *message_r, struct reason *reason);

/* The newest message of `instance` with this queue id whose MAIL FROM is not
 * later than `before_wall_ns`, in the files that may still be written. */
struct queue_id_key {
	const char *instance;
	const char *queue_id;
	int64_t before_wall_ns;
};

int store_find_queue_id(struct store *store, const struct queue_id_key *key,
    struct arena *arena, struct open_message *message_r, struct reason *reason);

/* Whether part `part` of delivery `id` is in some writable file already.
 * Returns 1 with its file and row (either may be NULL), 0, or -1. */
int store_has_leg(struct store *store, const struct uuid *id, uint32_t part,
    struct message_key *leg_r, struct reason *reason);

/* Calls `each` for every message with a recipient in flight in the writable
 * files: how the join's memory is rebuilt at start. `each` returns 0 to go on.
 */
int store_each_open(struct store *store,
    int (*each)(void *context, const struct open_message *message),
    void *context, struct reason *reason);

/* The same for every LEG_WAITING, with its whole event. */
struct waiting_leg {
	struct message_key key; /* the leg's file and row */
	struct delivery_event event;
	const char *instance;
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
};

int store_each_waiting(struct store *store,
    int (*each)(void *context, const struct waiting_leg *leg), void *context,
    struct reason *reason);

/* Counter increases and histogram observations go to the file of their event
 * and become part of the totals at commit. Indices are those of totals_new().
 * `wall_ns` is when the thing measured was complete; it chooses minute and
 * hour. */
void day_file_count(struct day_file *file, unsigned counter, uint64_t increase);
void day_file_observe(struct day_file *file, unsigned histogram,
    int64_t wall_ns, int64_t value_ns);

struct source_position {
	const char *source;
	struct journal_position position;
};

/* Ends the batch: every touched file is committed with these positions, then
 * the lower bounds in control.db, then the totals are published. Returns 0, or
 * -1: what was not committed is rolled back, and the caller must forget its own
 * memory of open messages and read again from store_lower_bound(). */
int store_commit(struct store *store, const struct source_position *positions,
    size_t count, struct reason *reason);

/* Rolls back everything since the last commit; the same is then due. */
void store_rollback(struct store *store);

struct store_figures {
	uint64_t files;
	uint64_t bytes; /* all files with their WALs */
	uint64_t damaged_files;
	uint64_t commits;
	int64_t longest_commit_ns;
};

void store_figures(struct store *store, struct store_figures *figures_r);

/* Checkpoints and closes. The WALs' sidecar files stay, so that readers of
 * another user go on working. */
void store_close(struct store **store);

#endif

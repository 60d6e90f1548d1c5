/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the join asks the store: is this message or leg there, and what was open
 * when the exporter stopped. Called on the ingest thread, on the writer's own
 * connections, so that the running batch is seen.
 */
#include "store/store_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/day_file.h"
#include "store/hash.h"
#include "store/intern.h"
#include "store/layout.h"
#include "store/leg_row.h"
#include "store/message_row.h"
#include "store/queue_id_row.h"
#include "store/recipient_row.h"
#include "store/record_read.h"

/* What one open message or waiting leg takes at most: FRAME_PAYLOAD_MAX of an
 * event, unpacked. */
#define WALK_BYTES (256u << 20)

static int
fail(struct day_file *file, struct reason *reason)
{
	if (database_check(file->tables.database, reason) == 0)
		reason_set(reason, "%s: a record is too large", file->path);
	return -1;
}

static int
read_recipients(struct day_file *file, const struct recipient_owner *owner,
    struct arena *arena, struct open_message *message)
{
	struct recipient_row *rows;
	size_t count;

	if (recipient_rows_read(&file->tables, owner, arena, &rows, &count) !=
	    0)
		return -1;
	message->recipients =
	    arena_alloc(arena, count * sizeof(*message->recipients));
	if (message->recipients == NULL)
		return -1;
	message->recipient_count = (uint32_t)count;
	for (size_t i = 0; i < count; i++)
		message->recipients[i] =
		    (struct open_recipient){.address = rows[i].address,
			.state = rows[i].state,
			.reason = rows[i].reason,
			.evidence = rows[i].evidence,
			.attempts = rows[i].attempts,
			.expected = rows[i].expected,
			.leg_row = rows[i].leg_row,
			.leg_position = rows[i].leg_position,
			.original = rows[i].original};
	return 0;
}

/* The message at `row`. Returns 1, 0 or -1. */
static int
read_open(struct day_file *file, int64_t row, struct arena *arena,
    struct open_message *message_r, struct reason *reason)
{
	struct message_record record;
	struct recipient_owner owner = {.row = row};
	int found;

	if (day_file_write_message(file, row, reason) != 0)
		return -1;
	found = message_row_outline(&file->tables, row, arena, &record);
	if (found == 0)
		return 0;
	if (found < 0 || arena_failed(arena))
		return fail(file, reason);
	*message_r = (struct open_message){.key = {.file = file, .row = row},
	    .id = record.event.id,
	    .instance = record.instance,
	    .queue_id = record.event.queue_id,
	    .ending = record.event.ending,
	    .evidence = record.evidence,
	    .size_bytes = record.size_bytes,
	    .queue_recipients = record.queue_recipients,
	    .mail_at = record.event.mail_at,
	    .ended_at = message_event_ended_at(&record.event)};
	memcpy(message_r->boot_id, record.boot_id, sizeof(record.boot_id));
	owner.mail_at = record.event.mail_at;
	if (read_recipients(file, &owner, arena, message_r) != 0 ||
	    (file->has_queue_ids &&
		queue_id_rows_read(&file->tables, row, arena,
		    &message_r->queue_ids, &message_r->queue_id_count) != 0))
		return fail(file, reason);
	return 1;
}

static int
find_in_day(struct day_file *file, const struct uuid *id, struct arena *arena,
    struct open_message *message_r, struct reason *reason)
{
	int64_t row;
	int found = file != NULL ? day_file_open(file, false, NULL, reason) : 0;

	if (found != 1)
		return found;
	day_file_begin_read(file);
	if (day_file_write(file, reason) != 0)
		return -1;
	found = day_find_id(&file->tables, SQL_MESSAGE_SCAN, id, &row);
	if (found < 0)
		return fail(file, reason);
	return found == 1 ? read_open(file, row, arena, message_r, reason) : 0;
}

bool
store_writes(const struct store *store, const struct day_file *file)
{
	return store_day_is_writable(store, file->day);
}

bool
day_file_may_have(const struct day_file *file, const struct uuid *id)
{
	int64_t days = file->day - clock_day(uuid_wall_ns(id));

	return file->day == LAYOUT_ODD || (days >= -1 && days <= 1);
}

int
store_find_message(struct store *store, const struct uuid *id,
    struct arena *arena, struct open_message *message_r, struct reason *reason)
{
	int64_t day = clock_day(uuid_wall_ns(id));
	const int64_t days[] = {day, day + 1, day - 1, LAYOUT_ODD};
	int found = 0;

	for (unsigned i = 0; i < sizeof(days) / sizeof(days[0]) && found == 0;
	     i++)
		found = find_in_day(store_known_day(store, days[i]), id, arena,
		    message_r, reason);
	return found;
}

/* The rows a statement's first column gives, to be freed; `count_r` of them.
 * Collected first, for what is done with each uses other statements of the same
 * connection. */
static int64_t *
collect_rows(struct statement *statement, int shift, size_t *count_r)
{
	int64_t *rows = NULL;
	size_t count = 0;

	while (statement_step(statement) == 1) {
		int64_t row = column_integer(statement, 0) >> shift;

		if (count > 0 && rows[count - 1] == row)
			continue;
		if ((count & (count - 1)) == 0)
			rows =
			    memory_resize(rows, 2 * count + 1, sizeof(*rows));
		rows[count++] = row;
	}
	statement_end(statement);
	*count_r = count;
	return rows;
}

/* Who claimed a queue id last, as far as it was looked for. */
struct claimant {
	const struct queue_id_key *key;
	struct day_file *file; /* NULL: nobody */
	int64_t row;
	int64_t since_wall_ns;
};

static void
consider(struct claimant *last, struct day_file *file, int64_t row,
    const struct queue_id_claim *claim)
{
	const struct queue_id_key *key = last->key;

	if (claim->queue_id == NULL || claim->instance == NULL ||
	    strcmp(claim->queue_id, key->queue_id) != 0 ||
	    strcmp(claim->instance, key->instance) != 0 ||
	    claim->since_wall_ns > key->before_wall_ns ||
	    (last->file != NULL && claim->since_wall_ns <= last->since_wall_ns))
		return;
	last->file = file;
	last->row = row;
	last->since_wall_ns = claim->since_wall_ns;
}

/* The messages that began with the queue id. Returns 0 or -1. */
static int
consider_first_ids(
    struct claimant *last, struct day_file *file, struct arena *arena)
{
	const char *queue_id = last->key->queue_id;
	struct statement *statement =
	    database_statement(file->tables.database, SQL_MESSAGE_BY_QUEUE_ID);
	struct message_record record;
	int64_t *rows;
	size_t count;

	bind_integer(statement, hash_for_index(queue_id, strlen(queue_id)));
	rows = collect_rows(statement, 0, &count);
	for (size_t i = 0; i < count; i++) {
		if (message_row_outline(
			&file->tables, rows[i], arena, &record) != 1)
			break;
		consider(last, file, rows[i],
		    &(struct queue_id_claim){record.instance,
			record.event.queue_id, record_begin_ns(&record)});
	}
	free(rows);
	return arena_failed(arena)
		   ? -1
		   : database_check(file->tables.database, NULL);
}

/* Those that got it later. */
static int
consider_further_ids(
    struct claimant *last, struct day_file *file, struct arena *arena)
{
	struct queue_id_row *rows;
	size_t count;

	if (!file->has_queue_ids)
		return 0;
	if (queue_id_rows_find(
		&file->tables, last->key->queue_id, arena, &rows, &count) != 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		consider(last, file, rows[i].message_row, &rows[i].claim);
	return 0;
}

/* Whether who began in this file's day may have claimed later than the last. */
static bool
may_be_later(const struct claimant *last, const struct day_file *file)
{
	return last->file == NULL || file->day == LAYOUT_ODD ||
	       last->since_wall_ns < (file->day + 1) * CLOCK_NS_PER_DAY;
}

int
store_find_queue_id(struct store *store, const struct queue_id_key *key,
    struct arena *arena, struct open_message *message_r, struct reason *reason)
{
	struct day_file *files[STORE_WRITABLE_MAX];
	long count = store_writable_files(store, files, reason);
	struct claimant last = {.key = key};

	if (count < 0)
		return -1;
	/* Newest first; an older message may have got it later. */
	for (long i = 0; i < count; i++) {
		if ((may_be_later(&last, files[i]) &&
			consider_first_ids(&last, files[i], arena) != 0) ||
		    consider_further_ids(&last, files[i], arena) != 0)
			return fail(files[i], reason);
	}
	if (last.file == NULL)
		return 0;
	return read_open(last.file, last.row, arena, message_r, reason);
}

int
store_newest(struct store *store, int64_t *wall_ns_r, struct reason *reason)
{
	struct day_file *files[STORE_WRITABLE_MAX];
	long count = store_writable_files(store, files, reason);

	*wall_ns_r = 0;
	for (long i = 0; i < count; i++) {
		struct day_file *file = files[i];
		struct statement *newest = database_statement(
		    file->tables.database, SQL_MESSAGE_NEWEST);
		int64_t begin_ns = 0, since_ns = 0;

		if (statement_step(newest) == 1) {
			begin_ns = day_row_stamp(&file->tables,
			    column_integer(newest, 0), INTERN_NO_BOOT)
				       .wall_ns;
			since_ns = column_integer(newest, 1);
		}
		statement_end(newest);
		if (begin_ns > *wall_ns_r)
			*wall_ns_r = begin_ns;
		if (since_ns > *wall_ns_r)
			*wall_ns_r = since_ns;
		if (database_check(file->tables.database, reason) != 0)
			return -1;
	}
	return count < 0 ? -1 : 0;
}

int
store_has_leg(struct store *store, const struct uuid *id, uint32_t part,
    struct message_key *leg_r, struct reason *reason)
{
	struct day_file *files[STORE_WRITABLE_MAX];
	long count = store_writable_files(store, files, reason);
	int64_t row;
	int found = count < 0 ? -1 : 0;

	for (long i = 0; i < count && found == 0; i++) {
		struct day_file *file = files[i];

		found = day_find_id(&file->tables, SQL_LEG_SCAN, id, &row);
		if (found == 1)
			found = leg_row_has_part(&file->tables, row, part);
		if (found < 0)
			return fail(file, reason);
		if (found == 1 && leg_r != NULL)
			*leg_r = (struct message_key){file, row};
	}
	return found;
}

int
store_find_leg(struct store *store, const struct uuid *id,
    struct found_leg *leg_r, struct reason *reason)
{
	struct day_file *files[STORE_WRITABLE_MAX];
	long count = store_writable_files(store, files, reason);
	int found = count < 0 ? -1 : 0;

	for (long i = 0; i < count && found == 0; i++) {
		struct day_file *file = files[i];

		leg_r->key.file = file;
		found = day_find_id(
		    &file->tables, SQL_LEG_SCAN, id, &leg_r->key.row);
		if (found == 1)
			found = leg_row_verdict(&file->tables, leg_r->key.row,
			    &leg_r->state, &leg_r->message_row);
		if (found < 0)
			return fail(file, reason);
	}
	return found;
}

int
store_read_message(const struct message_key *key, struct arena *arena,
    struct open_message *message_r, struct reason *reason)
{
	return read_open(key->file, key->row, arena, message_r, reason);
}

int
store_first_attempt(const struct message_key *key, struct arena *arena,
    int64_t *wall_ns_r, struct reason *reason)
{
	struct day_file *file = key->file;
	struct message_record record;

	if (day_file_write_message(file, key->row, reason) != 0)
		return -1;
	if (record_read(&file->tables, key->row, arena, &record) != 1)
		return fail(file, reason);
	if (record.attempt_count == 0)
		return 0;
	*wall_ns_r = record.attempts[0].wall_ns;
	return 1;
}

/* Walks over rows of one file, given to `visit` one by one with an arena that
 * is reset for each. */
struct walk {
	enum day_sql rows;
	int shift; /* from the column to the row */
	int (*visit)(struct walk *walk, struct day_file *file, int64_t row);
	struct arena *arena;
	struct reason *reason;
	int (*each_open)(void *context, const struct open_message *message);
	int (*each_waiting)(void *context, const struct waiting_leg *leg);
	void *context;
};

/* Within one transaction, so that the file is not locked for each statement. */
static int
walk_file(struct walk *walk, struct day_file *file)
{
	struct database *database = file->tables.database;
	size_t count;
	int64_t *rows;
	int result;

	day_file_begin_read(file);
	rows = collect_rows(
	    database_statement(database, walk->rows), walk->shift, &count);
	result = database_check(database, walk->reason);
	for (size_t i = 0; i < count && result == 0; i++) {
		arena_reset(walk->arena);
		result = walk->visit(walk, file, rows[i]);
	}
	free(rows);
	day_file_end_read(file);
	return result;
}

static int
walk_store(struct store *store, struct walk *walk)
{
	struct day_file *files[STORE_WRITABLE_MAX];
	long count = store_writable_files(store, files, walk->reason);
	int result = count < 0 ? -1 : 0;

	walk->arena = arena_new(WALK_BYTES);
	if (walk->arena == NULL)
		return reason_set(walk->reason, "out of memory");
	/* Oldest first, as it happened. */
	for (long i = count - 1; i >= 0 && result == 0; i--)
		result = walk_file(walk, files[i]);
	arena_free(&walk->arena);
	return result;
}

static int
visit_open(struct walk *walk, struct day_file *file, int64_t row)
{
	struct open_message message;
	int found = read_open(file, row, walk->arena, &message, walk->reason);

	return found == 1 ? walk->each_open(walk->context, &message) : found;
}

int
store_each_open(struct store *store,
    int (*each)(void *context, const struct open_message *message),
    void *context, struct reason *reason)
{
	struct walk walk = {.rows = SQL_RECIPIENTS_OPEN,
	    .shift = RECIPIENT_BITS,
	    .visit = visit_open,
	    .each_open = each,
	    .context = context,
	    .reason = reason};

	return walk_store(store, &walk);
}

static int
visit_waiting(struct walk *walk, struct day_file *file, int64_t row)
{
	struct waiting_leg leg = {.key = {file, row}};
	struct leg_record record;
	int found =
	    leg_row_read(&file->tables, row, NULL, walk->arena, &record);

	if (found < 0)
		return fail(file, walk->reason);
	if (found == 0)
		return 0;
	leg.event = record.event;
	leg.instance = record.instance;
	memcpy(leg.boot_id, record.boot_id, sizeof(leg.boot_id));
	return walk->each_waiting(walk->context, &leg);
}

int
store_each_waiting(struct store *store,
    int (*each)(void *context, const struct waiting_leg *leg), void *context,
    struct reason *reason)
{
	struct walk walk = {.rows = SQL_LEGS_WAITING,
	    .visit = visit_waiting,
	    .each_waiting = each,
	    .context = context,
	    .reason = reason};

	return walk_store(store, &walk);
}

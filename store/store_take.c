/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message's rows read and removed, its legs made to stand for themselves.
 * Called by the join on the ingest thread.
 */
#include "store/store_take.h"

#include <string.h>

#include "base/arena.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/day_file.h"
#include "store/day_outcomes.h"
#include "store/day_tables.h"
#include "store/feed.h"
#include "store/hash.h"
#include "store/leg_row.h"
#include "store/message_row.h"
#include "store/queue_id_row.h"
#include "store/record_read.h"
#include "store/unwritten.h"

/* Exact, unlike what queries get. */
static int
read_stamps(struct day_file *file, int64_t row, struct arena *arena,
    struct message_event *event)
{
	struct message_record outline;
	int found = message_row_outline(&file->tables, row, arena, &outline);

	event->mail_at = outline.event.mail_at;
	event->eom_at = outline.event.eom_at;
	return found;
}

static int
read_all(struct day_file *file, int64_t row, struct arena *arena,
    struct taken_message *taken)
{
	if (record_read(&file->tables, row, arena, &taken->record) != 1 ||
	    read_stamps(file, row, arena, &taken->record.event) != 1)
		return -1;
	return queue_id_rows_read(
	    &file->tables, row, arena, &taken->claims, &taken->claim_count);
}

static void
remove_keys(struct day_file *file, enum day_sql sql, int64_t first, int64_t end)
{
	struct statement *remove =
	    database_statement(file->tables.database, sql);

	bind_integer(remove, first);
	bind_integer(remove, end);
	statement_run(remove);
}

static void
remove_rows(struct day_file *file, int64_t row)
{
	int64_t first = day_recipient_key(row, 0);
	int64_t end = day_recipient_key(row + 1, 0);

	remove_keys(file, SQL_MESSAGE_REMOVE, row, row + 1);
	remove_keys(file, SQL_QUEUE_IDS_REMOVE, row, row + 1);
	remove_keys(file, SQL_OPERATIONS_REMOVE, row, row + 1);
	remove_keys(file, SQL_UNDECIDED_REMOVE, row, row + 1);
	remove_keys(file, SQL_RECIPIENTS_REMOVE, first, end);
	remove_keys(file, SQL_ORIGINALS_REMOVE, first, end);
	remove_keys(file, SQL_FILINGS_REMOVE, first, end);
	remove_keys(file, SQL_ATTEMPTS_REMOVE, first, end);
}

static void
forget_outcomes(
    struct day_file *file, int64_t row, const struct message_record *record)
{
	for (size_t i = 0; i < record->recipient_count; i++)
		day_outcomes_remove(
		    file->outcomes, row, record->recipients[i].state);
}

static void
take_recipients(
    struct day_file *file, int64_t row, const struct message_record *record)
{
	for (size_t i = 0; i < record->recipient_count; i++) {
		const struct recipient_record *recipient =
		    &record->recipients[i];

		feed_take(file->feed,
		    &(struct feed_subject){row, (uint32_t)i, recipient->state},
		    recipient->address);
	}
}

static int
detach_legs(struct day_file *file, const struct message_record *record,
    struct arena *arena)
{
	const struct message_brief brief = message_row_brief_of(&record->event);
	int result = 0;

	for (size_t i = 0; i < record->leg_count && result == 0; i++)
		result = leg_row_detach(
		    &file->tables, record->legs[i].row, &brief, arena);
	return result;
}

int
store_take_message(const struct message_key *key, struct arena *arena,
    struct taken_message *taken_r, struct reason *reason)
{
	struct day_file *file = key->file;

	if (day_file_begin(file, false, reason) != 0 ||
	    day_file_write_message(file, key->row, reason) != 0)
		return -1;
	day_file_forget_legs(file, key->row);
	unwritten_forget_legs(file->unwritten);
	if (read_all(file, key->row, arena, taken_r) != 0 ||
	    detach_legs(file, &taken_r->record, arena) != 0) {
		if (database_check(file->tables.database, reason) == 0)
			reason_set(
			    reason, "%s: a message cannot be read", file->path);
		return -1;
	}
	take_recipients(file, key->row, &taken_r->record);
	remove_rows(file, key->row);
	forget_outcomes(file, key->row, &taken_r->record);
	return database_check(file->tables.database, reason);
}

void
store_taken_is_told(struct day_file *file)
{
	feed_end_taking(file->feed);
}

int
store_forget_session(
    const struct message_key *key, const char *session, struct reason *reason)
{
	struct day_file *file = key->file;
	struct statement *remove;

	if (day_file_begin(file, false, reason) != 0)
		return -1;
	remove = database_statement(file->tables.database, SQL_SESSION_REMOVE);
	bind_integer(remove, day_recipient_key(key->row, 0));
	bind_integer(remove, day_recipient_key(key->row + 1, 0));
	bind_integer(remove, hash_for_key(session, strlen(session)));
	statement_run(remove);
	return database_check(file->tables.database, reason);
}

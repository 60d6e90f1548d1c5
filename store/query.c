/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds messages. Called by the command line, and by the exporter's HTTP
 * threads with a reader each.
 *
 * Candidates come from hash indexes, so every record is compared with the key
 * itself after it was read. A file that cannot be read does not hide what the
 * others hold: it is an error only when nothing was found.
 */
#include "store/query.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/filing_row.h"
#include "store/hash.h"
#include "store/layout.h"
#include "store/queue_id_row.h"
#include "store/reader_file.h"
#include "store/reader_private.h"
#include "store/recipient_row.h"
#include "store/record_read.h"

enum key_kind { KEY_ID, KEY_QUEUE_ID, KEY_MESSAGE_ID, KEY_SESSION };

struct search {
	enum key_kind kind;
	struct uuid id;
	const char *text; /* queue id, Message-ID with <>, session id */
	size_t limit;
	struct arena *arena;
	struct message_record *records;
	size_t count;
	bool unreadable; /* a file was, for this reason */
	struct reason reason;
};

struct store_reader *
store_reader_open(const char *directory, struct reason *reason)
{
	DIR *entries = opendir(directory);
	struct store_reader *reader;

	if (entries == NULL) {
		reason_set_errno(reason, "%s", directory);
		return NULL;
	}
	closedir(entries);
	reader = memory_zeroed(1, sizeof(*reader));
	reader->directory = memory_string(directory);
	reader->pool = reader_pool_new(reader->directory);
	return reader;
}

void
store_reader_free(struct store_reader **reader)
{
	if (*reader == NULL)
		return;
	reader_pool_free(&(*reader)->pool);
	database_close(&(*reader)->archive);
	free((*reader)->directory);
	free(*reader);
	*reader = NULL;
}

void
store_reader_close_gone(struct store_reader *reader)
{
	reader_pool_close_gone(reader->pool);
	database_close(&reader->archive);
}

static bool
is_text(const char *text, const char *wanted)
{
	return text != NULL && strcmp(text, wanted) == 0;
}

static bool
matches(const struct search *search, const struct message_record *record)
{
	bool by_queue_id = search->kind == KEY_QUEUE_ID;

	if (search->kind == KEY_ID || search->kind == KEY_SESSION)
		return true;
	if (is_text(
		by_queue_id ? record->event.queue_id : record->event.message_id,
		search->text))
		return true;
	for (size_t i = 0; i < record->queue_id_count && by_queue_id; i++) {
		if (is_text(record->queue_ids[i], search->text))
			return true;
	}
	for (size_t i = 0; i < record->leg_count; i++) {
		const struct delivery_event *leg = &record->legs[i].event;

		if (is_text(by_queue_id ? leg->queue_id : leg->message_id,
			search->text))
			return true;
	}
	return false;
}

/* The message, or its only leg when there is none. */
static const struct uuid *
record_id(const struct message_record *record)
{
	if (uuid_is_set(&record->event.id) || record->leg_count == 0)
		return &record->event.id;
	return &record->legs[0].event.id;
}

static bool
is_there(const struct search *search, const struct message_record *record)
{
	for (size_t i = 0; i < search->count; i++) {
		if (uuid_equal(
			record_id(&search->records[i]), record_id(record)))
			return true;
	}
	return false;
}

/* Adds the message at `row`, or the leg if `is_leg`. Returns 0 or -1. */
static int
add(struct search *search, struct day_tables *tables, int64_t row, bool is_leg)
{
	struct message_record record, *place;
	int found = is_leg
			? record_read_leg(tables, row, search->arena, &record)
			: record_read(tables, row, search->arena, &record);

	if (found != 1)
		return found;
	if (!matches(search, &record) || is_there(search, &record))
		return 0;
	place = arena_append(
	    search->arena, &search->records, &search->count, sizeof(record));
	if (place == NULL)
		return -1;
	*place = record;
	return 0;
}

/* What an index says, collected before it is read. */
struct candidate {
	int64_t row;
	bool is_leg;
};

struct candidates {
	struct candidate *items;
	size_t count;
};

/* Messages come with their row; legs with theirs and their message's, if they
 * have one. */
static int
collect(struct search *search, struct day_tables *tables, enum day_sql index,
    bool legs, struct candidates *found)
{
	struct statement *rows = database_statement(tables->database, index);
	struct candidate *candidate;

	bind_integer(rows, hash_for_index(search->text, strlen(search->text)));
	while (statement_step(rows) == 1) {
		candidate = arena_append(search->arena, &found->items,
		    &found->count, sizeof(*candidate));
		if (candidate == NULL)
			break;
		candidate->is_leg = legs && column_is_null(rows, 1);
		candidate->row =
		    column_integer(rows, legs && !candidate->is_leg);
	}
	statement_end(rows);
	return database_check(tables->database, NULL);
}

/* Messages that got the queue id later. */
static int
collect_further(
    struct search *search, struct day_tables *tables, struct candidates *found)
{
	struct queue_id_row *rows;
	struct candidate *candidate;
	size_t count;

	if (search->kind != KEY_QUEUE_ID)
		return 0;
	if (queue_id_rows_find(
		tables, search->text, search->arena, &rows, &count) != 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		candidate = arena_append(search->arena, &found->items,
		    &found->count, sizeof(*candidate));
		if (candidate == NULL)
			return -1;
		*candidate = (struct candidate){rows[i].message_row, false};
	}
	return 0;
}

static int
search_indexes(struct search *search, struct day_tables *tables)
{
	bool by_queue_id = search->kind == KEY_QUEUE_ID;
	struct candidates found = {NULL, 0};
	int result;

	result = collect(search, tables,
	    by_queue_id ? SQL_MESSAGE_BY_QUEUE_ID : SQL_MESSAGE_BY_MESSAGE_ID,
	    false, &found);
	if (result == 0)
		result = collect_further(search, tables, &found);
	if (result == 0)
		result = collect(search, tables,
		    by_queue_id ? SQL_LEG_BY_QUEUE_ID : SQL_LEG_BY_MESSAGE_ID,
		    true, &found);
	for (size_t i = 0; i < found.count && result == 0; i++)
		result = add(
		    search, tables, found.items[i].row, found.items[i].is_leg);
	return result;
}

/* Messages with a recipient that was answered in the LMTP session. */
static int
search_sessions(struct search *search, struct day_tables *tables)
{
	struct recipient_place *places;
	size_t count;
	int result = session_rows_find(
	    tables, search->text, search->arena, &places, &count);

	for (size_t i = 0; i < count && result == 0; i++)
		result = add(search, tables, places[i].message_row, false);
	return result;
}

static int
search_tables(struct search *search, struct day_tables *tables)
{
	int64_t row;
	int found;

	if (search->kind == KEY_SESSION)
		return search_sessions(search, tables);
	if (search->kind != KEY_ID)
		return search_indexes(search, tables);
	found = day_find_id(tables, SQL_MESSAGE_SCAN, &search->id, &row);
	return found == 1 ? add(search, tables, row, false) : found;
}

/* Returns 0, also when the file cannot be read, or -1 when the arena is full.
 */
static int
search_day(struct store_reader *reader, struct search *search, int64_t day)
{
	struct day_tables *tables = NULL;
	struct reason reason;
	int opened = reader_file(reader->pool, day, &tables, &reason);
	bool failed = opened < 0;

	if (opened == 1) {
		search_tables(search, tables);
		failed = database_check(tables->database, &reason) != 0;
		reader_file_done(tables);
	}
	if (failed) {
		log_warn("reason=%s", reason.text);
		search->unreadable = true;
		search->reason = reason;
	}
	return arena_failed(search->arena) ? -1 : 0;
}

static int
newest_first(const void *left, const void *right)
{
	int64_t a_ns = record_begin_ns(left), b_ns = record_begin_ns(right);

	return (a_ns < b_ns) - (a_ns > b_ns);
}

/* An id tells its day, which is about its file's. Everything else is looked
 * for from the newest file on; odd.db comes last and may hold anything. */
static int
search_store(
    struct store_reader *reader, struct search *search, struct reason *reason)
{
	int64_t id_day = clock_day(uuid_wall_ns(&search->id));
	int64_t id_days[] = {id_day, id_day + 1, id_day - 1, LAYOUT_ODD};
	int64_t *listed = NULL, *days = id_days;
	long count = sizeof(id_days) / sizeof(id_days[0]);
	int result = 0;

	if (search->kind != KEY_ID) {
		count = layout_list(reader->directory, &listed, reason);
		days = listed;
	}
	if (count < 0)
		return -1;
	for (long i = 0; i < count && result == 0; i++) {
		if (search->count < search->limit || days[i] == LAYOUT_ODD)
			result = search_day(reader, search, days[i]);
	}
	free(listed);
	if (result != 0)
		return reason_set(reason, "too much was found");
	if (search->count == 0 && search->unreadable)
		return reason_set(reason, "%s", search->reason.text);
	if (search->count > 0)
		qsort(search->records, search->count, sizeof(*search->records),
		    newest_first);
	if (search->count > search->limit)
		search->count = search->limit;
	return 0;
}

/* Searches for one kind of key. Returns how many, or -1. */
static long
search_as(struct store_reader *reader, struct search *search,
    enum key_kind kind, const char *text, struct reason *reason)
{
	search->kind = kind;
	search->text = text;
	if (search_store(reader, search, reason) != 0)
		return -1;
	return (long)search->count;
}

static long
search_message_id(struct store_reader *reader, struct search *search,
    const char *key, struct reason *reason)
{
	char *text =
	    key[0] == '<' ? memory_string(key) : memory_format("<%s>", key);
	long count = search_as(reader, search, KEY_MESSAGE_ID, text, reason);

	free(text);
	return count;
}

long
store_find(struct store_reader *reader, const char *key, size_t limit,
    struct arena *arena, struct message_record **records_r,
    struct reason *reason)
{
	struct search search = {.limit = limit, .arena = arena};
	long count;

	if (uuid_parse(key, strlen(key), &search.id) == 0)
		count = search_as(reader, &search, KEY_ID, NULL, reason);
	else if (strpbrk(key, "<@") != NULL)
		count = search_message_id(reader, &search, key, reason);
	else
		count = search_as(reader, &search, KEY_QUEUE_ID, key, reason);
	if (count == 0 && search.kind == KEY_QUEUE_ID)
		count = search_as(reader, &search, KEY_SESSION, key, reason);
	if (count == 0 && search.kind == KEY_SESSION)
		count = search_message_id(reader, &search, key, reason);
	*records_r = search.records;
	return count;
}

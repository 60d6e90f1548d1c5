/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds up over the day files, in which domains have different numbers, and
 * maybe different cases. Called by the command line.
 */
#include "store/query_drain.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/intern.h"
#include "store/layout.h"
#include "store/reader_file.h"
#include "store/reader_private.h"
#include "store/record_read.h"

#define NS_PER_MINUTE (60 * CLOCK_NS_PER_SECOND)

/* By its name in lower case. */
struct entry {
	char *key;
	struct drain_domain domain;
	/* Where the message is that waits longest. */
	int64_t day, row;
	UT_hash_handle hh;
};

struct drain {
	const struct drain_question *question;
	struct arena *arena;
	struct entry *entries;
};

/* The entry of the domain in column 0, made if need be; NULL when the arena is
 * full. */
static struct entry *
entry_of(struct drain *drain, struct statement *rows)
{
	char *name = column_string(rows, 0, drain->arena);
	char *key = arena_string(drain->arena, name != NULL ? name : "");
	struct entry *entry;

	if (key == NULL)
		return NULL;
	for (char *at = key; *at != '\0'; at++)
		*at = (char)tolower((unsigned char)*at);
	HASH_FIND_STR(drain->entries, key, entry);
	if (entry != NULL)
		return entry;
	entry = arena_alloc(drain->arena, sizeof(*entry));
	if (entry == NULL)
		return NULL;
	*entry = (struct entry){.key = key, .domain = {.name = name}};
	HASH_ADD_KEYPTR(hh, drain->entries, key, strlen(key), entry);
	return entry;
}

static void
add_waiting(struct drain *drain, struct day_tables *tables, int64_t day)
{
	struct statement *rows =
	    database_statement(tables->database, SQL_WAITING_READ);
	struct entry *entry;
	int64_t row, begun_ns;

	while (statement_step(rows) == 1 &&
	       (entry = entry_of(drain, rows)) != NULL) {
		row = column_integer(rows, 2);
		begun_ns = day_row_stamp(tables, row, INTERN_NO_BOOT).wall_ns;
		if (entry->domain.waiting == 0 ||
		    begun_ns < entry->domain.oldest_wall_ns) {
			entry->domain.oldest_wall_ns = begun_ns;
			entry->day = day;
			entry->row = row;
		}
		entry->domain.waiting += (uint64_t)column_integer(rows, 1);
	}
	statement_end(rows);
}

static void
add_departures(struct drain *drain, struct day_tables *tables)
{
	struct statement *rows =
	    database_statement(tables->database, SQL_DEPARTURES_READ);
	int64_t minute = drain->question->now_wall_ns / NS_PER_MINUTE;
	struct entry *entry;

	bind_integer(rows, minute - DRAIN_LONG_MINUTES);
	bind_integer(rows, minute - DRAIN_SHORT_MINUTES);
	while (statement_step(rows) == 1 &&
	       (entry = entry_of(drain, rows)) != NULL) {
		entry->domain.left_short += (uint64_t)column_integer(rows, 1);
		entry->domain.left_long += (uint64_t)column_integer(rows, 2);
	}
	statement_end(rows);
}

static void
add_day(struct drain *drain, struct store_reader *reader, int64_t day)
{
	struct day_tables *tables;

	if (reader_file(reader->pool, day, &tables, NULL) != 1)
		return;
	add_waiting(drain, tables, day);
	add_departures(drain, tables);
	reader_file_done(tables);
}

static int
most_first(const struct entry *left, const struct entry *right)
{
	const struct drain_domain *a = &left->domain, *b = &right->domain;

	if (a->waiting != b->waiting)
		return a->waiting < b->waiting ? 1 : -1;
	return (a->oldest_wall_ns > b->oldest_wall_ns) -
	       (a->oldest_wall_ns < b->oldest_wall_ns);
}

/* NULL when it cannot be read. */
static const struct message_record *
read_oldest(
    struct drain *drain, struct store_reader *reader, const struct entry *entry)
{
	struct message_record *record =
	    arena_alloc(drain->arena, sizeof(*record));
	struct day_tables *tables;
	int found;

	if (record == NULL ||
	    reader_file(reader->pool, entry->day, &tables, NULL) != 1)
		return NULL;
	found = record_read(tables, entry->row, drain->arena, record);
	reader_file_done(tables);
	return found == 1 ? record : NULL;
}

static void
list_waiting(struct drain *drain, struct store_reader *reader,
    struct drain_answer *answer)
{
	struct entry *entry;
	struct drain_domain *place;

	HASH_SORT(drain->entries, most_first);
	for (entry = drain->entries; entry != NULL; entry = entry->hh.next) {
		if (entry->domain.waiting == 0)
			break;
		if (answer->count < drain->question->records)
			entry->domain.oldest =
			    read_oldest(drain, reader, entry);
		place = arena_append(drain->arena, &answer->domains,
		    &answer->count, sizeof(*place));
		if (place != NULL)
			*place = entry->domain;
	}
}

int
store_drain(struct store_reader *reader, const struct drain_question *question,
    struct arena *arena, struct drain_answer *answer_r, struct reason *reason)
{
	struct drain drain = {question, arena, NULL};
	int64_t *days;
	long count = layout_list(reader->directory, &days, reason);

	*answer_r = (struct drain_answer){0};
	if (count < 0)
		return -1;
	for (long i = 0; i < count; i++)
		if (days[i] == LAYOUT_ODD ||
		    days[i] >= clock_day(question->since_wall_ns))
			add_day(&drain, reader, days[i]);
	free(days);
	list_waiting(&drain, reader, answer_r);
	HASH_CLEAR(hh, drain.entries);
	return arena_failed(arena) ? reason_set(reason, "too much was found")
				   : 0;
}

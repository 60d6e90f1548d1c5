/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The feed's writer. Called by what writes rows, and by day_file at commits, on
 * the ingest thread.
 *
 * A message that is told anew is taken away and comes back within one event,
 * nearly always as it was: of each of its recipients, the feed gets where it is
 * now and the difference.
 */
#include "store/feed.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/feed_entry.h"
#include "store/hash.h"

#define END_UNKNOWN (-1)

struct taken {
	int64_t address; /* its hash */
	struct feed_subject subject;
};

struct feed {
	int64_t end; /* of the stream, as far as it is committed */
	int64_t written_end;
	struct feed_entry *entries;
	size_t count, capacity;
	size_t moved_count; /* of the entries */
	struct taken *taken;
	size_t taken_count, taken_capacity;
};

struct feed *
feed_new(void)
{
	struct feed *feed = memory_zeroed(1, sizeof(*feed));

	feed->end = END_UNKNOWN;
	return feed;
}

void
feed_free(struct feed **feed)
{
	if (*feed == NULL)
		return;
	free((*feed)->entries);
	free((*feed)->taken);
	free(*feed);
	*feed = NULL;
}

static void
add(struct feed *feed, const struct feed_entry *entry)
{
	if (feed->count == feed->capacity) {
		feed->capacity = 2 * feed->capacity + 16;
		feed->entries = memory_resize(
		    feed->entries, feed->capacity, sizeof(*feed->entries));
	}
	feed->entries[feed->count++] = *entry;
	feed->moved_count += entry->kind == FEED_MOVED;
}

static struct feed_entry
entry_of(enum feed_kind kind, const struct feed_subject *subject)
{
	return (struct feed_entry){.kind = kind,
	    .row = subject->row,
	    .number = subject->number,
	    .to = subject->state};
}

/* Takes the recipient of this address out of those that were taken away.
 * Returns whether there was one. */
static bool
find_taken(
    struct feed *feed, const char *address, struct feed_subject *subject_r)
{
	int64_t hash;

	if (feed->taken_count == 0)
		return false;
	hash = hash_for_key(address, strlen(address));
	for (size_t i = 0; i < feed->taken_count; i++) {
		if (feed->taken[i].address != hash)
			continue;
		*subject_r = feed->taken[i].subject;
		feed->taken_count--;
		memmove(&feed->taken[i], &feed->taken[i + 1],
		    (feed->taken_count - i) * sizeof(feed->taken[0]));
		return true;
	}
	return false;
}

void
feed_begin(
    struct feed *feed, const struct feed_subject *subject, const char *address)
{
	struct feed_entry entry = entry_of(FEED_BEGUN, subject);
	struct feed_subject old;

	if (find_taken(feed, address, &old)) {
		entry.kind = FEED_MOVED;
		entry.from = old.state;
		entry.old_row = old.row;
		entry.old_number = old.number;
	}
	add(feed, &entry);
}

/* The entry by which the batch told the recipient anew; NULL: there is none. */
static struct feed_entry *
find_moved(struct feed *feed, const struct feed_subject *subject)
{
	if (feed->moved_count == 0)
		return NULL;
	for (size_t i = feed->count; i-- > 0;) {
		struct feed_entry *entry = &feed->entries[i];

		if (entry->kind == FEED_MOVED && entry->row == subject->row &&
		    entry->number == subject->number)
			return entry;
	}
	return NULL;
}

void
feed_change(struct feed *feed, const struct feed_subject *subject,
    enum recipient_state from)
{
	struct feed_entry entry = entry_of(FEED_CHANGED, subject);
	struct feed_entry *moved;

	if (subject->state == from)
		return;
	moved = find_moved(feed, subject);
	if (moved != NULL) {
		moved->to = subject->state;
		return;
	}
	entry.from = from;
	add(feed, &entry);
}

void
feed_leg(struct feed *feed, const struct feed_subject *subject)
{
	const struct feed_entry entry = entry_of(FEED_LEG, subject);

	add(feed, &entry);
}

void
feed_take(
    struct feed *feed, const struct feed_subject *subject, const char *address)
{
	if (feed->taken_count == feed->taken_capacity) {
		feed->taken_capacity = 2 * feed->taken_capacity + 16;
		feed->taken = memory_resize(
		    feed->taken, feed->taken_capacity, sizeof(*feed->taken));
	}
	feed->taken[feed->taken_count++] =
	    (struct taken){hash_for_key(address, strlen(address)), *subject};
}

void
feed_end_taking(struct feed *feed)
{
	feed->taken_count = 0;
}

static void
read_end(struct feed *feed, struct database *database)
{
	struct statement *read = database_statement(database, SQL_FEED_END);

	if (statement_step(read) == 1)
		feed->end = column_integer(read, 0);
	statement_end(read);
}

void
feed_write(struct feed *feed, struct day_tables *tables, int64_t wall_ns)
{
	struct buffer packed = {0};
	struct statement *statement;

	if (feed->end == END_UNKNOWN && feed->count > 0)
		read_end(feed, tables->database);
	feed->written_end = feed->end;
	if (feed->count == 0)
		return;
	feed_entries_pack(feed->entries, feed->count, &packed);
	feed->written_end += (int64_t)packed.size + FEED_ROW_BYTES;
	statement = database_statement(tables->database, SQL_FEED_ADD);
	bind_integer(statement, feed->written_end);
	bind_integer(statement, wall_ns);
	bind_blob(statement, packed.data, packed.size);
	statement_run(statement);
	statement = database_statement(tables->database, SQL_FEED_TRIM);
	bind_integer(statement, feed->end - FEED_BYTES);
	statement_run(statement);
	buffer_free(&packed);
}

void
feed_clear(struct feed *feed, bool committed)
{
	feed->end = committed ? feed->written_end : END_UNKNOWN;
	feed->count = feed->moved_count = feed->taken_count = 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the feeds of all day files. Called by the command line.
 *
 * Files whose log was not written since they were looked at last, as their
 * times tell, are not opened; so a year of days costs little. Rows are read in
 * the transaction in which their entries are, and the transaction ends before
 * anything is handed out: who is slow to print holds up no checkpoint.
 */
#include "store/query_feed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/feed.h"
#include "store/feed_entry.h"
#include "store/layout.h"
#include "store/query.h"
#include "store/reader_file.h"
#include "store/reader_private.h"
#include "store/record_read.h"

enum { HITS_WANTED = 500 };

/* Times of files are this coarse at most. */
#define COARSE_NS CLOCK_NS_PER_SECOND

/* What changes when a file or its log is written. */
struct traces {
	struct layout_identity identity;
	struct timespec log_time, time;
	off_t log_size;
};

struct followed {
	int64_t day;
	int64_t position; /* in its stream */
	struct traces seen;
	bool is_seen; /* all that was written up to `seen` */
	bool failed;
};

struct store_feed {
	struct store_reader *reader;
	struct followed *files;
	size_t count;
	int64_t since_wall_ns; /* when it was opened */
};

/* What one call does. */
struct turn {
	struct store_feed *feed;
	struct arena *arena;
	struct feed_page *page;
	/* Read last, for entries of one message follow another. */
	struct day_tables *tables;
	int64_t row;
	bool is_leg;
	const struct message_record *record; /* NULL: it is not there */
};

static struct traces
trace(const char *directory, int64_t day)
{
	char *path = layout_day_path(directory, day);
	char *log = memory_format("%s-wal", path);
	struct traces traces = {.identity = layout_identify(path)};
	struct stat status;

	if (stat(path, &status) == 0)
		traces.time = status.st_mtim;
	if (stat(log, &status) == 0) {
		traces.log_time = status.st_mtim;
		traces.log_size = status.st_size;
	}
	free(log);
	free(path);
	return traces;
}

static bool
is_same_time(struct timespec left, struct timespec right)
{
	return left.tv_sec == right.tv_sec && left.tv_nsec == right.tv_nsec;
}

static bool
is_same_file(const struct traces *left, const struct traces *right)
{
	return left->identity.device == right->identity.device &&
	       left->identity.inode == right->identity.inode;
}

static bool
are_same(const struct traces *left, const struct traces *right)
{
	return is_same_file(left, right) &&
	       is_same_time(left->time, right->time) &&
	       is_same_time(left->log_time, right->log_time) &&
	       left->log_size == right->log_size;
}

/* Whether something may be written yet at the same time. */
static bool
is_young(const struct traces *traces, int64_t now_ns)
{
	int64_t log_ns = traces->log_time.tv_sec * CLOCK_NS_PER_SECOND +
			 traces->log_time.tv_nsec;
	int64_t ns =
	    traces->time.tv_sec * CLOCK_NS_PER_SECOND + traces->time.tv_nsec;

	return log_ns > now_ns - COARSE_NS || ns > now_ns - COARSE_NS;
}

static struct followed *
follow(struct store_feed *feed, int64_t day)
{
	for (size_t i = 0; i < feed->count; i++)
		if (feed->files[i].day == day)
			return &feed->files[i];
	feed->files =
	    memory_resize(feed->files, feed->count + 1, sizeof(*feed->files));
	feed->files[feed->count] = (struct followed){.day = day};
	return &feed->files[feed->count++];
}

static int64_t
read_end(struct day_tables *tables)
{
	struct statement *read =
	    database_statement(tables->database, SQL_FEED_END);
	int64_t end = 0;

	if (statement_step(read) == 1)
		end = column_integer(read, 0);
	statement_end(read);
	return end;
}

/* Where what was committed since then begins. */
static int64_t
find_since(struct day_tables *tables, int64_t since_wall_ns)
{
	struct statement *rows =
	    database_statement(tables->database, SQL_FEED_READ);
	int64_t position = 0, end;
	size_t size;

	bind_integer(rows, 0);
	while (statement_step(rows) == 1) {
		end = column_integer(rows, 0);
		column_bytes(rows, 2, &size);
		if (position == 0)
			position = end - (int64_t)size - FEED_ROW_BYTES;
		if (column_integer(rows, 1) >= since_wall_ns)
			break;
		position = end;
	}
	statement_end(rows);
	return position;
}

/* Passes over all that is there. In one that cannot be read now, as it is of an
 * older version, the times of commits tell once it can. */
#define POSITION_UNKNOWN (-1)

static void
skip_to_end(struct store_feed *feed, struct followed *file)
{
	struct day_tables *tables;
	struct reason reason;
	int opened =
	    reader_file(feed->reader->pool, file->day, &tables, &reason);

	file->position = opened == 0 ? 0 : POSITION_UNKNOWN;
	if (opened != 1)
		return;
	file->position = read_end(tables);
	if (database_check(tables->database, NULL) != 0)
		file->position = POSITION_UNKNOWN;
	reader_file_done(tables);
}

struct store_feed *
store_feed_open(struct store_reader *reader, bool from_start)
{
	struct store_feed *feed = memory_zeroed(1, sizeof(*feed));
	struct reason reason;
	int64_t *days = NULL;
	long count =
	    from_start ? 0 : layout_list(reader->directory, &days, &reason);

	feed->reader = reader;
	feed->since_wall_ns = clock_stamp().wall_ns;
	for (long i = 0; i < count; i++) {
		struct followed *file = follow(feed, days[i]);

		file->seen = trace(reader->directory, days[i]);
		skip_to_end(feed, file);
	}
	free(days);
	return feed;
}

void
store_feed_free(struct store_feed **feed)
{
	if (*feed == NULL)
		return;
	free((*feed)->files);
	free(*feed);
	*feed = NULL;
}

/* Where a later commit has put a recipient. Returns 1, 0 or -1. */
static int
find_moved(struct turn *turn, int64_t position, struct feed_entry *entry)
{
	struct statement *rows =
	    database_statement(turn->tables->database, SQL_FEED_READ);
	int found = 0;

	bind_integer(rows, position);
	while (statement_step(rows) == 1) {
		struct feed_entry *later;
		size_t size, count;
		const void *data = column_bytes(rows, 2, &size);

		if (feed_entries_unpack(
			data, size, turn->arena, &later, &count) != 0) {
			found = -1;
			break;
		}
		for (size_t i = 0; i < count; i++)
			if (later[i].kind == FEED_MOVED &&
			    later[i].old_row == entry->row &&
			    later[i].old_number == entry->number) {
				entry->row = later[i].row;
				entry->number = later[i].number;
				found = 1;
			}
	}
	statement_end(rows);
	return found;
}

/* Returns 0, with turn->record, or -1. */
static int
read_record(struct turn *turn, int64_t row, bool is_leg)
{
	struct message_record *record;
	int found;

	if (turn->row == row && turn->is_leg == is_leg)
		return 0;
	record = arena_alloc(turn->arena, sizeof(*record));
	if (record == NULL)
		return -1;
	found = is_leg ? record_read_leg(turn->tables, row, turn->arena, record)
		       : record_read(turn->tables, row, turn->arena, record);
	if (found < 0)
		return -1;
	turn->row = row;
	turn->is_leg = is_leg;
	turn->record = found == 1 ? record : NULL;
	return 0;
}

/* The index of the recipient that the entry is about. */
static size_t
number_of(const struct message_record *record, const struct feed_entry *entry)
{
	const struct delivery_event *event;
	size_t number = 0;

	if (entry->kind != FEED_LEG)
		return entry->number;
	event = &record->legs[0].event;
	while (number < event->recipient_count &&
	       event->recipients[number].position != entry->number)
		number++;
	return number;
}

/* Leaves the recipient, which is copied, and what the log says of it. */
static int
keep_one(struct turn *turn, size_t number, struct message_record *record)
{
	struct recipient_record *recipient =
	    arena_alloc(turn->arena, sizeof(*recipient));
	struct attempt_record *attempts = NULL, *attempt;
	size_t count = 0;

	for (size_t i = 0; i < record->attempt_count; i++) {
		if (record->attempts[i].recipient != number)
			continue;
		attempt = arena_append(
		    turn->arena, &attempts, &count, sizeof(*attempt));
		if (attempt == NULL)
			return -1;
		*attempt = record->attempts[i];
		attempt->recipient = 0;
	}
	if (recipient == NULL)
		return -1;
	*recipient = record->recipients[number];
	record->recipients = recipient;
	record->recipient_count = 1;
	record->attempts = attempts;
	record->attempt_count = count;
	return 0;
}

static int
add_hit(struct turn *turn, const struct feed_entry *entry, int64_t wall_ns)
{
	size_t number = number_of(turn->record, entry);
	struct feed_hit *hit;

	if (number >= turn->record->recipient_count)
		return 0;
	hit = arena_append(
	    turn->arena, &turn->page->hits, &turn->page->count, sizeof(*hit));
	if (hit == NULL)
		return -1;
	*hit = (struct feed_hit){.record = *turn->record,
	    .is_begun = entry->kind == FEED_BEGUN || entry->kind == FEED_LEG,
	    .from = entry->from,
	    .wall_ns = wall_ns};
	if (keep_one(turn, number, &hit->record) != 0)
		return -1;
	/* It may have left that state again. */
	if (hit->record.recipients->state != entry->to)
		hit->record.recipients->reason = FATE_REASON_NONE;
	hit->record.recipients->state = entry->to;
	return 0;
}

/* Nothing is left of who was taken away for good. Returns 0, or -1. */
static int
take_entry(struct turn *turn, const struct feed_entry *from, int64_t wall_ns,
    int64_t position)
{
	struct feed_entry entry = *from;
	bool is_leg = entry.kind == FEED_LEG;
	int moved;

	if (entry.kind == FEED_MOVED && entry.from == entry.to)
		return 0;
	if (read_record(turn, entry.row, is_leg) != 0)
		return -1;
	if (turn->record == NULL && !is_leg) {
		moved = find_moved(turn, position, &entry);
		if (moved < 0 ||
		    (moved == 1 && read_record(turn, entry.row, false) != 0))
			return -1;
	}
	return turn->record != NULL ? add_hit(turn, &entry, wall_ns) : 0;
}

/* One commit's entries. Returns 0, or -1. */
static int
take_row(struct turn *turn, struct followed *file, struct statement *rows)
{
	int64_t before = file->position, wall_ns = column_integer(rows, 1);
	struct feed_entry *entries;
	size_t size, count;
	const void *data = column_bytes(rows, 2, &size);
	int64_t begin =
	    column_integer(rows, 0) - (int64_t)size - FEED_ROW_BYTES;
	int result;

	if (begin != file->position)
		turn->page->has_gap = true;
	file->position = column_integer(rows, 0);
	result = feed_entries_unpack(data, size, turn->arena, &entries, &count);
	statement_end(rows);
	/* Those of the same commit may have been moved, too. */
	for (size_t i = 0; i < count && result == 0; i++)
		result = take_entry(turn, &entries[i], wall_ns, before);
	return result;
}

/* Returns 1 when there may be more in it, 0, or -1. */
static int
take_rows(struct turn *turn, struct followed *file)
{
	while (turn->page->count < HITS_WANTED) {
		struct statement *rows =
		    database_statement(turn->tables->database, SQL_FEED_READ);

		bind_integer(rows, file->position);
		if (statement_step(rows) != 1) {
			statement_end(rows);
			return 0;
		}
		if (take_row(turn, file, rows) != 0)
			return -1;
	}
	return 1;
}

static void
pass_over(struct turn *turn, struct followed *file, const struct reason *reason)
{
	if (!file->failed && !turn->page->incomplete) {
		turn->page->incomplete = true;
		turn->page->reason = *reason;
		file->failed = true;
	}
}

/* Returns 1 when there may be more in it, 0, or -1 when the arena is full. */
static int
take_file(struct turn *turn, struct followed *file)
{
	struct store_feed *feed = turn->feed;
	struct reason reason;
	int more = 0;
	int opened =
	    reader_file(feed->reader->pool, file->day, &turn->tables, &reason);

	turn->row = 0;
	if (opened < 0)
		pass_over(turn, file, &reason);
	if (opened != 1)
		return 0;
	if (file->position == POSITION_UNKNOWN)
		file->position = find_since(turn->tables, feed->since_wall_ns);
	if (database_check(turn->tables->database, NULL) == 0)
		more = take_rows(turn, file);
	if (database_check(turn->tables->database, &reason) != 0)
		pass_over(turn, file, &reason);
	else
		file->failed = false;
	reader_file_done(turn->tables);
	if (arena_failed(turn->arena))
		return -1;
	return more > 0;
}

static int
look_at(struct turn *turn, int64_t day)
{
	struct store_feed *feed = turn->feed;
	struct followed *file = follow(feed, day);
	struct traces now = trace(feed->reader->directory, day);
	int64_t now_ns = clock_stamp().wall_ns;
	int more;

	if (!is_same_file(&file->seen, &now)) {
		if (file->seen.identity.inode != 0)
			file->position = 0;
		file->is_seen = false;
	}
	if (file->is_seen && are_same(&file->seen, &now))
		return 0;
	more = take_file(turn, file);
	file->seen = now;
	file->is_seen = more == 0 && !file->failed && !is_young(&now, now_ns);
	turn->page->is_young = turn->page->is_young || !file->is_seen;
	return more;
}

int
store_feed_next(struct store_feed *feed, struct arena *arena,
    struct feed_page *page_r, struct reason *reason)
{
	struct turn turn = {.feed = feed, .arena = arena, .page = page_r};
	int64_t *days = NULL;
	long count = layout_list(feed->reader->directory, &days, reason);
	int more = 0;

	*page_r = (struct feed_page){.is_last = true};
	if (count < 0)
		return -1;
	store_reader_close_gone(feed->reader);
	/* The oldest first. */
	for (long i = count; i-- > 0 && more == 0;)
		more = look_at(&turn, days[i]);
	page_r->is_last = more == 0;
	free(days);
	return more < 0 ? reason_set(reason, "too much at once") : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists messages by their recipients' states. Called by the command line.
 *
 * Partial indexes hold just these recipients, and rows lie in the order of
 * time: counting takes no reading of messages, and only the first few messages
 * of each file are read.
 */
#include "store/query_open.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/layout.h"
#include "store/reader_file.h"
#include "store/reader_private.h"
#include "store/record_read.h"

static const struct {
	enum day_sql counts, messages, first;
	bool oldest_first;
} kinds[] = {
    [OPEN_QUEUED] = {SQL_OPEN_COUNTS, SQL_OPEN_MESSAGES, SQL_OPEN_OLDEST, true},
    [OPEN_MISSING] = {SQL_MISSING_COUNTS, SQL_MISSING_MESSAGES,
	SQL_MISSING_NEWEST, false},
    [OPEN_EVER_MISSING] = {SQL_EVER_MISSING_COUNTS, SQL_EVER_MISSING_MESSAGES,
	SQL_EVER_MISSING_NEWEST, false},
};

#define NS_PER_US 1000

struct listing {
	const struct open_question *question;
	struct arena *arena;
	struct open_answer *answer;
	/* Recipients' keys in the file at hand. */
	int64_t first_key, end_key;
};

bool
open_kind_may_be(enum open_kind kind, enum recipient_state state)
{
	if (kind == OPEN_QUEUED)
		return state == RECIPIENT_IN_FLIGHT ||
		       state == RECIPIENT_DEFERRED || state == RECIPIENT_HELD;
	return state == RECIPIENT_LOST || state == RECIPIENT_UNKNOWN ||
	       (kind == OPEN_EVER_MISSING && state == RECIPIENT_DELETED);
}

bool
open_kind_has(enum open_kind kind, const struct recipient_record *recipient)
{
	return open_kind_may_be(kind, recipient->state) &&
	       (recipient->state != RECIPIENT_DELETED ||
		   recipient->reason == FATE_REASON_ACKNOWLEDGED ||
		   recipient->reason == FATE_REASON_ACKNOWLEDGED_UNKNOWN);
}

/* Rows lie in the order of time, except in odd.db. */
static int64_t
key_at(int64_t day, int64_t wall_ns)
{
	int64_t since_ns = wall_ns - day * CLOCK_NS_PER_DAY;

	return since_ns > 0 ? day_recipient_key(since_ns / NS_PER_US, 0) : 0;
}

static void
choose_keys(struct listing *listing, int64_t day)
{
	const struct open_question *question = listing->question;

	listing->first_key = 0;
	listing->end_key = INT64_MAX;
	if (day == LAYOUT_ODD)
		return;
	if (question->from_wall_ns != 0)
		listing->first_key = key_at(day, question->from_wall_ns);
	if (question->before_wall_ns != 0)
		listing->end_key = key_at(day, question->before_wall_ns);
}

static struct statement *
ask(struct listing *listing, struct day_tables *tables, enum day_sql sql)
{
	struct statement *rows = database_statement(tables->database, sql);

	bind_integer(rows, listing->first_key);
	bind_integer(rows, listing->end_key);
	return rows;
}

static void
count(struct listing *listing, struct day_tables *tables)
{
	struct open_answer *answer = listing->answer;
	struct statement *rows =
	    ask(listing, tables, kinds[listing->question->kind].counts);

	while (statement_step(rows) == 1) {
		int64_t state = column_integer(rows, 0);

		if (state >= 0 && state < RECIPIENT_STATES)
			answer->recipients[state] +=
			    (uint64_t)column_integer(rows, 1);
	}
	statement_end(rows);
	rows = ask(listing, tables, kinds[listing->question->kind].messages);
	if (statement_step(rows) == 1)
		answer->messages += (uint64_t)column_integer(rows, 0);
	statement_end(rows);
}

/* The rows of the first `limit` messages, in `arena`. */
static int64_t *
first_rows(struct listing *listing, struct day_tables *tables, size_t limit,
    size_t *count_r)
{
	struct statement *rows =
	    ask(listing, tables, kinds[listing->question->kind].first);
	int64_t *found = NULL, *row;

	*count_r = 0;
	bind_integer(rows, (int64_t)limit);
	while (statement_step(rows) == 1) {
		row =
		    arena_append(listing->arena, &found, count_r, sizeof(*row));
		if (row == NULL)
			break;
		*row = column_integer(rows, 0);
	}
	statement_end(rows);
	return found;
}

static void
read_first(struct listing *listing, struct day_tables *tables, size_t limit)
{
	struct open_answer *answer = listing->answer;
	struct message_record record, *place;
	size_t found;
	int64_t *rows = first_rows(listing, tables, limit, &found);

	for (size_t i = 0; i < found; i++) {
		if (record_read(tables, rows[i], listing->arena, &record) != 1)
			continue;
		place = arena_append(listing->arena, &answer->records,
		    &answer->count, sizeof(record));
		if (place != NULL)
			*place = record;
	}
}

/* odd.db is read whatever was found, for it may hold anything. */
static void
list_day(struct store_reader *reader, struct listing *listing, int64_t day)
{
	struct open_answer *answer = listing->answer;
	size_t limit = listing->question->limit;
	struct day_tables *tables;
	struct reason reason;
	int opened = reader_file(reader->pool, day, &tables, &reason);
	bool failed = opened < 0;

	choose_keys(listing, day);
	if (day != LAYOUT_ODD)
		limit = limit > answer->count ? limit - answer->count : 0;
	if (opened == 1) {
		count(listing, tables);
		read_first(listing, tables, limit);
		failed = database_check(tables->database, &reason) != 0;
		reader_file_done(tables);
	}
	if (failed) {
		answer->incomplete = true;
		answer->reason = reason;
	}
}

static int
oldest_first(const void *left, const void *right)
{
	int64_t a_ns = record_begin_ns(left), b_ns = record_begin_ns(right);

	return (a_ns > b_ns) - (a_ns < b_ns);
}

static int
newest_first(const void *left, const void *right)
{
	return oldest_first(right, left);
}

/* The days come newest first, odd.db behind them. It is read last: what was
 * found there makes no other file be read less. */
static void
list_days(struct store_reader *reader, struct listing *listing,
    const int64_t *days, long day_count)
{
	const struct open_question *question = listing->question;
	bool has_odd = day_count > 0 && days[day_count - 1] == LAYOUT_ODD;
	long last = day_count - 1 - has_odd;

	for (long i = 0; i <= last; i++) {
		bool backwards = kinds[question->kind].oldest_first;
		int64_t day = days[backwards ? last - i : i];

		if (day >= clock_day(question->since_wall_ns) &&
		    day >= clock_day(question->from_wall_ns))
			list_day(reader, listing, day);
	}
	if (has_odd)
		list_day(reader, listing, LAYOUT_ODD);
}

int
store_open_messages(struct store_reader *reader,
    const struct open_question *question, struct arena *arena,
    struct open_answer *answer_r, struct reason *reason)
{
	struct listing listing = {
	    .question = question, .arena = arena, .answer = answer_r};
	int64_t *days;
	long day_count = layout_list(reader->directory, &days, reason);

	*answer_r = (struct open_answer){0};
	if (day_count < 0)
		return -1;
	list_days(reader, &listing, days, day_count);
	free(days);
	if (arena_failed(arena))
		return reason_set(reason, "too much was found");
	if (answer_r->count > 0)
		qsort(answer_r->records, answer_r->count,
		    sizeof(*answer_r->records),
		    kinds[question->kind].oldest_first ? oldest_first
						       : newest_first);
	if (answer_r->count > question->limit)
		answer_r->count = question->limit;
	return 0;
}

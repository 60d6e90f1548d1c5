/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Candidates of one file, messages and legs without one merged. Called by
 * query_search.c for each file.
 */
#include "store/search_rows.h"

#include "base/arena.h"
#include "base/clock.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/search.h"
#include "store/search_list.h"

#define CHUNK 256
/* Beyond every row. */
#define ROW_MAX (INT64_C(1) << 42)
/* By how much MAIL FROM may differ from what a row number tells, for mail that
 * is known from the log alone until the milter's event comes. */
#define SLACK_NS (INT64_C(7200) * CLOCK_NS_PER_SECOND)

/* One of the two kinds of rows. */
struct stream {
	enum day_sql walk;    /* chunks of all rows */
	struct row_list list; /* what is not yet handed out, from `next` on */
	size_t next;
	int64_t low, high; /* rows still to walk: from low on, below high */
};

struct search_rows {
	struct day_tables *tables;
	const struct search *search;
	struct arena *arena;
	struct stream messages, legs;
};

/* Leaves what lies in the times searched. */
static void
cut(struct stream *stream)
{
	struct row_list *list = &stream->list;
	size_t count = 0;

	if (!list->is_known)
		return;
	for (size_t i = 0; i < list->count; i++)
		if (list->rows[i] >= stream->low &&
		    list->rows[i] < stream->high)
			list->rows[count++] = list->rows[i];
	list->count = count;
	stream->low = stream->high;
}

/* The times searched, with what rows may differ by. */
static void
times(const struct search *search, int64_t *low_ns_r, int64_t *high_ns_r)
{
	*low_ns_r = INT64_MIN;
	*high_ns_r = INT64_MAX;
	for (size_t i = 0; i < search->term_count; i++) {
		const struct search_term *term = &search->terms[i];

		if (term->is_negated)
			continue;
		if (term->key == SEARCH_SINCE &&
		    term->ns - SLACK_NS > *low_ns_r)
			*low_ns_r = term->ns - SLACK_NS;
		if (term->key == SEARCH_UNTIL &&
		    term->ns + SLACK_NS < *high_ns_r)
			*high_ns_r = term->ns + SLACK_NS;
	}
}

bool
search_rows_may_be(const struct search *search, int64_t day)
{
	int64_t low_ns, high_ns;

	times(search, &low_ns, &high_ns);
	return (day + 1) * CLOCK_NS_PER_DAY > low_ns &&
	       day * CLOCK_NS_PER_DAY < high_ns;
}

/* The times searched, and `before`, as rows. */
static void
bound(struct search_rows *rows, const struct row_place *before)
{
	int64_t start_ns = rows->tables->start.wall_ns, low_ns, high_ns;
	int64_t low = 0, high = ROW_MAX;

	times(rows->search, &low_ns, &high_ns);
	/* In odd.db a row does not tell the day. */
	if (start_ns != 0 && low_ns > start_ns)
		low = (low_ns - start_ns) / 1000;
	if (start_ns != 0 && high_ns / 1000 < start_ns / 1000 + high)
		high = (high_ns - start_ns) / 1000;
	rows->messages.low = rows->legs.low = low;
	rows->messages.high = rows->legs.high = high;
	if (before != NULL && before->row < high) {
		rows->messages.high = before->row;
		rows->legs.high = before->row + !before->is_leg;
	}
}

static void
list(struct search_rows *rows)
{
	struct list_question question = {.tables = rows->tables,
	    .search = rows->search,
	    .arena = rows->arena,
	    .low = rows->messages.low,
	    .high = rows->messages.high};

	search_list_messages(&question, &rows->messages.list);
	search_list_legs(&question, &rows->legs.list);
	cut(&rows->messages);
	cut(&rows->legs);
}

struct search_rows *
search_rows_begin(struct day_tables *tables, const struct search *search,
    const struct row_place *before, struct arena *arena)
{
	struct search_rows *rows = arena_alloc(arena, sizeof(*rows));

	if (rows == NULL)
		return NULL;
	*rows = (struct search_rows){
	    .tables = tables,
	    .search = search,
	    .arena = arena,
	    .messages.walk = SQL_SEARCH_MESSAGES,
	    .legs.walk = SQL_SEARCH_LEGS,
	};
	bound(rows, before);
	list(rows);
	return arena_failed(arena) ? NULL : rows;
}

/* The next rows of a stream that is walked. */
static void
walk(struct search_rows *rows, struct stream *stream)
{
	struct row_list *list = &stream->list;
	struct statement *found =
	    database_statement(rows->tables->database, stream->walk);

	if (list->rows == NULL)
		list->rows =
		    arena_alloc(rows->arena, CHUNK * sizeof(*list->rows));
	bind_integer(found, stream->low);
	bind_integer(found, stream->high);
	bind_integer(found, CHUNK);
	stream->next = list->count = 0;
	while (list->rows != NULL && statement_step(found) == 1) {
		stream->high = column_integer(found, 0);
		list->rows[list->count++] = stream->high;
	}
	statement_end(found);
	if (list->count < CHUNK)
		stream->low = stream->high;
}

/* NULL at the end. */
static const int64_t *
peek(struct search_rows *rows, struct stream *stream)
{
	if (stream->next == stream->list.count && stream->low < stream->high)
		walk(rows, stream);
	return stream->next < stream->list.count
		   ? &stream->list.rows[stream->next]
		   : NULL;
}

int
search_rows_next(struct search_rows *rows, struct row_place *place_r)
{
	const int64_t *message = peek(rows, &rows->messages);
	const int64_t *leg = peek(rows, &rows->legs);

	if (arena_failed(rows->arena) ||
	    database_check(rows->tables->database, NULL) != 0)
		return -1;
	if (message == NULL && leg == NULL)
		return 0;
	place_r->is_leg = message == NULL || (leg != NULL && *leg > *message);
	place_r->row = place_r->is_leg ? *leg : *message;
	if (place_r->is_leg)
		rows->legs.next++;
	else
		rows->messages.next++;
	return 1;
}

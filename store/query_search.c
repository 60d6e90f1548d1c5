/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Goes through the day files from the newest on, candidate by candidate. Called
 * by the command line, and by the exporter's HTTP threads.
 */
#include "store/query_search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/layout.h"
#include "store/reader_file.h"
#include "store/reader_private.h"
#include "store/record_read.h"
#include "store/search.h"
#include "store/search_match.h"
#include "store/search_rows.h"

#define SCRATCH_BYTES (64u << 20)
/* After so long a file is left and read on: who reads longer keeps its
 * write-ahead log from being begun anew, and a long log is slow to read. */
#define TURN_NS (CLOCK_NS_PER_SECOND / 10)

/* Where a page ended: everything up to there was looked at. */
struct cursor {
	int64_t day;
	struct row_place place;
};

struct run {
	const struct search_question *question;
	struct arena *arena;   /* of what is found */
	struct arena *scratch; /* of one candidate */
	struct arena *lists;   /* of one file's candidates */
	struct search_page *page;
	int64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
	struct cursor last;
	bool is_over; /* full, or out of time */
};

static void
format_cursor(const struct cursor *cursor, char text_r[SEARCH_CURSOR_SIZE])
{
	char day[16] = "odd";

	if (cursor->day != LAYOUT_ODD)
		snprintf(day, sizeof(day), "%d", (int)cursor->day);
	snprintf(text_r, SEARCH_CURSOR_SIZE, "%s-%" PRId64 "%c", day,
	    cursor->place.row, cursor->place.is_leg ? 'd' : 'm');
}

/* Returns 0, or -1 when format_cursor() did not write it. */
static int
parse_cursor(const char *text, struct cursor *cursor_r)
{
	char written[SEARCH_CURSOR_SIZE], kind;
	int day;

	*cursor_r = (struct cursor){.day = LAYOUT_ODD};
	if (sscanf(text, "odd-%" SCNd64 "%c", &cursor_r->place.row, &kind) !=
	    2) {
		if (sscanf(text, "%d-%" SCNd64 "%c", &day, &cursor_r->place.row,
			&kind) != 3)
			return -1;
		cursor_r->day = day;
	}
	cursor_r->place.is_leg = kind == 'd';
	format_cursor(cursor_r, written);
	return strcmp(written, text) == 0 ? 0 : -1;
}

int
search_cursor_check(const char *cursor)
{
	struct cursor parsed;

	return parse_cursor(cursor, &parsed);
}

static int
read_candidate(struct day_tables *tables, const struct row_place *place,
    struct arena *arena, struct message_record *record_r)
{
	return place->is_leg
		   ? record_read_leg(tables, place->row, arena, record_r)
		   : record_read(tables, place->row, arena, record_r);
}

static void
add_hit(
    struct run *run, struct day_tables *tables, const struct row_place *place)
{
	struct search_page *page = run->page;
	struct search_hit *hit =
	    arena_append(run->arena, &page->hits, &page->count, sizeof(*hit));
	bool *meant;

	if (hit == NULL ||
	    read_candidate(tables, place, run->arena, &hit->record) != 1) {
		page->count -= hit != NULL;
		return;
	}
	meant = arena_alloc(
	    run->arena, hit->record.recipient_count * sizeof(*meant));
	if (meant != NULL)
		search_matches(run->question->search, &hit->record, meant);
	hit->meant = meant;
}

static bool
is_over(const struct run *run)
{
	return run->page->count >= run->question->limit ||
	       (run->deadline_ns != 0 &&
		   clock_stamp().monotonic_ns >= run->deadline_ns);
}

static void
try(struct run *run, struct day_tables *tables, const struct row_place *place)
{
	struct message_record record;

	arena_reset(run->scratch);
	if (read_candidate(tables, place, run->scratch, &record) == 1 &&
	    search_matches(run->question->search, &record, NULL))
		add_hit(run, tables, place);
}

/* Returns whether there may be more. */
static bool
search_tables(
    struct run *run, struct day_tables *tables, const struct row_place *before)
{
	struct search_rows *rows = search_rows_begin(
	    tables, run->question->search, before, run->lists);
	int64_t end_ns = clock_stamp().monotonic_ns + TURN_NS;
	bool is_turn_over = false;

	while (rows != NULL && !run->is_over && !is_turn_over &&
	       search_rows_next(rows, &run->last.place) == 1) {
		try(run, tables, &run->last.place);
		run->is_over = is_over(run);
		is_turn_over = clock_stamp().monotonic_ns >= end_ns;
	}
	arena_reset(run->lists);
	return is_turn_over && !run->is_over;
}

/* Returns 1 when there may be more, 0, or -1 with a reason. */
static int
search_turn(struct store_reader *reader, struct run *run,
    const struct row_place *before, struct reason *reason)
{
	struct day_tables *tables;
	int result = reader_file(reader->pool, run->last.day, &tables, reason);

	if (result != 1)
		return result;
	result = search_tables(run, tables, before);
	if (database_check(tables->database, reason) != 0)
		result = -1;
	reader_file_done(tables);
	return result;
}

static void
search_day(struct store_reader *reader, struct run *run, int64_t day,
    const struct row_place *before)
{
	struct search_page *page = run->page;
	struct row_place last;
	struct reason reason;
	int result;

	run->last.day = day;
	while ((result = search_turn(reader, run, before, &reason)) == 1) {
		last = run->last.place;
		before = &last;
	}
	if (result < 0) {
		page->incomplete = true;
		page->reason = reason;
	}
}

/* Whether a file may hold what began in the times searched, and its day is not
 * newer than the cursor's. */
static bool
is_searched(const struct run *run, int64_t day, const struct cursor *from)
{
	const struct search *search = run->question->search;

	if (from != NULL &&
	    (from->day == LAYOUT_ODD ? day != LAYOUT_ODD
				     : day != LAYOUT_ODD && day > from->day))
		return false;
	return day == LAYOUT_ODD || search_rows_may_be(search, day);
}

static void
search_days(struct store_reader *reader, struct run *run, const int64_t *days,
    long count, const struct cursor *from)
{
	for (long i = 0; i < count && !run->is_over; i++) {
		bool is_first = from != NULL && days[i] == from->day;

		if (is_searched(run, days[i], from))
			search_day(reader, run, days[i],
			    is_first ? &from->place : NULL);
	}
	run->page->is_last = !run->is_over;
	if (run->is_over)
		format_cursor(&run->last, run->page->cursor);
}

static int
search_from(struct store_reader *reader, struct run *run,
    const struct cursor *from, struct reason *reason)
{
	int64_t *days;
	long count = layout_list(reader->directory, &days, reason);

	if (count < 0)
		return -1;
	search_days(reader, run, days, count, from);
	free(days);
	if (arena_failed(run->arena) || arena_failed(run->lists))
		return reason_set(reason, "too much was found");
	return 0;
}

int
store_search(struct store_reader *reader,
    const struct search_question *question, struct arena *arena,
    struct search_page *page_r, struct reason *reason)
{
	struct run run = {.question = question, .arena = arena, .page = page_r};
	struct cursor from;
	int result;

	*page_r = (struct search_page){.count = 0};
	if (question->cursor != NULL &&
	    parse_cursor(question->cursor, &from) != 0)
		return reason_set(
		    reason, "\"%s\" is no cursor", question->cursor);
	if (question->budget_ns != 0)
		run.deadline_ns =
		    clock_stamp().monotonic_ns + question->budget_ns;
	run.scratch = arena_new(SCRATCH_BYTES);
	run.lists = arena_new(SCRATCH_BYTES);
	result = search_from(
	    reader, &run, question->cursor != NULL ? &from : NULL, reason);
	arena_free(&run.scratch);
	arena_free(&run.lists);
	return result;
}

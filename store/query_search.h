/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query_search: the messages that are searched for, page by page, newest first.
 *
 * Part of query.h, whose rules hold. A page ends when it is full or its time
 * is over, whatever was found until then; its cursor goes on from there. So
 * pages put together are the whole, also while new messages arrive, which are
 * newer than any cursor. They come in the order of their rows: by the time of
 * MAIL FROM, as the log tells it where the milter did not; what a wrong clock
 * dated comes last.
 */
#ifndef STORE_QUERY_SEARCH_H
#define STORE_QUERY_SEARCH_H

#include "base/reason.h"
#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct search;
struct store_reader;

#define SEARCH_CURSOR_SIZE 32

/* Returns 0 for a cursor that some page had, or might have had; else -1. */
int search_cursor_check(const char *cursor);

struct search_question {
	const struct search *search;
	const char *cursor; /* of the page before; NULL: the first page */
	size_t limit;       /* of messages */
	int64_t budget_ns;  /* how long it may take, about; 0: as it needs */
};

struct search_hit {
	struct message_record record;
	const bool *meant; /* for each recipient: is it what is searched for? */
};

struct search_page {
	struct search_hit *hits;
	size_t count;
	bool is_last;                    /* there is nothing behind it */
	char cursor[SEARCH_CURSOR_SIZE]; /* of the next page, unless it is */
	/* A file could not be read, for this reason, and was passed over. */
	bool incomplete;
	struct reason reason;
};

/* All lives in `arena`. Returns 0, or -1 with a reason: no directory, a cursor
 * that is none, the arena's limit. */
int store_search(struct store_reader *reader,
    const struct search_question *question, struct arena *arena,
    struct search_page *page_r, struct reason *reason);

#endif

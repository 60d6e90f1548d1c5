/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search_rows: which rows of one day file may be what is searched for, newest
 * first.
 *
 * Never too few: what is no candidate does not match. Where a term is found by
 * an index there are few; else all rows of the time searched are. Lives in an
 * arena; failures stick to the connection.
 */
#ifndef STORE_SEARCH_ROWS_H
#define STORE_SEARCH_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct day_tables;
struct search;
struct search_rows;

/* A message, or a leg that has none. Of two in one row the message is the
 * newer. */
struct row_place {
	int64_t row;
	bool is_leg;
};

/* Whether the file of a day may have any, by the times searched. */
bool search_rows_may_be(const struct search *search, int64_t day);

/* Those older than `before`; NULL: all. NULL when the arena is full. */
struct search_rows *search_rows_begin(struct day_tables *tables,
    const struct search *search, const struct row_place *before,
    struct arena *arena);

/* Returns 1 with *place_r, 0 at the end, or -1. */
int search_rows_next(struct search_rows *rows, struct row_place *place_r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search_json: a page of a search as JSON, for API and command line alike.
 *
 * No state; any thread.
 */
#ifndef STORE_SEARCH_JSON_H
#define STORE_SEARCH_JSON_H

struct arena;
struct buffer;
struct search_error;
struct search_page;

/* Appends {"messages": [...], "next": CURSOR or null}. Each message is as
 * timeline_json() has it, with "matched", the numbers from 0 of the recipients
 * that are meant. Where a file could not be read, "incomplete" says why.
 * `arena` is used meanwhile. Returns 0, or -1 when it is full. */
int search_page_json(
    const struct search_page *page, struct arena *arena, struct buffer *out);

/* Appends {"error": REASON, "at": BYTE, "size": BYTES}. */
void search_error_json(const struct search_error *error, struct buffer *out);

#endif

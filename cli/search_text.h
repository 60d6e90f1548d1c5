/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search_text: what a search found, as people read it: each message with its
 * time and sender, and the recipients that are meant, with how long it took and
 * the last that is known of those that are not delivered. Pure.
 */
#ifndef CLI_SEARCH_TEXT_H
#define CLI_SEARCH_TEXT_H

#include <stddef.h>

struct arena;
struct buffer;
struct search_error;
struct search_hit;
struct text_style;

/* Appends one message. `arena` is used meanwhile. Returns 0, or -1 when it is
 * full. */
int search_text_hit(const struct search_hit *hit,
    const struct text_style *style, struct arena *arena, struct buffer *out);

/* Appends the search `text` with the wrong word marked below it. */
void search_text_error(const char *text, const struct search_error *error,
    const struct text_style *style, struct buffer *out);

#endif

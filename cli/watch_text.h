/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_text: one thing that happened to a recipient, as a line. Pure.
 */
#ifndef CLI_WATCH_TEXT_H
#define CLI_WATCH_TEXT_H

struct arena;
struct buffer;
struct feed_hit;
struct text_style;

/* Appends the line; `arena` is used meanwhile. Returns 0, or -1 when it is
 * full. */
int watch_text_line(const struct feed_hit *hit, const struct text_style *style,
    struct arena *arena, struct buffer *out);

/* The same as a JSON object, exact. */
int watch_json_line(
    const struct feed_hit *hit, struct arena *arena, struct buffer *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timeline_text: one message's timeline as an administrator reads it.
 *
 * Who sent what when; each phase with its offset from MAIL FROM, its duration
 * and a bar that shows where the time went; each recipient with its state,
 * latency and the server's reply. Recipients that went the same way share their
 * phases. Pure: the same input gives the same bytes (times of day are UTC, and
 * local time behind it where that differs).
 */
#ifndef CLI_TIMELINE_TEXT_H
#define CLI_TIMELINE_TEXT_H

struct buffer;
struct text_style;
struct timeline;

/* Appends the text, ending with a newline. */
void timeline_text(const struct timeline *timeline,
    const struct text_style *style, struct buffer *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text_page: write text for a terminal into a buffer, knowing the column.
 *
 * Everything written is made harmless on the way: control characters, bytes
 * that are not UTF-8 and characters that turn the writing direction become '?',
 * line breaks and tabs a blank, and characters beyond ASCII '?' where the
 * terminal has no UTF-8. Only page_colour() writes escape sequences. Pure; not
 * thread-safe.
 */
#ifndef CLI_TEXT_PAGE_H
#define CLI_TEXT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

struct text_style {
	unsigned width; /* columns; text is wrapped, never cut */
	bool colour;
	bool utf8;
};

struct text_page {
	struct text_style style;
	struct buffer *out;
	unsigned column; /* where the next character goes, from 0 */
};

enum page_colour {
	PAGE_PLAIN,
	PAGE_BOLD,
	PAGE_GOOD,
	PAGE_BAD,
	PAGE_WARN,
	PAGE_BAR
};

/* Columns that `text` takes, one for each character. */
unsigned page_columns(const char *text);

void page_text(struct text_page *page, const char *text);

/* A name from a table, with blanks for its underscores. */
void page_name(struct text_page *page, const char *name);

/* "2026-11-30 07:47:42", of UTC as everywhere. */
void page_time(struct text_page *page, int64_t wall_ns);

void page_format(struct text_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Blanks up to `column`; at least one, unless the line is empty. */
void page_pad(struct text_page *page, unsigned column);

/* Blanks and the text so that it ends before `column`. */
void page_right(struct text_page *page, const char *text, unsigned column);

/* One more word of a paragraph whose lines begin at column `left`: behind a
 * blank, or in a new line when it would go beyond the width. A word longer than
 * a line has one of its own. */
void page_word(struct text_page *page, const char *word, unsigned left);

/* All words of the text; the paragraph begins where the page stands. */
void page_wrapped(struct text_page *page, const char *text);

/* What follows has this colour, until the next call. */
void page_colour(struct text_page *page, enum page_colour colour);

void page_end_line(struct text_page *page);

/* A bar over the rest of the line, of an interval within a whole that takes the
 * rest of the line. All in the same unit. */
struct page_bar {
	double begin, end;
	double whole_begin, whole_end;
};

void page_bar(struct text_page *page, const struct page_bar *bar);

#endif

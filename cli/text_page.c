/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page that the text renderers of the command line write on. Owns what a
 * terminal may be sent: nothing of a stranger's text reaches it unchecked.
 */
#include "cli/text_page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"

static const char *const colours[] = {
    [PAGE_PLAIN] = "\033[0m",
    [PAGE_BOLD] = "\033[1m",
    [PAGE_GOOD] = "\033[32m",
    [PAGE_BAD] = "\033[1;31m",
    [PAGE_WARN] = "\033[33m",
    [PAGE_BAR] = "\033[36m",
};

/* Left blocks of U+2588 and below: index n fills n eighths of a cell. */
static const char *const blocks[] = {"", "\xe2\x96\x8f", "\xe2\x96\x8e",
    "\xe2\x96\x8d", "\xe2\x96\x8c", "\xe2\x96\x8b", "\xe2\x96\x8a",
    "\xe2\x96\x89", "\xe2\x96\x88"};

/* U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069: with them a stranger's
 * text could make the rest of a line read differently. */
static bool
turns_direction(const char *character)
{
	const unsigned char *bytes = (const unsigned char *)character;

	if (bytes[0] != 0xe2)
		return false;
	if (bytes[1] == 0x81)
		return bytes[2] >= 0xa6 && bytes[2] <= 0xa9;
	return bytes[1] == 0x80 && (bytes[2] == 0x8e || bytes[2] == 0x8f ||
				       (bytes[2] >= 0xaa && bytes[2] <= 0xae));
}

/* Writes what text_sanitize() left over. */
static void
append_harmless(struct text_page *page, const char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t character = text_character(text + at, size - at);
		bool ascii = character <= 1;

		if (!ascii && (!page->style.utf8 || turns_direction(text + at)))
			buffer_append_string(page->out, "?");
		else
			buffer_append(page->out, text + at, character);
		page->column++;
		at += character;
	}
}

static char *
harmless_copy(const char *text)
{
	char *copy = memory_string(text);

	for (char *at = copy; (at = strpbrk(at, "\r\n\t")) != NULL;)
		*at = ' ';
	text_sanitize(copy, strlen(copy));
	return copy;
}

unsigned
page_columns(const char *text)
{
	char *copy = harmless_copy(text);
	size_t size = strlen(copy), at = 0;
	unsigned columns = 0;

	for (; at < size; columns++)
		at += text_character(copy + at, size - at);
	free(copy);
	return columns;
}

void
page_text(struct text_page *page, const char *text)
{
	char *copy = harmless_copy(text);

	append_harmless(page, copy, strlen(copy));
	free(copy);
}

void
page_time(struct text_page *page, int64_t wall_ns)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(wall_ns, text);
	text[sizeof("2026-11-30T07:47:42") - 1] = '\0';
	text[sizeof("2026-11-30") - 1] = ' ';
	page_text(page, text);
}

void
page_format(struct text_page *page, const char *format, ...)
{
	va_list arguments;
	char *formatted;
	int size;

	va_start(arguments, format);
	size = vasprintf(&formatted, format, arguments);
	va_end(arguments);
	if (size < 0)
		return;
	page_text(page, formatted);
	free(formatted);
}

void
page_pad(struct text_page *page, unsigned column)
{
	if (page->column > 0 && page->column >= column)
		column = page->column + 1;
	for (; page->column < column; page->column++)
		buffer_append_string(page->out, " ");
}

void
page_right(struct text_page *page, const char *text, unsigned column)
{
	unsigned columns = page_columns(text);

	page_pad(page, column > columns ? column - columns : 0);
	page_text(page, text);
}

void
page_name(struct text_page *page, const char *name)
{
	char *copy = memory_string(name);

	for (char *at = copy; (at = strchr(at, '_')) != NULL;)
		*at = ' ';
	page_text(page, copy);
	free(copy);
}

void
page_word(struct text_page *page, const char *word, unsigned left)
{
	unsigned columns = page_columns(word);

	if (page->column > left &&
	    page->column + 1 + columns > page->style.width) {
		page_end_line(page);
		page_pad(page, left);
	} else if (page->column > left) {
		page_text(page, " ");
	}
	page_text(page, word);
}

void
page_wrapped(struct text_page *page, const char *text)
{
	unsigned left = page->column;
	char *copy = memory_string(text), *rest = copy, *word;

	while ((word = strsep(&rest, " \r\n\t")) != NULL) {
		if (word[0] != '\0')
			page_word(page, word, left);
	}
	free(copy);
}

void
page_colour(struct text_page *page, enum page_colour colour)
{
	if (page->style.colour)
		buffer_append_string(page->out, colours[colour]);
}

void
page_end_line(struct text_page *page)
{
	buffer_append_string(page->out, "\n");
	page->column = 0;
}

static double
clamp(double value, double highest)
{
	if (value < 0)
		return 0;
	return value < highest ? value : highest;
}

/* Where the bar begins, in whole cells, and how many eighths it fills. */
static void
bar_extent(const struct page_bar *bar, unsigned cells, unsigned *cell_r,
    unsigned *eighths_r)
{
	double whole = bar->whole_end - bar->whole_begin;
	double scale = whole > 0 ? cells / whole : 0;
	double begin = clamp((bar->begin - bar->whole_begin) * scale, cells);
	double end = clamp((bar->end - bar->whole_begin) * scale, cells);

	*cell_r = (unsigned)begin < cells ? (unsigned)begin : cells - 1;
	*eighths_r = (unsigned)(clamp(end - *cell_r, cells) * 8 + 0.5);
	if (*eighths_r == 0)
		*eighths_r = 1;
}

void
page_bar(struct text_page *page, const struct page_bar *bar)
{
	unsigned cell, eighths;

	if (page->column >= page->style.width)
		return;
	bar_extent(bar, page->style.width - page->column, &cell, &eighths);
	if (cell > 0)
		page_pad(page, page->column + cell);
	if (!page->style.utf8) {
		if (eighths < 4)
			page_text(page, "|");
		for (; eighths >= 4; eighths -= eighths < 8 ? eighths : 8)
			page_text(page, "#");
		return;
	}
	for (; eighths > 0; eighths -= eighths < 8 ? eighths : 8)
		page_text(page, blocks[eighths < 8 ? eighths : 8]);
}

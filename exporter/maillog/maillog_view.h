/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maillog_view: bytes of a log line, where they stand.
 *
 * Not NUL-terminated, owned by whoever owns the line; a zeroed struct is an
 * empty view. No state, any thread.
 */
#ifndef EXPORTER_MAILLOG_MAILLOG_VIEW_H
#define EXPORTER_MAILLOG_MAILLOG_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct maillog_view {
	const char *at;
	size_t size;
};

/* A string literal as a view; also in initialisers. */
#define MAILLOG_LITERAL(text)                                                  \
	{                                                                      \
		(text), sizeof(text) - 1                                       \
	}

/* NULL: empty. */
static inline struct maillog_view
maillog_view_of(const char *text)
{
	return (struct maillog_view){text, text != NULL ? strlen(text) : 0};
}

static inline bool
maillog_view_equal(struct maillog_view left, struct maillog_view right)
{
	return left.size == right.size &&
	       (left.size == 0 || memcmp(left.at, right.at, left.size) == 0);
}

static inline bool
maillog_view_begins(struct maillog_view view, struct maillog_view prefix)
{
	return view.size >= prefix.size &&
	       memcmp(view.at, prefix.at, prefix.size) == 0;
}

/* The view without its first `size` bytes, which it must have. */
static inline struct maillog_view
maillog_view_behind(struct maillog_view view, size_t size)
{
	return (struct maillog_view){view.at + size, view.size - size};
}

/* Takes `prefix` off the front of *view. Returns whether it was there. */
bool maillog_view_skip(struct maillog_view *view, struct maillog_view prefix);

/* Where `part` begins for the first or the last time; SIZE_MAX: nowhere. */
size_t maillog_view_find(struct maillog_view view, struct maillog_view part);
size_t maillog_view_find_last(
    struct maillog_view view, struct maillog_view part);

/* What stands between the first `open` and the next `close` behind it; empty
 * when they are not both there. */
struct maillog_view maillog_view_between(struct maillog_view view,
    struct maillog_view open, struct maillog_view close);

/* How many of the first bytes are letters or digits (ASCII). */
size_t maillog_view_word(struct maillog_view view);

/* Reads a decimal number that fills the view. Returns 0, or -1 when it is
 * anything else or beyond 18 digits. */
int maillog_view_number(struct maillog_view view, int64_t *number_r);

/* Reads the decimal digits in front. Returns how many, at most 18; with 0,
 * *number_r is 0. */
size_t maillog_view_digits(struct maillog_view view, int64_t *number_r);

/* Reads seconds as Postfix writes delays ("0.05", "299", "1e+03" never) into
 * nanoseconds. Returns 0, or -1. */
int maillog_view_seconds(struct maillog_view view, int64_t *ns_r);

#endif

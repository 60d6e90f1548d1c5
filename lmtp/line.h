/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line: cut one line off the front of received bytes.
 *
 * A line ends with LF; one CR before it belongs to the end. That is what
 * Postfix and Dovecot take for a line in commands and replies, so that both
 * sides of the hook and the hook itself see the same boundaries.
 */
#ifndef LMTP_LINE_H
#define LMTP_LINE_H

#include <stddef.h>

struct line {
	const char *text; /* points into the bytes given; not NUL-terminated */
	size_t size;      /* without the line end */
	size_t total;     /* with it */
};

enum line_state {
	LINE_WHOLE,
	LINE_PARTIAL, /* no line end yet */
	LINE_TOO_LONG /* `limit` bytes without a line end among them */
};

enum line_state line_take(
    const void *data, size_t size, size_t limit, struct line *line_r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line: pure; used by the command and reply parsers on the event loop's thread.
 */
#include "lmtp/line.h"

#include <string.h>

enum line_state
line_take(const void *data, size_t size, size_t limit, struct line *line_r)
{
	size_t visible = size < limit ? size : limit;
	const char *end;

	/* memchr(3) of nothing may be handed NULL. */
	if (visible == 0)
		return LINE_PARTIAL;
	end = memchr(data, '\n', visible);
	if (end == NULL)
		return size < limit ? LINE_PARTIAL : LINE_TOO_LONG;

	line_r->text = data;
	line_r->size = (size_t)(end - line_r->text);
	line_r->total = line_r->size + 1;
	if (line_r->size > 0 && line_r->text[line_r->size - 1] == '\r')
		line_r->size--;
	return LINE_WHOLE;
}

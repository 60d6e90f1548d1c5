/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reply: pure; called by the dialogue on the event loop's thread.
 */
#include "lmtp/reply.h"

#include "lmtp/line.h"

#include <string.h>

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

void
reply_line_parse(const struct line *line, struct reply_line *line_r)
{
	const char *text = line->text;

	*line_r = (struct reply_line){.text = text, .size = line->size};
	if (line->size < 3 || !is_digit(text[0]) || !is_digit(text[1]) ||
	    !is_digit(text[2]))
		return;
	if (line->size > 3 && text[3] != ' ' && text[3] != '-')
		return;
	line_r->code = (uint32_t)((text[0] - '0') * 100 + (text[1] - '0') * 10 +
				  (text[2] - '0'));
	line_r->last = line->size == 3 || text[3] == ' ';
	line_r->text += line->size == 3 ? 3 : 4;
	line_r->size -= line->size == 3 ? 3 : 4;
}

enum reply_state
reply_take(struct reply_scan *scan, const void *data, size_t size,
    struct reply *reply_r)
{
	const char *bytes = data;
	struct reply_line parsed;
	struct line line;

	for (;;) {
		switch (line_take(bytes + scan->scanned, size - scan->scanned,
		    REPLY_SIZE_MAX - scan->scanned, &line)) {
		case LINE_PARTIAL:
			return REPLY_PARTIAL;
		case LINE_TOO_LONG:
			return REPLY_TOO_LONG;
		case LINE_WHOLE:
			break;
		}
		scan->scanned += line.total;
		reply_line_parse(&line, &parsed);
		if (parsed.last)
			break;
		if (scan->scanned == REPLY_SIZE_MAX)
			return REPLY_TOO_LONG;
	}
	reply_r->data = data;
	reply_r->size = scan->scanned;
	reply_r->code = parsed.code;
	scan->scanned = 0;
	return REPLY_WHOLE;
}

bool
reply_is_positive(const struct reply *reply)
{
	return reply->code / 100 == 2;
}

/* How many digits, at most three, stand at the beginning. */
static size_t
digits(const char *text, size_t size)
{
	size_t count = 0;

	while (count < size && count < 3 && is_digit(text[count]))
		count++;
	return count;
}

/* The size of an enhanced status code (RFC 2034) at the beginning of the text
 * whose class agrees with the reply code; 0 when there is none. */
static size_t
enhanced_size(const struct reply_line *line)
{
	size_t used = 1;
	int part;

	if (line->size < 5 || line->text[0] != (char)('0' + line->code / 100) ||
	    strchr("245", line->text[0]) == NULL)
		return 0;
	for (part = 0; part < 2; part++) {
		size_t count;

		if (used == line->size || line->text[used] != '.')
			return 0;
		used++;
		count = digits(line->text + used, line->size - used);
		if (count == 0)
			return 0;
		used += count;
	}
	return used == line->size || line->text[used] == ' ' ? used : 0;
}

/* Takes the enhanced code off the line's text. */
static void
take_enhanced(struct reply_line *line, char enhanced_r[REPLY_ENHANCED_SIZE])
{
	size_t size = enhanced_size(line);

	if (size == 0)
		return;
	memcpy(enhanced_r, line->text, size);
	enhanced_r[size] = '\0';
	if (size < line->size)
		size++;
	line->text += size;
	line->size -= size;
}

static void
append_text(struct reply_description *description, size_t *used,
    const struct reply_line *line)
{
	size_t room;
	size_t size;

	if (*used > 0 && *used + 1 < sizeof(description->text))
		description->text[(*used)++] = '\n';
	room = sizeof(description->text) - 1 - *used;
	size = line->size < room ? line->size : room;
	memcpy(description->text + *used, line->text, size);
	*used += size;
}

void
reply_describe(
    const struct reply *reply, struct reply_description *description_r)
{
	size_t offset = 0;
	size_t used = 0;
	struct line line;

	description_r->code = reply->code;
	description_r->enhanced[0] = '\0';
	while (line_take(reply->data + offset, reply->size - offset,
		   reply->size - offset, &line) == LINE_WHOLE) {
		struct reply_line parsed;

		offset += line.total;
		reply_line_parse(&line, &parsed);
		if (parsed.code != 0)
			take_enhanced(&parsed, description_r->enhanced);
		append_text(description_r, &used, &parsed);
	}
	description_r->text[used] = '\0';
}

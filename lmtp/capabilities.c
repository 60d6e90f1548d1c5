/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capabilities: pure; called by the dialogue once a connection.
 */
#include "lmtp/capabilities.h"

#include "base/buffer.h"
#include "lmtp/line.h"
#include "lmtp/reply.h"

#include <string.h>
#include <strings.h>

static const char *const not_passed[] = {
    "AUTH",
    "BINARYMIME",
    "BURL",
    "CHUNKING",
    "DSN",
    "STARTTLS",
    "XCLIENT",
    "XFORWARD",
    "XRCPTFORWARD",
};

static bool
keyword_is(const struct reply_line *line, const char *keyword)
{
	size_t size = 0;

	while (size < line->size && line->text[size] != ' ' &&
	       line->text[size] != '=')
		size++;
	return strlen(keyword) == size &&
	       strncasecmp(keyword, line->text, size) == 0;
}

static bool
is_passed(const struct reply_line *line)
{
	for (size_t i = 0; i < sizeof(not_passed) / sizeof(not_passed[0]); i++)
		if (keyword_is(line, not_passed[i]))
			return false;
	return true;
}

void
capabilities_rewrite(
    const struct reply *reply, struct buffer *out, bool *pipelining_r)
{
	bool greeted = false;
	size_t offset = 0;
	struct line line;

	*pipelining_r = false;
	while (line_take(reply->data + offset, reply->size - offset,
		   reply->size - offset, &line) == LINE_WHOLE) {
		struct reply_line parsed;

		offset += line.total;
		reply_line_parse(&line, &parsed);
		if (parsed.code == 0) {
			buffer_append(out, line.text, line.total);
			continue;
		}
		if (!greeted || is_passed(&parsed)) {
			buffer_append_format(out, "%03u-", reply->code);
			buffer_append(out, parsed.text, parsed.size);
			buffer_append_string(out, "\r\n");
		}
		if (greeted && keyword_is(&parsed, "PIPELINING"))
			*pipelining_r = true;
		greeted = true;
	}
	buffer_append_format(out, "%03u XFORWARD IDENT\r\n", reply->code);
}

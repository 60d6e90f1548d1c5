/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by whoever writes JSON piece by piece. */
#include "base/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"

void
json_text(struct buffer *out, const char *text)
{
	char *copy;

	if (text == NULL) {
		buffer_append_string(out, "null");
		return;
	}
	copy = memory_string(text);
	text_sanitize(copy, strlen(copy));
	buffer_append_string(out, "\"");
	for (const char *at = copy; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\')
			buffer_append_string(out, "\\");
		buffer_append(out, at, 1);
	}
	buffer_append_string(out, "\"");
	free(copy);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes pages of searches. Called by the exporter's HTTP threads and by the
 * command line. */
#include "store/search_json.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_text.h"
#include "store/query_search.h"
#include "store/search.h"
#include "store/timeline.h"

static void
append_matched(const struct search_hit *hit, struct buffer *out)
{
	const char *between = "";

	buffer_append_string(out, "{\"matched\": [");
	for (size_t i = 0; i < hit->record.recipient_count; i++) {
		if (!hit->meant[i])
			continue;
		buffer_append_format(out, "%s%zu", between, i);
		between = ", ";
	}
	buffer_append_string(out, "], ");
}

static int
append_hit(
    const struct search_hit *hit, struct arena *arena, struct buffer *out)
{
	struct timeline *timeline = timeline_build(&hit->record, arena);
	char *json;

	if (timeline == NULL)
		return -1;
	json = timeline_json(timeline);
	append_matched(hit, out);
	/* Behind its own brace. */
	buffer_append_string(out, json + 1);
	free(json);
	return 0;
}

int
search_page_json(
    const struct search_page *page, struct arena *arena, struct buffer *out)
{
	buffer_append_string(out, "{\"messages\": [");
	for (size_t i = 0; i < page->count; i++) {
		buffer_append_string(out, i > 0 ? ",\n" : "\n");
		if (append_hit(&page->hits[i], arena, out) != 0)
			return -1;
	}
	buffer_append_string(out, "\n], \"next\": ");
	if (page->is_last)
		buffer_append_string(out, "null");
	else
		json_text(out, page->cursor);
	if (page->incomplete) {
		buffer_append_string(out, ", \"incomplete\": ");
		json_text(out, page->reason.text);
	}
	buffer_append_string(out, "}\n");
	return 0;
}

void
search_error_json(const struct search_error *error, struct buffer *out)
{
	buffer_append_string(out, "{\"error\": ");
	json_text(out, error->reason.text);
	buffer_append_format(
	    out, ", \"at\": %zu, \"size\": %zu}\n", error->at, error->size);
}

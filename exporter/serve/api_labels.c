/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the store, writes the list. Called on the HTTP threads. */
#include "exporter/serve/api_labels.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/reason.h"
#include "exporter/serve/api.h"
#include "exporter/serve/api_readers.h"
#include "store/query_labels.h"

/* Of each day and kind there are 64; far more than ten years of them. */
#define LABELS_BYTES (64u << 20)

static enum series_kind
kind_of(const char *by)
{
	unsigned kind = 0;

	while (kind < SERIES_KINDS &&
	       strcmp(series_kind_name((enum series_kind)kind), by) != 0)
		kind++;
	return (enum series_kind)kind;
}

static void
append_labels(const struct label_answer *answer, struct buffer *out)
{
	buffer_append_string(out, "{\"labels\": [");
	for (size_t i = 0; i < answer->count && i < API_LABELS_MAX; i++) {
		if (i > 0)
			buffer_append_string(out, ", ");
		json_text(out, answer->labels[i]);
	}
	buffer_append_string(out, "]");
	if (answer->count > API_LABELS_MAX)
		buffer_append_string(out, ", \"more\": true");
	if (answer->gap.is_there)
		buffer_append_string(out, ", \"incomplete\": true");
	buffer_append_string(out, "}\n");
}

unsigned
api_labels(struct api *api, const char *by, struct buffer *out)
{
	enum series_kind kind = kind_of(by);
	struct label_answer answer;
	struct store_reader *reader;
	struct arena *arena;
	struct reason reason;
	int result = -1;

	if (kind == SERIES_KINDS)
		return api_error(out, 400, "by takes host, relay or provider");
	arena = arena_new(LABELS_BYTES);
	reader = api_readers_take(api_readers(api), &reason);
	if (reader != NULL) {
		result =
		    store_latency_labels(reader, kind, arena, &answer, &reason);
		api_readers_return(api_readers(api), reader);
	}
	if (result == 0)
		append_labels(&answer, out);
	else
		log_warn("labels=failed reason=\"%s\"", reason.text);
	arena_free(&arena);
	return result == 0
		   ? 200
		   : api_error(out, 503, "the store cannot be read now");
}

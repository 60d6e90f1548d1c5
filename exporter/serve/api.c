/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages for HTTP, one by its key or many by a search. Called on the HTTP
 * threads.
 */
#include "exporter/serve/api.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "exporter/serve/api_readers.h"
#include "store/query.h"
#include "store/query_search.h"
#include "store/search.h"
#include "store/search_json.h"
#include "store/search_pseudonym.h"
#include "store/timeline.h"

#define KEY_MAX_BYTES 1024
#define MESSAGES_MAX 20
#define ANSWER_BYTES (64u << 20)
#define LIMIT_DEFAULT 50
#define LIMIT_MAX 500
/* After which a page is handed out as far as it is. */
#define SEARCH_BUDGET_NS (100 * INT64_C(1000000))

struct api {
	struct api_readers *readers;
	char *store_directory;
};

struct api *
api_new(const char *store_directory)
{
	struct api *api = memory_zeroed(1, sizeof(*api));

	api->readers = api_readers_new(store_directory);
	api->store_directory = memory_string(store_directory);
	return api;
}

void
api_free(struct api **api)
{
	if (*api == NULL)
		return;
	api_readers_free(&(*api)->readers);
	free((*api)->store_directory);
	free(*api);
	*api = NULL;
}

void
api_close_gone(struct api *api, bool waits)
{
	api_readers_close_gone(api->readers, waits);
}

struct api_readers *
api_readers(struct api *api)
{
	return api->readers;
}

unsigned
api_error(struct buffer *out, unsigned status, const char *error)
{
	buffer_clear(out);
	buffer_append_format(out, "{\"error\": \"%s\"}\n", error);
	return status;
}

static int
append_messages(const struct message_record *records, long count,
    struct arena *arena, struct buffer *out)
{
	buffer_append_string(out, "{\"messages\": [");
	if (timelines_json(records, (size_t)count, arena, out) != 0)
		return -1;
	buffer_append_string(out, "\n]}\n");
	return 0;
}

static unsigned
answer_messages(struct store_reader *reader, const char *key,
    struct buffer *out, struct reason *reason)
{
	struct arena *arena = arena_new(ANSWER_BYTES);
	struct message_record *records;
	unsigned status = 200;
	long count;

	count = store_find(reader, key, MESSAGES_MAX, arena, &records, reason);
	if (count < 0)
		status = 503;
	else if (count == 0)
		status = api_error(out, 404, "no such message");
	else if (append_messages(records, count, arena, out) != 0) {
		reason_set(reason, "the answer is too large");
		status = 503;
	}
	arena_free(&arena);
	return status;
}

unsigned
api_messages(struct api *api, const char *key, struct buffer *out)
{
	struct reason reason = {""};
	struct store_reader *reader;
	unsigned status = 503;

	if (strlen(key) > KEY_MAX_BYTES)
		return api_error(out, 414, "the key is too long");
	reader = api_readers_take(api->readers, &reason);
	if (reader != NULL) {
		status = answer_messages(reader, key, out, &reason);
		api_readers_return(api->readers, reader);
	}
	if (status == 503) {
		log_warn("lookup=failed reason=\"%s\"", reason.text);
		api_error(out, 503, "the store cannot be read now");
	}
	return status;
}

/* Returns 0, or -1 for what is no number of messages. */
static int
read_limit(const char *text, size_t *limit_r)
{
	char *end;
	unsigned long limit = strtoul(text, &end, 10);

	*limit_r = LIMIT_DEFAULT;
	if (*text == '\0')
		return 0;
	if (*text < '0' || *text > '9' || *end != '\0' || limit < 1 ||
	    limit > LIMIT_MAX)
		return -1;
	*limit_r = limit;
	return 0;
}

static unsigned
answer_search(struct store_reader *reader,
    const struct search_question *question, struct buffer *out,
    struct reason *reason)
{
	struct arena *arena = arena_new(ANSWER_BYTES);
	struct search_page page;
	unsigned status = 200;

	if (store_search(reader, question, arena, &page, reason) != 0)
		status = 503;
	else if (search_page_json(&page, arena, out) != 0) {
		reason_set(reason, "the answer is too large");
		status = 503;
	}
	arena_free(&arena);
	return status;
}

/* `search`, the question's, lives in `arena`. */
static unsigned
run_search(struct api *api, const struct search_question *question,
    struct search *search, struct arena *arena, struct buffer *out)
{
	struct reason reason = {""};
	struct store_reader *reader = NULL;
	unsigned status = 503;

	if (search_add_pseudonyms(
		api->store_directory, search, arena, &reason) == 0)
		reader = api_readers_take(api->readers, &reason);
	if (reader != NULL) {
		status = answer_search(reader, question, out, &reason);
		api_readers_return(api->readers, reader);
	}
	if (status == 503) {
		log_warn("search=failed reason=\"%s\"", reason.text);
		api_error(out, 503, "the store cannot be read now");
	}
	return status;
}

unsigned
api_search(struct api *api, const struct api_search *asked, struct buffer *out)
{
	struct arena *arena = arena_new(ANSWER_BYTES);
	struct search search;
	struct search_error error;
	struct search_question question = {
	    .search = &search, .budget_ns = SEARCH_BUDGET_NS};
	unsigned status = 400;

	if (*asked->cursor != '\0')
		question.cursor = asked->cursor;
	if (read_limit(asked->limit, &question.limit) != 0)
		api_error(out, 400, "limit takes a number from 1 to 500");
	else if (question.cursor != NULL &&
		 search_cursor_check(question.cursor) != 0)
		api_error(out, 400, "before takes the next of an answer");
	else if (search_parse(asked->text, clock_stamp().wall_ns, arena,
		     &search, &error) != 0)
		search_error_json(&error, out);
	else
		status = run_search(api, &question, &search, arena, out);
	arena_free(&arena);
	return status;
}

unsigned
api_pseudonym(struct api *api, const char *local, struct buffer *out)
{
	char found[SEARCH_PSEUDONYM_SIZE];
	struct reason reason;

	if (*local == '\0')
		return api_error(
		    out, 400, "local takes what is before the @ of an address");
	switch (search_pseudonym(api->store_directory, local, found, &reason)) {
	case 1:
		buffer_append_format(out, "{\"pseudonym\": \"%s\"}\n", found);
		return 200;
	case 0:
		return api_error(out, 404, "this store has no pseudonyms");
	default:
		log_warn("pseudonym=failed reason=\"%s\"", reason.text);
		return api_error(out, 503, "the store cannot be read now");
	}
}

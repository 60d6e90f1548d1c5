/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Message lookups for HTTP. Called on the HTTP threads; readers of the store
 * are opened when first needed and kept. Beside the ingest thread, which
 * writes, they see what is committed.
 */
#include "exporter/serve/api.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "exporter/serve/http.h"
#include "store/query.h"
#include "store/timeline.h"

#define KEY_MAX_BYTES 1024
#define MESSAGES_MAX 20
#define ANSWER_BYTES (64u << 20)

struct api {
	char *store_directory;
	pthread_mutex_t lock;
	struct store_reader *idle[HTTP_THREADS];
	size_t idle_count;
};

struct api *
api_new(const char *store_directory)
{
	struct api *api = memory_zeroed(1, sizeof(*api));

	api->store_directory = memory_string(store_directory);
	pthread_mutex_init(&api->lock, NULL);
	return api;
}

void
api_free(struct api **api)
{
	if (*api == NULL)
		return;
	while ((*api)->idle_count > 0)
		store_reader_free(&(*api)->idle[--(*api)->idle_count]);
	pthread_mutex_destroy(&(*api)->lock);
	free((*api)->store_directory);
	free(*api);
	*api = NULL;
}

static struct store_reader *
reader_take(struct api *api, struct reason *reason)
{
	struct store_reader *reader = NULL;

	pthread_mutex_lock(&api->lock);
	if (api->idle_count > 0)
		reader = api->idle[--api->idle_count];
	pthread_mutex_unlock(&api->lock);
	return reader != NULL ? reader
			      : store_reader_open(api->store_directory, reason);
}

static void
reader_return(struct api *api, struct store_reader *reader)
{
	pthread_mutex_lock(&api->lock);
	if (api->idle_count < HTTP_THREADS) {
		api->idle[api->idle_count++] = reader;
		reader = NULL;
	}
	pthread_mutex_unlock(&api->lock);
	store_reader_free(&reader);
}

static unsigned
answer_error(struct buffer *out, unsigned status, const char *error)
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
	for (long i = 0; i < count; i++) {
		struct timeline *timeline = timeline_build(&records[i], arena);
		char *json;

		if (timeline == NULL)
			return -1;
		json = timeline_json(timeline);
		buffer_append_string(out, i > 0 ? ",\n" : "\n");
		buffer_append_string(out, json);
		free(json);
	}
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
		status = answer_error(out, 404, "no such message");
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
		return answer_error(out, 414, "the key is too long");
	reader = reader_take(api, &reason);
	if (reader != NULL) {
		status = answer_messages(reader, key, out, &reason);
		reader_return(api, reader);
	}
	if (status == 503) {
		log_warn("lookup=failed reason=\"%s\"", reason.text);
		answer_error(out, 503, "the store cannot be read now");
	}
	return status;
}

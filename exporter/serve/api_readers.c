/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readers are opened when first needed. Called on the HTTP threads; beside the
 * ingest thread, which writes, readers see what is committed.
 */
#include "exporter/serve/api_readers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "exporter/serve/http.h"
#include "store/query.h"

struct api_readers {
	char *store_directory;
	pthread_mutex_t lock;
	pthread_cond_t gone_are_closed;
	struct store_reader *idle[HTTP_THREADS];
	size_t idle_count;
	size_t taken;
	/* Some reader that is taken may have such files. Until they are closed
	 * nobody opens any: what is left of one would be shared. */
	bool has_gone;
};

struct api_readers *
api_readers_new(const char *store_directory)
{
	struct api_readers *readers = memory_zeroed(1, sizeof(*readers));

	readers->store_directory = memory_string(store_directory);
	pthread_mutex_init(&readers->lock, NULL);
	pthread_cond_init(&readers->gone_are_closed, NULL);
	return readers;
}

void
api_readers_free(struct api_readers **readers)
{
	if (*readers == NULL)
		return;
	while ((*readers)->idle_count > 0)
		store_reader_free(&(*readers)->idle[--(*readers)->idle_count]);
	pthread_cond_destroy(&(*readers)->gone_are_closed);
	pthread_mutex_destroy(&(*readers)->lock);
	free((*readers)->store_directory);
	free(*readers);
	*readers = NULL;
}

struct store_reader *
api_readers_take(struct api_readers *readers, struct reason *reason)
{
	struct store_reader *reader = NULL;

	pthread_mutex_lock(&readers->lock);
	while (readers->has_gone)
		pthread_cond_wait(&readers->gone_are_closed, &readers->lock);
	if (readers->idle_count > 0)
		reader = readers->idle[--readers->idle_count];
	readers->taken++;
	pthread_mutex_unlock(&readers->lock);
	if (reader == NULL)
		reader = store_reader_open(readers->store_directory, reason);
	if (reader == NULL)
		api_readers_return(readers, NULL);
	return reader;
}

void
api_readers_return(struct api_readers *readers, struct store_reader *reader)
{
	pthread_mutex_lock(&readers->lock);
	if (readers->has_gone && reader != NULL)
		store_reader_close_gone(reader);
	if (--readers->taken == 0) {
		readers->has_gone = false;
		pthread_cond_broadcast(&readers->gone_are_closed);
	}
	if (reader != NULL && readers->idle_count < HTTP_THREADS) {
		readers->idle[readers->idle_count++] = reader;
		reader = NULL;
	}
	pthread_mutex_unlock(&readers->lock);
	store_reader_free(&reader);
}

void
api_readers_close_gone(struct api_readers *readers, bool waits)
{
	pthread_mutex_lock(&readers->lock);
	for (size_t i = 0; i < readers->idle_count; i++)
		store_reader_close_gone(readers->idle[i]);
	readers->has_gone = readers->taken > 0;
	while (waits && readers->has_gone)
		pthread_cond_wait(&readers->gone_are_closed, &readers->lock);
	pthread_mutex_unlock(&readers->lock);
}

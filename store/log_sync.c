/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that syncs.
 *
 * When a log cannot be synced the kernel forgets what it could not write, and
 * would say next time that all is well; so the log is copied into its file
 * then, which writes everything again.
 */
#include "store/log_sync.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "base/thread.h"
#include "store/database.h"

struct log_file {
	char *path;
	bool is_to_be_copied;
};

struct log_files {
	struct log_file *items;
	size_t count;
};

struct log_sync {
	pthread_t thread;
	struct log_files noted; /* the ingest thread's */
	bool is_failing;        /* it is told; the thread's */
	pthread_mutex_t lock;   /* of what follows */
	pthread_cond_t called;
	struct log_files taken; /* the thread's while it is busy */
	enum log_sync_state state;
	bool stop;
};

static void
add(struct log_files *files, const char *path)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->items[i].path, path) == 0)
			return;
	files->items = memory_resize(
	    files->items, files->count + 1, sizeof(*files->items));
	files->items[files->count++] =
	    (struct log_file){.path = memory_string(path)};
}

static void
clear(struct log_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->items[i].path);
	free(files->items);
	*files = (struct log_files){NULL, 0};
}

/* One that is gone needs nothing: the ingest thread finds that out, and what it
 * held is copied or read again. */
static int
sync_log(const char *path, struct reason *reason)
{
	int fd = database_log_open(path);
	int result = 0;

	if (fd < 0 ? errno != ENOENT : fdatasync(fd) != 0)
		result = reason_set_errno(reason, "%s-wal", path);
	if (fd >= 0)
		close(fd);
	return result;
}

static int
copy_log(const char *path, struct reason *reason)
{
	enum database_failure failure;
	struct database *database =
	    database_open(path, DATABASE_WRITE, NULL, 0, &failure, reason);
	int pages, result;

	if (database == NULL)
		return -1;
	result = database_copy_log(database, &pages);
	database_close(&database);
	if (result == 0)
		return 0;
	return reason_set(reason, "%s: its log cannot be copied now", path);
}

static int
sync_file(struct log_file *file, struct reason *reason)
{
	int result = 0;

	if (!file->is_to_be_copied) {
		result = sync_log(file->path, reason);
		file->is_to_be_copied = result != 0;
	}
	if (file->is_to_be_copied && copy_log(file->path, reason) == 0) {
		file->is_to_be_copied = false;
		result = 0;
	}
	return file->is_to_be_copied ? -1 : result;
}

static enum log_sync_state
sync_all(struct log_sync *sync)
{
	struct reason reason;
	bool has_failed = false;

	for (size_t i = 0; i < sync->taken.count; i++)
		has_failed |= sync_file(&sync->taken.items[i], &reason) != 0;
	if (has_failed && !sync->is_failing)
		log_error("sync=failed reason=\"%s\"", reason.text);
	else if (!has_failed && sync->is_failing)
		log_info("sync=\"works again\"");
	sync->is_failing = has_failed;
	return has_failed ? LOG_SYNC_FAILED : LOG_SYNC_DONE;
}

static void *
run(void *argument)
{
	struct log_sync *sync = argument;
	enum log_sync_state state;

	pthread_mutex_lock(&sync->lock);
	while (sync->state == LOG_SYNC_BUSY || !sync->stop) {
		if (sync->state != LOG_SYNC_BUSY) {
			pthread_cond_wait(&sync->called, &sync->lock);
			continue;
		}
		pthread_mutex_unlock(&sync->lock);
		state = sync_all(sync);
		pthread_mutex_lock(&sync->lock);
		sync->state = state;
	}
	pthread_mutex_unlock(&sync->lock);
	return NULL;
}

struct log_sync *
log_sync_start(struct reason *reason)
{
	struct log_sync *sync = memory_zeroed(1, sizeof(*sync));
	int error;

	pthread_mutex_init(&sync->lock, NULL);
	pthread_cond_init(&sync->called, NULL);
	error = thread_start(&sync->thread, run, sync);
	if (error == 0)
		return sync;
	reason_set(reason, "no thread for syncing");
	free(sync);
	return NULL;
}

void
log_sync_note(struct log_sync *sync, const char *path)
{
	add(&sync->noted, path);
}

void
log_sync_begin(struct log_sync *sync)
{
	pthread_mutex_lock(&sync->lock);
	if (sync->state == LOG_SYNC_DONE)
		clear(&sync->taken);
	for (size_t i = 0; i < sync->noted.count; i++)
		add(&sync->taken, sync->noted.items[i].path);
	sync->state = LOG_SYNC_BUSY;
	pthread_cond_signal(&sync->called);
	pthread_mutex_unlock(&sync->lock);
	clear(&sync->noted);
}

enum log_sync_state
log_sync_state(struct log_sync *sync)
{
	enum log_sync_state state;

	pthread_mutex_lock(&sync->lock);
	state = sync->state;
	pthread_mutex_unlock(&sync->lock);
	return state;
}

int
log_sync_stop(struct log_sync **sync)
{
	struct log_sync *old = *sync;
	int result = -1;

	if (old == NULL)
		return result;
	pthread_mutex_lock(&old->lock);
	old->stop = true;
	pthread_cond_signal(&old->called);
	pthread_mutex_unlock(&old->lock);
	pthread_join(old->thread, NULL);
	if (old->state == LOG_SYNC_DONE)
		clear(&old->taken);
	for (size_t i = 0; i < old->noted.count; i++)
		add(&old->taken, old->noted.items[i].path);
	result = sync_all(old) == LOG_SYNC_DONE ? 0 : -1;
	clear(&old->noted);
	clear(&old->taken);
	pthread_cond_destroy(&old->called);
	pthread_mutex_destroy(&old->lock);
	free(old);
	*sync = NULL;
	return result;
}

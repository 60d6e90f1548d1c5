/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checkpoint thread. It has connections of its own, opened for each
 * checkpoint: these are rare. The ingest thread only leaves notes.
 *
 * Waiting goes by poll(2)'s timeouts rather than by the clock, which tests may
 * stop.
 */
#include "store/checkpoint.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/database.h"

#define PAGES_MAX (64 << 20 >> 12) /* 64 MB of 4096 bytes */
#define IDLE_MS 5000

struct log_note {
	char *path;
	int pages;
	int next_pages; /* at which the thread copies again */
	bool copied;    /* by the thread, not yet by the ingest thread */
	bool dirty;     /* something was committed since it was emptied */
	bool recent;    /* something was committed since the last look */
	bool asked;     /* to be copied, whatever its size */
	bool answered;  /* it was */
};

struct checkpoint {
	pthread_t thread;
	int wake_fd;
	pthread_mutex_t lock; /* of what follows */
	struct log_note *notes;
	size_t count;
	bool stop;
};

static struct log_note *
find(struct checkpoint *checkpoint, const char *path)
{
	struct log_note *note;

	for (size_t i = 0; i < checkpoint->count; i++) {
		if (strcmp(checkpoint->notes[i].path, path) == 0)
			return &checkpoint->notes[i];
	}
	checkpoint->notes = memory_resize(checkpoint->notes,
	    checkpoint->count + 1, sizeof(*checkpoint->notes));
	note = &checkpoint->notes[checkpoint->count++];
	*note = (struct log_note){
	    .path = memory_string(path), .next_pages = PAGES_MAX};
	return note;
}

static void
wake(struct checkpoint *checkpoint)
{
	uint64_t one = 1;

	while (write(checkpoint->wake_fd, &one, sizeof(one)) < 0)
		;
}

bool
checkpoint_note(struct checkpoint *checkpoint, const char *path, int pages)
{
	struct log_note *note;
	bool finish, call;

	pthread_mutex_lock(&checkpoint->lock);
	note = find(checkpoint, path);
	if (pages < note->pages)
		note->next_pages = PAGES_MAX; /* begun anew */
	finish = note->copied;
	call = !note->dirty || pages >= note->next_pages;
	note->pages = pages;
	note->copied = false;
	note->dirty = note->recent = true;
	pthread_mutex_unlock(&checkpoint->lock);
	if (call)
		wake(checkpoint);
	return finish;
}

bool
checkpoint_copy(struct checkpoint *checkpoint, const char *path)
{
	struct log_note *note;
	bool is_copied, call;

	pthread_mutex_lock(&checkpoint->lock);
	note = find(checkpoint, path);
	is_copied = note->answered;
	call = !is_copied && !note->asked;
	note->answered = false;
	note->asked = !is_copied;
	pthread_mutex_unlock(&checkpoint->lock);
	if (call)
		wake(checkpoint);
	return is_copied;
}

/* Returns 0, 1 when readers are in the way, or -1. */
static int
copy_log(const char *path, bool truncate)
{
	enum database_failure failure;
	struct reason reason;
	struct database *database;
	int result;

	/* Opening creates nothing: the file may have been removed. */
	database =
	    database_open(path, DATABASE_WRITE, NULL, 0, &failure, &reason);
	if (database == NULL) {
		log_debug("checkpoint=%s reason=%s", path, reason.text);
		return -1;
	}
	result = database_keep_log(database);
	if (result == 0 && database_checkpoint(database, truncate) != 0)
		result = 1;
	database_close(&database);
	return result;
}

static bool
is_to_be_copied(const struct log_note *note)
{
	return note->asked || note->pages >= note->next_pages;
}

/* Copies one log that has grown large, or is asked for. Called with the lock,
 * which it gives back for the time it takes. Returns false when there is none.
 */
static bool
copy_a_large_one(struct checkpoint *checkpoint)
{
	struct log_note *note;
	size_t i = 0;
	char *path;

	while (i < checkpoint->count && !is_to_be_copied(&checkpoint->notes[i]))
		i++;
	if (i == checkpoint->count)
		return false;
	checkpoint->notes[i].next_pages =
	    checkpoint->notes[i].pages + PAGES_MAX;
	path = memory_string(checkpoint->notes[i].path);
	pthread_mutex_unlock(&checkpoint->lock);
	copy_log(path, false);
	pthread_mutex_lock(&checkpoint->lock);
	note = find(checkpoint, path);
	note->copied = true;
	note->answered = note->asked;
	note->asked = false;
	free(path);
	return true;
}

/* The same for logs that nothing was added to for a while. */
static void
empty_idle_ones(struct checkpoint *checkpoint)
{
	for (size_t i = 0; i < checkpoint->count; i++) {
		struct log_note *note = &checkpoint->notes[i];
		bool idle = note->dirty && !note->recent;
		bool again;
		char *path;

		note->recent = false;
		if (!idle)
			continue;
		path = memory_string(note->path);
		note->dirty = false;
		pthread_mutex_unlock(&checkpoint->lock);
		again = copy_log(path, true) == 1;
		pthread_mutex_lock(&checkpoint->lock);
		if (again)
			find(checkpoint, path)->dirty = true;
		free(path);
	}
}

static bool
has_dirty(const struct checkpoint *checkpoint)
{
	for (size_t i = 0; i < checkpoint->count; i++) {
		if (checkpoint->notes[i].dirty)
			return true;
	}
	return false;
}

static void *
run(void *argument)
{
	struct checkpoint *checkpoint = argument;
	struct pollfd wait = {.fd = checkpoint->wake_fd, .events = POLLIN};
	uint64_t count;
	int ready;

	pthread_mutex_lock(&checkpoint->lock);
	while (!checkpoint->stop) {
		int timeout = has_dirty(checkpoint) ? IDLE_MS : -1;

		pthread_mutex_unlock(&checkpoint->lock);
		ready = poll(&wait, 1, timeout);
		if (ready == 1 && read(wait.fd, &count, sizeof(count)) < 0)
			ready = -1;
		pthread_mutex_lock(&checkpoint->lock);
		if (ready == 0)
			empty_idle_ones(checkpoint);
		while (!checkpoint->stop && copy_a_large_one(checkpoint))
			;
	}
	pthread_mutex_unlock(&checkpoint->lock);
	return NULL;
}

struct checkpoint *
checkpoint_start(struct reason *reason)
{
	struct checkpoint *checkpoint = memory_zeroed(1, sizeof(*checkpoint));
	sigset_t all, old;
	int error;

	checkpoint->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&checkpoint->lock, NULL);
	/* Signals are the main thread's business. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = checkpoint->wake_fd < 0 ? -1
					: pthread_create(&checkpoint->thread,
					      NULL, run, checkpoint);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error != 0) {
		reason_set(reason, "no thread for checkpoints");
		if (checkpoint->wake_fd >= 0)
			close(checkpoint->wake_fd);
		free(checkpoint);
		return NULL;
	}
	return checkpoint;
}

void
checkpoint_stop(struct checkpoint **checkpoint)
{
	struct checkpoint *old = *checkpoint;

	if (old == NULL)
		return;
	pthread_mutex_lock(&old->lock);
	old->stop = true;
	pthread_mutex_unlock(&old->lock);
	wake(old);
	pthread_join(old->thread, NULL);
	for (size_t i = 0; i < old->count; i++)
		free(old->notes[i].path);
	free(old->notes);
	pthread_mutex_destroy(&old->lock);
	close(old->wake_fd);
	free(old);
	*checkpoint = NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checkpoint thread. It has connections of its own, opened for each
 * checkpoint: these are rare. The ingest thread only leaves notes.
 *
 * Waiting goes by poll(2)'s timeouts rather than by the clock, which tests may
 * stop.
 */
#include "store/checkpoint.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "base/thread.h"
#include "store/database.h"
#include "store/read_gate.h"

#define PAGES_MAX (64 << 20 >> 12) /* 64 MB of 4096 bytes */
/* After a try that did not have the log begun anew. */
#define AGAIN_PAGES (PAGES_MAX / 8)
/* When the thread has come so near to the end of a log that others write to,
 * batches become short so that it may come nearer, and then the ingest thread
 * copies the rest; in the end it does so though there is more. */
#define NEAR_PAGES 4000
#define REST_PAGES 400
#define ROUNDS 8
#define SHORT_EVENTS 100
#define IDLE_MS 5000
/* How long readers are waited for while no new ones are let in, and then the
 * ingest thread; less than READ_GATE_MS in all. */
#define STEP_MS 5
#define READERS_STEPS 24
#define COMMIT_STEPS 8
#define INGEST_STEPS 20

struct log_note {
	char *path;
	int pages;
	int next_pages; /* at which the thread copies again */
	bool copied;    /* by the thread, not yet by the ingest thread */
	bool crowded;   /* a try did not have it begun anew: readers */
	bool dirty;     /* something was committed since it was emptied */
	bool recent;    /* something was committed since the last look */
	bool asked;     /* to be copied, whatever its size */
	bool answered;  /* it was */
};

struct checkpoint {
	pthread_t thread;
	int wake_fd;
	int gate;
	atomic_bool is_unfinished;
	_Atomic int64_t most_events;
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

/* What a log may take of a disk that is nearly full: copied, it needs room in
 * the file, too. */
static int
room_pages(const char *path)
{
	int64_t bytes = disk_available_bytes(path);
	int64_t pages = bytes / 4 >> 12;

	return bytes >= 0 && pages < PAGES_MAX ? (int)pages : INT_MAX;
}

bool
checkpoint_note(struct checkpoint *checkpoint, const char *path, int pages)
{
	int room = room_pages(path);
	struct log_note *note;
	int64_t met = 1;
	bool finish, call;

	atomic_compare_exchange_strong(
	    &checkpoint->most_events, &met, INT64_MAX);
	pthread_mutex_lock(&checkpoint->lock);
	note = find(checkpoint, path);
	if (pages < note->pages) { /* begun anew */
		note->next_pages = PAGES_MAX;
		note->crowded = note->copied = false;
		checkpoint_finished(checkpoint);
	}
	finish = note->copied;
	if (finish) {
		note->next_pages = pages + AGAIN_PAGES;
		note->crowded = true; /* unless it is begun anew now */
	}
	if (note->next_pages > room)
		note->next_pages = room;
	call = !note->dirty || pages >= note->next_pages;
	note->pages = pages;
	note->copied = false;
	note->dirty = note->recent = true;
	pthread_mutex_unlock(&checkpoint->lock);
	if (call)
		wake(checkpoint);
	return finish;
}

void
checkpoint_finished(struct checkpoint *checkpoint)
{
	atomic_store(&checkpoint->is_unfinished, false);
	atomic_store(&checkpoint->most_events, INT64_MAX);
}

int64_t
checkpoint_most_events(struct checkpoint *checkpoint)
{
	return atomic_load(&checkpoint->most_events);
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

/* NULL: the file is gone, and opening must not create another. */
static struct database *
open_file(const char *path)
{
	enum database_failure failure;
	struct reason reason;
	struct database *database =
	    database_open(path, DATABASE_WRITE, NULL, 0, &failure, &reason);

	if (database == NULL)
		log_debug("checkpoint=%s reason=%s", path, reason.text);
	else
		database_pace(database);
	return database;
}

/* Returns false when somebody is in the way. */
static bool
empty_log(const char *path)
{
	struct database *database = open_file(path);
	bool is_empty =
	    database == NULL || database_checkpoint(database, true) == 0;

	database_close(&database);
	return is_empty;
}

static bool
is_to_be_copied(const struct log_note *note)
{
	return note->asked || note->pages >= note->next_pages;
}

static void
take_a_step(void)
{
	poll(NULL, 0, STEP_MS);
}

static int
pages_of(struct checkpoint *checkpoint, const char *path)
{
	int pages;

	pthread_mutex_lock(&checkpoint->lock);
	pages = find(checkpoint, path)->pages;
	pthread_mutex_unlock(&checkpoint->lock);
	return pages;
}

/* Makes batches short, and waits for the end of the one that may be long. */
static void
shorten_batches(struct checkpoint *checkpoint, const char *path)
{
	int before = pages_of(checkpoint, path);

	atomic_store(&checkpoint->most_events, SHORT_EVENTS);
	for (int steps = 0; steps < COMMIT_STEPS; steps++) {
		if (pages_of(checkpoint, path) != before)
			return;
		take_a_step();
	}
}

/* Copies a log until little is left. With the gate closed it waits until those
 * are gone who read. Returns 1 when the ingest thread is to copy the rest, 0
 * when there is none, or -1 when readers are in the way. */
static int
copy_pages(struct checkpoint *checkpoint, const char *path,
    struct database *database, bool is_closed)
{
	int steps = is_closed ? READERS_STEPS : 0, copied, rest;
	bool are_short = false;

	for (int rounds = 0; rounds < ROUNDS; rounds++) {
		while (database_copy_log(database, &copied) != 0) {
			if (steps-- <= 0)
				return -1;
			take_a_step();
		}
		rest = pages_of(checkpoint, path) - copied;
		if (rest < 0)
			return 0; /* it was begun anew */
		if (rest <= REST_PAGES && (are_short || copied <= NEAR_PAGES))
			break;
		if (!are_short && rest <= NEAR_PAGES) {
			shorten_batches(checkpoint, path);
			are_short = true;
		}
	}
	return 1;
}

static int
copy_log(struct checkpoint *checkpoint, const char *path, bool is_closed)
{
	struct database *database = open_file(path);
	int result = -1;

	if (database != NULL)
		result = copy_pages(checkpoint, path, database, is_closed);
	database_close(&database);
	return result;
}

/* Readers stay out until the ingest thread has done its part. */
static void
open_gate(struct checkpoint *checkpoint)
{
	int steps = INGEST_STEPS;

	while (atomic_load(&checkpoint->is_unfinished) && steps-- > 0)
		take_a_step();
	read_gate_open(checkpoint->gate);
}

static void
note_copy(struct checkpoint *checkpoint, struct log_note *note, int result)
{
	note->copied = result > 0;
	note->next_pages = note->pages + AGAIN_PAGES;
	note->crowded |= result < 0;
	note->answered = note->asked;
	note->asked = false;
	atomic_store(&checkpoint->is_unfinished, note->copied);
	/* The sooner it ends now, the less there is to copy. */
	atomic_store(&checkpoint->most_events, note->copied ? 1 : INT64_MAX);
}

/* Copies one log that has grown large, or is asked for. Called with the lock,
 * which it gives back for the time it takes. Returns false when there is none.
 */
static bool
copy_a_large_one(struct checkpoint *checkpoint)
{
	struct log_note *note = checkpoint->notes;
	size_t i = 0;
	bool is_closed;
	char *path;
	int result;

	while (i < checkpoint->count && !is_to_be_copied(&note[i]))
		i++;
	if (i == checkpoint->count)
		return false;
	path = memory_string(note[i].path);
	is_closed = note[i].crowded;
	pthread_mutex_unlock(&checkpoint->lock);
	is_closed = is_closed && read_gate_close(checkpoint->gate);
	result = copy_log(checkpoint, path, is_closed);
	pthread_mutex_lock(&checkpoint->lock);
	note_copy(checkpoint, find(checkpoint, path), result);
	free(path);
	if (is_closed) {
		pthread_mutex_unlock(&checkpoint->lock);
		open_gate(checkpoint);
		pthread_mutex_lock(&checkpoint->lock);
	}
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
		again = !empty_log(path);
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

static void
discard(struct checkpoint *checkpoint)
{
	for (size_t i = 0; i < checkpoint->count; i++)
		free(checkpoint->notes[i].path);
	free(checkpoint->notes);
	pthread_mutex_destroy(&checkpoint->lock);
	if (checkpoint->wake_fd >= 0)
		close(checkpoint->wake_fd);
	if (checkpoint->gate >= 0)
		close(checkpoint->gate);
	free(checkpoint);
}

struct checkpoint *
checkpoint_start(const char *directory, struct reason *reason)
{
	struct checkpoint *checkpoint = memory_zeroed(1, sizeof(*checkpoint));
	int error;

	checkpoint->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	checkpoint->gate = read_gate(directory);
	checkpoint_finished(checkpoint);
	pthread_mutex_init(&checkpoint->lock, NULL);
	error = checkpoint->wake_fd < 0
		    ? -1
		    : thread_start(&checkpoint->thread, run, checkpoint);
	if (error != 0) {
		reason_set(reason, "no thread for checkpoints");
		discard(checkpoint);
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
	discard(old);
	*checkpoint = NULL;
}

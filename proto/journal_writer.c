/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The journal's writer: one mutex over the output, one thread for what time
 * brings.
 *
 * append runs on any thread of a producer. The writer's own thread sleeps until
 * something is due: syncing what was written, a heartbeat, a segment too old.
 * Syncing happens without the mutex, so that a slow disk never holds up an
 * append; descriptors are therefore closed only by who syncs, and a segment
 * that was replaced waits for that in the output's `retired`.
 */
#include "proto/journal_writer.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/reason.h"
#include "base/thread.h"
#include "proto/event.h"
#include "proto/journal_directory.h"
#include "proto/journal_output.h"
#include "proto/producer_counter.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROTATION_RETRY_NS (CLOCK_NS_PER_SECOND / 10)
#define ABANDON_WAIT_NS (CLOCK_NS_PER_SECOND / 50)
/* So that most of a journal at its limit is in segments that can be removed. */
#define SEGMENTS_IN_LIMIT 8
/* What of the limit is left to heartbeats, so that they can tell of drops. */
#define HEARTBEAT_RESERVE_BYTES (64 << 10)
#define HEARTBEAT_RESERVE_SHARE 16
#define NEVER INT64_MAX

struct journal_writer {
	struct journal_writer_settings settings; /* strings owned */
	int directory_fd;
	int lock_fd;
	pthread_t thread;
	_Atomic bool abandoned;

	/* One sync at a time; taken before the mutex. */
	pthread_mutex_t sync_mutex;
	uint64_t synced_records;

	pthread_mutex_t mutex; /* over all that follows */
	pthread_cond_t wake;
	bool stopping;
	bool start_told;
	struct journal_output output;
	/* Deadlines on the monotonic clock. */
	int64_t age_due_ns;
	int64_t sync_due_ns;
	int64_t heartbeat_due_ns;
};

static int64_t
earlier(int64_t left, int64_t right)
{
	return left < right ? left : right;
}

/* Appending. */

/* Sets a deadline that the thread may have to get up earlier for. */
static void
set_due(struct journal_writer *writer, int64_t *due_ns, int64_t at_ns)
{
	*due_ns = at_ns;
	pthread_cond_signal(&writer->wake);
}

/* One append of whatever kind, with the mutex held. */
static enum journal_outcome
append(struct journal_writer *writer, const struct event *event, int64_t limit)
{
	struct journal_output *output = &writer->output;
	uint64_t number = output->segment.number;
	enum journal_outcome outcome;
	int64_t now_ns;

	outcome = journal_output_append(output, event, limit);
	if (output->segment.number != number) {
		/* The one before is to be synced and closed soon. */
		writer->age_due_ns = NEVER;
		set_due(writer, &writer->sync_due_ns, 0);
	}
	if (outcome != JOURNAL_APPENDED ||
	    (writer->sync_due_ns != NEVER && writer->age_due_ns != NEVER))
		return outcome;
	now_ns = clock_stamp().monotonic_ns;
	if (writer->sync_due_ns == NEVER)
		set_due(writer, &writer->sync_due_ns,
		    now_ns + writer->settings.sync_interval_ns);
	if (writer->age_due_ns == NEVER)
		set_due(writer, &writer->age_due_ns,
		    now_ns + writer->settings.segment_age_ns);
	return outcome;
}

static int64_t
limit_of(const struct journal_writer *writer, enum journal_share share)
{
	int64_t limit = writer->settings.limit_bytes;

	limit -=
	    earlier(HEARTBEAT_RESERVE_BYTES, limit / HEARTBEAT_RESERVE_SHARE);
	return share == JOURNAL_SHARE_HALF ? limit / 2 : limit;
}

/* With the mutex held, so that a heartbeat tells of exactly those events that
 * stand before it. */
static enum journal_outcome
append_event(struct journal_writer *writer, const struct event *event,
    enum journal_share share)
{
	static const enum producer_counter counters[] = {
	    [JOURNAL_APPENDED] = PRODUCER_EVENTS_APPENDED,
	    [JOURNAL_DROPPED_LIMIT] = PRODUCER_EVENTS_DROPPED_LIMIT,
	    [JOURNAL_DROPPED_ERROR] = PRODUCER_EVENTS_DROPPED_ERROR,
	    [JOURNAL_DROPPED_MEMORY] = PRODUCER_EVENTS_DROPPED_MEMORY,
	};
	enum journal_outcome outcome = JOURNAL_DROPPED_ERROR;

	if (!writer->abandoned)
		outcome = append(writer, event, limit_of(writer, share));
	producer_count(counters[outcome], 1);
	if (outcome == JOURNAL_APPENDED)
		producer_count(
		    PRODUCER_BYTES_APPENDED, writer->output.frame.size);
	return outcome;
}

static void
append_heartbeat(struct journal_writer *writer)
{
	uint64_t increases[PRODUCER_COUNTERS];
	struct event event = {.type = EVENT_HEARTBEAT};

	producer_counters_take(increases);
	event.heartbeat.at = clock_stamp();
	event.heartbeat.start = !writer->start_told;
	event.heartbeat.increases = increases;
	if (append(writer, &event, writer->settings.limit_bytes) ==
	    JOURNAL_APPENDED)
		writer->start_told = true;
	else
		producer_counters_give_back(increases);
}

/* Syncing. */

/* What is to be synced, taken from under the mutex. */
struct sync_work {
	int fds[JOURNAL_RETIRED_MAX + 1];
	size_t count;
	size_t retired_count; /* the first ones, to be closed */
	bool directory;
	uint64_t records;
};

static void
take_sync_work(struct journal_writer *writer, struct sync_work *work_r)
{
	struct journal_output *output = &writer->output;

	pthread_mutex_lock(&writer->mutex);
	work_r->count = work_r->retired_count = output->retired_count;
	memcpy(work_r->fds, output->retired,
	    output->retired_count * sizeof(output->retired[0]));
	if (output->segment.fd >= 0)
		work_r->fds[work_r->count++] = output->segment.fd;
	work_r->directory = output->directory_dirty;
	work_r->records = output->records;
	output->retired_count = 0;
	output->directory_dirty = false;
	writer->sync_due_ns = NEVER;
	pthread_mutex_unlock(&writer->mutex);
}

/* Returns when the first `records` records are on the disk: 0, or -1 when that
 * failed now, which is logged. */
static int
sync_records(struct journal_writer *writer, uint64_t records)
{
	struct sync_work work;
	bool failed = false;

	pthread_mutex_lock(&writer->sync_mutex);
	if (writer->synced_records >= records)
		goto out;
	take_sync_work(writer, &work);
	for (size_t i = 0; i < work.count; i++)
		failed = fdatasync(work.fds[i]) != 0 || failed;
	if (work.directory)
		failed = fsync(writer->directory_fd) != 0 || failed;
	if (failed)
		log_error("journal=%s reason=cannot sync: %s",
		    writer->settings.source, strerror(errno));
	for (size_t i = 0; i < work.retired_count; i++)
		close(work.fds[i]);
	writer->synced_records = work.records;
out:
	pthread_mutex_unlock(&writer->sync_mutex);
	return failed ? -1 : 0;
}

int
journal_writer_sync(struct journal_writer *writer)
{
	uint64_t records;

	pthread_mutex_lock(&writer->mutex);
	records = writer->output.records;
	pthread_mutex_unlock(&writer->mutex);
	return sync_records(writer, records);
}

int
journal_writer_append(struct journal_writer *writer, const struct event *event,
    enum journal_share share)
{
	enum journal_outcome outcome;
	uint64_t records;

	pthread_mutex_lock(&writer->mutex);
	outcome = append_event(writer, event, share);
	records = writer->output.records;
	pthread_mutex_unlock(&writer->mutex);
	if (outcome != JOURNAL_APPENDED)
		return 0;
	if (writer->settings.sync_interval_ns == 0)
		sync_records(writer, records);
	return 1;
}

/* The thread. */

/* Sleeps until the deadline or a signal. */
static void
sleep_until(struct journal_writer *writer, int64_t due_ns, int64_t now_ns)
{
	struct timespec until;
	int64_t at_ns;

	/* Counted from the real clock: a test may have replaced the other. */
	clock_gettime(CLOCK_MONOTONIC, &until);
	at_ns = until.tv_nsec + due_ns - now_ns;
	until.tv_sec += at_ns / CLOCK_NS_PER_SECOND;
	until.tv_nsec = at_ns % CLOCK_NS_PER_SECOND;
	pthread_cond_timedwait(&writer->wake, &writer->mutex, &until);
}

static void
rotate_by_age(struct journal_writer *writer, int64_t now_ns)
{
	uint64_t number = writer->output.segment.number;

	journal_output_rotate(&writer->output);
	writer->age_due_ns = writer->output.segment.number != number
				 ? NEVER
				 : now_ns + ROTATION_RETRY_NS;
}

/* Does what is due, with the mutex held. */
static void
do_due(struct journal_writer *writer, int64_t now_ns)
{
	uint64_t records;

	if (now_ns >= writer->age_due_ns)
		rotate_by_age(writer, now_ns);
	if (now_ns >= writer->heartbeat_due_ns) {
		writer->heartbeat_due_ns =
		    now_ns + writer->settings.heartbeat_interval_ns;
		/* What is written to a removed file is lost. */
		if (journal_output_is_gone(&writer->output))
			rotate_by_age(writer, now_ns);
		append_heartbeat(writer);
	}
	if (now_ns >= writer->sync_due_ns) {
		writer->sync_due_ns = NEVER;
		records = writer->output.records;
		pthread_mutex_unlock(&writer->mutex);
		sync_records(writer, records);
		pthread_mutex_lock(&writer->mutex);
	}
}

static void *
run(void *argument)
{
	struct journal_writer *writer = argument;
	int64_t now_ns, due_ns;

	pthread_mutex_lock(&writer->mutex);
	while (!writer->stopping && !writer->abandoned) {
		now_ns = clock_stamp().monotonic_ns;
		due_ns = earlier(writer->heartbeat_due_ns,
		    earlier(writer->age_due_ns, writer->sync_due_ns));
		if (now_ns >= due_ns)
			do_due(writer, now_ns);
		else
			sleep_until(writer, due_ns, now_ns);
	}
	pthread_mutex_unlock(&writer->mutex);
	return NULL;
}

/* Opening and closing. */

static void
init_locks(struct journal_writer *writer)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&writer->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&writer->mutex, NULL);
	pthread_mutex_init(&writer->sync_mutex, NULL);
}

/* Frees what is there, whatever that is, but for the thread. */
static void
free_writer(struct journal_writer *writer)
{
	union {
		const char *text;
		void *memory;
	} strings[] = {
	    {writer->settings.source},
	    {writer->settings.instance},
	    {writer->settings.program},
	};

	journal_output_close(&writer->output);
	if (writer->lock_fd >= 0)
		close(writer->lock_fd);
	if (writer->directory_fd >= 0)
		close(writer->directory_fd);
	pthread_mutex_destroy(&writer->sync_mutex);
	pthread_mutex_destroy(&writer->mutex);
	pthread_cond_destroy(&writer->wake);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		free(strings[i].memory);
	free(writer);
}

static struct journal_writer *
new_writer(const struct journal_writer_settings *settings)
{
	struct journal_writer *writer = calloc(1, sizeof(*writer));

	if (writer == NULL)
		return NULL;
	init_locks(writer);
	writer->directory_fd = writer->lock_fd = -1;
	writer->output.segment.fd = -1;
	writer->settings = *settings;
	writer->settings.directory = NULL;
	writer->settings.source = strdup(settings->source);
	writer->settings.instance = strdup(settings->instance);
	writer->settings.program = strdup(settings->program);
	writer->age_due_ns = writer->sync_due_ns = NEVER;
	if (writer->settings.source == NULL ||
	    writer->settings.instance == NULL ||
	    writer->settings.program == NULL) {
		free_writer(writer);
		return NULL;
	}
	return writer;
}

static int
open_output(struct journal_writer *writer, struct reason *reason)
{
	const struct journal_writer_settings *settings = &writer->settings;
	struct segment_header header = {
	    .source = settings->source,
	    .instance = settings->instance,
	    .program = settings->program,
	};
	int64_t segment_bytes = earlier(
	    settings->segment_bytes, settings->limit_bytes / SEGMENTS_IN_LIMIT);

	clock_boot_id(header.boot_id);
	if (journal_output_open(&writer->output, writer->directory_fd, &header,
		segment_bytes) != 0)
		return reason_set(reason, "no memory for the journal");
	return 0;
}

static int
start_thread(struct journal_writer *writer, struct reason *reason)
{
	errno = thread_start(&writer->thread, run, writer);
	if (errno != 0)
		return reason_set_errno(reason, "the journal's thread");
	return 0;
}

struct journal_writer *
journal_writer_open(
    const struct journal_writer_settings *settings, struct reason *reason)
{
	struct journal_writer *writer = new_writer(settings);

	if (writer == NULL) {
		reason_set(reason, "no memory for the journal");
		return NULL;
	}
	writer->directory_fd = journal_directory_make(
	    settings->directory, settings->source, reason);
	if (writer->directory_fd < 0)
		goto failed;
	writer->lock_fd = journal_lock_take(writer->directory_fd, reason);
	if (writer->lock_fd < 0 || open_output(writer, reason) != 0)
		goto failed;
	append_heartbeat(writer);
	writer->heartbeat_due_ns =
	    clock_stamp().monotonic_ns + writer->settings.heartbeat_interval_ns;
	if (start_thread(writer, reason) != 0)
		goto failed;
	return writer;
failed:
	free_writer(writer);
	return NULL;
}

void
journal_writer_close(struct journal_writer **writer)
{
	struct journal_writer *closed = *writer;

	*writer = NULL;
	/* The thread of an abandoned one may still run. */
	if (closed == NULL || closed->abandoned)
		return;
	pthread_mutex_lock(&closed->mutex);
	closed->stopping = true;
	pthread_cond_signal(&closed->wake);
	pthread_mutex_unlock(&closed->mutex);
	pthread_join(closed->thread, NULL);
	append_heartbeat(closed);
	sync_records(closed, UINT64_MAX);
	free_writer(closed);
}

void
journal_writer_abandon(struct journal_writer *writer)
{
	struct timespec until;
	bool locked;

	/* A write may be stuck in a sick disk; we go all the same. */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ABANDON_WAIT_NS;
	until.tv_sec += until.tv_nsec / CLOCK_NS_PER_SECOND;
	until.tv_nsec %= CLOCK_NS_PER_SECOND;
	locked = pthread_mutex_timedlock(&writer->mutex, &until) == 0;
	if (locked && !writer->abandoned) {
		append_heartbeat(writer);
		if (writer->output.segment.fd >= 0)
			sync_file_range(writer->output.segment.fd, 0, 0,
			    SYNC_FILE_RANGE_WRITE);
	}
	/* Nobody will join the thread. */
	if (!atomic_exchange(&writer->abandoned, true))
		pthread_detach(writer->thread);
	if (locked)
		pthread_mutex_unlock(&writer->mutex);
}

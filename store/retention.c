/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that removes days. It is made when there are some, and ends with
 * them: this happens once a day. A large file may take a while to be unlinked,
 * and ingest shall not stand still meanwhile.
 */
#include "store/retention.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "base/thread.h"
#include "store/archive.h"
#include "store/layout.h"

/* Thirteen months, so that a month can be seen beside the same one of a year
 * ago. */
#define HOURS_DAYS 397

struct retention {
	char *directory;
	pthread_t thread;
	bool is_busy;
	struct purge *purges;
	size_t count;
	/* Of the thread until it is done. */
	struct retention_result result;
	struct reason told; /* why it failed last */
	atomic_bool is_done, stop;
};

struct retention *
retention_new(const char *directory)
{
	struct retention *retention = memory_zeroed(1, sizeof(*retention));

	retention->directory = memory_string(directory);
	return retention;
}

void
retention_free(struct retention **retention)
{
	if (*retention == NULL)
		return;
	if ((*retention)->is_busy) {
		atomic_store(&(*retention)->stop, true);
		pthread_join((*retention)->thread, NULL);
	}
	free((*retention)->purges);
	free((*retention)->directory);
	free(*retention);
	*retention = NULL;
}

static void
tell(const struct purge *purge, uint64_t bytes)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(purge->day * CLOCK_NS_PER_DAY, text);
	log_info("purged=%.10s bytes=%llu reason=%s", text,
	    (unsigned long long)bytes,
	    purge->cause == PURGE_BY_AGE ? "retention" : "retention_bytes");
}

/* Others shall not wait for one that cannot be read. */
static int
set_aside(struct retention *retention, const char *path, struct reason *reason)
{
	log_error("file=%s reason=%s, set aside", path, reason->text);
	retention->result.set_aside++;
	return layout_set_aside(path, reason);
}

static int
purge_day(struct retention *retention, struct archive *archive,
    const struct purge *purge, struct reason *reason)
{
	int64_t today = clock_day(clock_stamp().wall_ns);
	char *path = layout_day_path(retention->directory, purge->day);
	uint64_t bytes = layout_bytes(path);
	int result =
	    archive_put(archive, purge->day, today - HOURS_DAYS, reason);

	if (result == 0)
		result = layout_remove(path, reason);
	if (result == 0) {
		tell(purge, bytes);
		retention->result.purged++;
	} else if (archive_finds_damage(path))
		result = set_aside(retention, path, reason);
	free(path);
	return result;
}

static int
purge_days(struct retention *retention, struct reason *reason)
{
	struct archive *archive;
	int result = archive_open(retention->directory, true, &archive, reason);

	if (result != 0)
		return -1;
	for (size_t i = 0; result == 0 && i < retention->count &&
			   !atomic_load(&retention->stop);
	     i++)
		result = purge_day(
		    retention, archive, &retention->purges[i], reason);
	retention->result.archive = archive_trouble(archive);
	archive_close(&archive);
	return result;
}

/* What lasts is told once. */
static void
tell_failure(struct retention *retention, const struct reason *reason)
{
	retention->result.failed = true;
	if (strcmp(retention->told.text, reason->text) != 0)
		log_error("purge=failed reason=\"%s\"", reason->text);
	retention->told = *reason;
}

static void *
run(void *argument)
{
	struct retention *retention = argument;
	struct reason reason;

	if (purge_days(retention, &reason) != 0)
		tell_failure(retention, &reason);
	else
		retention->told.text[0] = '\0';
	atomic_store(&retention->is_done, true);
	return NULL;
}

int
retention_start(struct retention *retention, const struct purge *purges,
    size_t count, struct reason *reason)
{
	int error;

	retention->purges =
	    memory_resize(retention->purges, count, sizeof(*purges));
	memcpy(retention->purges, purges, count * sizeof(*purges));
	retention->count = count;
	retention->result = (struct retention_result){.purged = 0};
	atomic_store(&retention->is_done, false);
	error = thread_start(&retention->thread, run, retention);
	retention->is_busy = error == 0;
	return error == 0 ? 0 : reason_set(reason, "no thread to purge days");
}

bool
retention_takes(const struct retention *retention, int64_t day)
{
	for (size_t i = 0; retention->is_busy && i < retention->count; i++)
		if (retention->purges[i].day == day)
			return true;
	return false;
}

bool
retention_is_busy(const struct retention *retention)
{
	return retention->is_busy;
}

bool
retention_is_done(
    struct retention *retention, struct retention_result *result_r)
{
	if (!retention->is_busy || !atomic_load(&retention->is_done))
		return false;
	pthread_join(retention->thread, NULL);
	retention->is_busy = false;
	*result_r = retention->result;
	return true;
}

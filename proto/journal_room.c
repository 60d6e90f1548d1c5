/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Used by the journal's writer under its mutex, on whatever thread appends.
 */
#include "proto/journal_room.h"

#include "base/clock.h"
#include "proto/journal_directory.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#define NS_PER_MS INT64_C(1000000)
#define RETRY_INTERVAL_NS (100 * NS_PER_MS)
/* The kernel dates files by its tick: a directory that changed less than this
 * before it was measured may have changed again after. */
#define TICK_NS (50 * NS_PER_MS)

static void
measure(struct journal_room *room)
{
	struct timespec now;
	struct stat status;
	int64_t bytes, age_ns;

	/* The kernel's own clock, which a test's clock does not replace. */
	if (fstat(room->directory_fd, &status) != 0 ||
	    clock_gettime(CLOCK_REALTIME, &now) != 0)
		return;
	bytes = journal_directory_bytes(room->directory_fd);
	if (bytes < 0)
		return;
	age_ns = (now.tv_sec - status.st_mtim.tv_sec) * CLOCK_NS_PER_SECOND +
		 now.tv_nsec - status.st_mtim.tv_nsec;
	room->total_bytes = bytes;
	room->measured_change = status.st_mtim;
	room->measured_young = age_ns < TICK_NS;
}

/* Whether measuring again may show less than the last time: only removing a
 * file, which dates the directory, makes room. */
static bool
may_have_shrunk(const struct journal_room *room)
{
	struct stat status;

	return room->measured_young ||
	       fstat(room->directory_fd, &status) != 0 ||
	       status.st_mtim.tv_sec != room->measured_change.tv_sec ||
	       status.st_mtim.tv_nsec != room->measured_change.tv_nsec;
}

void
journal_room_open(struct journal_room *room, int directory_fd)
{
	*room = (struct journal_room){.directory_fd = directory_fd};
	measure(room);
}

bool
journal_room_in_limit(
    struct journal_room *room, size_t size, int64_t limit_bytes)
{
	if (room->total_bytes + (int64_t)size <= limit_bytes)
		return true;
	if (may_have_shrunk(room))
		measure(room);
	return room->total_bytes + (int64_t)size <= limit_bytes;
}

bool
journal_room_on_disk(const struct journal_room *room, size_t size)
{
	struct statvfs system;

	if (!room->write_failed)
		return true;
	if (clock_stamp().monotonic_ns < room->retry_ns)
		return false;
	if (fstatvfs(room->directory_fd, &system) != 0)
		return true;
	/* One block more, for what the file system itself needs. */
	return (uint64_t)system.f_bavail * system.f_frsize >=
	       size + system.f_frsize;
}

bool
journal_room_written(struct journal_room *room, size_t size)
{
	bool failed = room->write_failed;

	room->total_bytes += (int64_t)size;
	room->write_failed = false;
	room->retry_ns = 0;
	return failed;
}

/* The first failure is followed by an attempt as soon as the file system has
 * room. When that fails too, room is not the reason (a quota, a broken disk),
 * and time must pass. */
void
journal_room_failed(struct journal_room *room)
{
	if (room->write_failed)
		room->retry_ns = clock_stamp().monotonic_ns + RETRY_INTERVAL_NS;
	room->write_failed = true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * retention: removes days for good, on a thread of its own.
 *
 * Each day is put into the archive, then its file is unlinked: readers that
 * have it open finish with what they have. The other functions belong to the
 * ingest thread.
 */
#ifndef STORE_RETENTION_H
#define STORE_RETENTION_H

#include "store/archive.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reason;
struct retention;

enum purge_cause { PURGE_BY_AGE, PURGE_BY_SIZE };

/* A day to be removed. */
struct purge {
	int64_t day;
	enum purge_cause cause;
};

struct retention *retention_new(const char *directory);

/* Waits for the day that is being removed, if there is one. */
void retention_free(struct retention **retention);

/* Begins to remove `count` days, whose files nobody may write any more, in this
 * order. Nothing may be under way. Returns 0, or -1 with a reason. */
int retention_start(struct retention *retention, const struct purge *purges,
    size_t count, struct reason *reason);

/* Whether that day is being removed. */
bool retention_takes(const struct retention *retention, int64_t day);

bool retention_is_busy(const struct retention *retention);

struct retention_result {
	size_t purged;
	size_t set_aside; /* days that are damaged */
	struct archive_trouble archive;
	bool failed; /* others are left; why was told */
};

/* When what was started is done: returns true, once. */
bool retention_is_done(
    struct retention *retention, struct retention_result *result_r);

#endif

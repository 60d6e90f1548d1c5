/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which days to purge, and when. Called by the exporter on the ingest thread.
 *
 * To look means to list the directory; it is done when a day began, when a day
 * was sealed or purged, and when the files have grown beyond the limit since
 * the last look.
 */
#include "store/store_purge.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/day_file.h"
#include "store/retention.h"
#include "store/store_private.h"

/* After which a purge that failed is tried again. */
#define RETRY_NS (10 * CLOCK_NS_PER_SECOND)

struct choice {
	const struct store *store;
	int64_t now_wall_ns;
	uint64_t bytes; /* of what is left */
	struct purge *purges;
	size_t count;
	bool is_pressed;
};

static bool
is_too_old(const struct choice *choice, int64_t day)
{
	int64_t kept_ns = choice->store->retention_ns;

	return kept_ns != 0 &&
	       (day + 1) * CLOCK_NS_PER_DAY + kept_ns <= choice->now_wall_ns;
}

static bool
is_too_large(const struct choice *choice)
{
	return choice->store->retention_bytes != 0 &&
	       choice->bytes > choice->store->retention_bytes;
}

static bool
is_past(const struct store *store, int64_t day)
{
	for (size_t i = 0; i < store->file_count; i++)
		if (store->files[i]->day == day)
			return store_is_past(store, store->files[i]);
	return false;
}

/* Days come oldest first. */
static void
consider(struct choice *choice, int64_t day)
{
	bool too_old = is_too_old(choice, day);
	char *path;

	if (!too_old && !is_too_large(choice))
		return;
	if (is_past(choice->store, day)) {
		choice->is_pressed |= is_too_large(choice);
		return;
	}
	path = layout_day_path(choice->store->directory, day);
	choice->bytes -= layout_bytes(path);
	free(path);
	choice->purges[choice->count++] = (struct purge){
	    .day = day, .cause = too_old ? PURGE_BY_AGE : PURGE_BY_SIZE};
}

/* Fills choice->purges, to be freed. */
static void
choose(struct store *store, struct choice *choice)
{
	struct store_figures figures;
	struct reason reason;
	int64_t *days = NULL;
	long count = layout_list(store->directory, &days, &reason);

	store_figures(store, &figures);
	*choice = (struct choice){.store = store,
	    .now_wall_ns = clock_stamp().wall_ns,
	    .bytes = figures.bytes};
	if (count < 0)
		log_warn("reason=%s", reason.text);
	if (count > 0)
		choice->purges =
		    memory_zeroed((size_t)count, sizeof(*choice->purges));
	for (long i = count - 1; i >= 0; i--)
		if (days[i] != LAYOUT_ODD &&
		    !store_day_is_writable(store, days[i]))
			consider(choice, days[i]);
	free(days);
}

bool
store_is_pressed(const struct store *store)
{
	return store->is_pressed;
}

/* Whether nothing has changed since a look found nothing. */
static bool
is_quiet(const struct store *store)
{
	const struct stamp now = clock_stamp();

	if (now.monotonic_ns < store->purge_after_ns)
		return true;
	return store->purge_looked_day == clock_day(now.wall_ns) &&
	       (store->retention_bytes == 0 ||
		   store->bytes <= store->retention_bytes ||
		   store->bytes <= store->purge_looked_bytes);
}

int64_t
store_purge_due(const struct store *store)
{
	return store->purge_after_ns;
}

bool
store_has_purge(struct store *store)
{
	struct choice choice;

	if ((store->retention_ns == 0 && store->retention_bytes == 0) ||
	    retention_is_busy(store->retention) || is_quiet(store))
		return false;
	store->purge_after_ns = 0;
	choose(store, &choice);
	free(choice.purges);
	store->is_pressed = choice.is_pressed;
	store->purge_looked_day = clock_day(choice.now_wall_ns);
	store->purge_looked_bytes = store->bytes + store->bytes / 64;
	return choice.count > 0;
}

static void
leave(struct store *store, int64_t day)
{
	if (day > store->archived_day)
		store->archived_day = day;
	for (size_t i = 0; i < store->file_count; i++)
		if (store->files[i]->day == day)
			day_file_close(store->files[i]);
}

void
store_purge(struct store *store)
{
	struct choice choice;
	struct reason reason;

	choose(store, &choice);
	for (size_t i = 0; i < choice.count; i++)
		leave(store, choice.purges[i].day);
	if (choice.count > 0 && retention_start(store->retention, choice.purges,
				    choice.count, &reason) != 0)
		log_error("reason=%s", reason.text);
	free(choice.purges);
}

static void
note_result(struct store *store, const struct retention_result *result)
{
	store->purged_days += result->purged;
	store->set_aside += result->set_aside + result->archive.set_aside;
	store->replaced += result->archive.replaced;
	store->failures += result->failed;
	store->has_new_file = true;
	store_write_sums(store);
	store->purge_after_ns =
	    result->failed ? clock_stamp().monotonic_ns + RETRY_NS : 0;
}

bool
store_is_purging(struct store *store, bool *is_done_r)
{
	struct retention_result result;

	*is_done_r = retention_is_done(store->retention, &result);
	if (!*is_done_r) {
		bool is_busy = retention_is_busy(store->retention);

		if (!is_busy)
			store_watch_archive(store);
		return is_busy;
	}
	note_result(store, &result);
	store_own_archive(store);
	store_measure(store);
	store_look_again(store);
	return false;
}

void
store_look_again(struct store *store)
{
	store->purge_looked_day = INT64_MIN;
	store->is_pressed = false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lower bounds follow what is on the disk. Called by the exporter on the ingest
 * thread.
 *
 * Commits write, and do not wait for the disk. A power cut may take the last of
 * them, of each file on its own; all of it is read again, because the bounds in
 * control.db are never ahead of what was synced.
 */
#include "store/store_sync.h"

#include "base/clock.h"
#include "store/control.h"
#include "store/database.h"
#include "store/day_file.h"
#include "store/log_sync.h"
#include "store/store_private.h"

/* How long after the last time the disk is asked again, and looked at whether
 * it has answered. */
#define AGAIN_NS (CLOCK_NS_PER_SECOND / 5)
#define LOOK_NS (CLOCK_NS_PER_SECOND / 100)

int
store_sync_open(struct store *store, struct reason *reason)
{
	store->log_sync = log_sync_start(reason);
	if (store->log_sync == NULL)
		return -1;
	/* At once, and of who was killed, too. */
	store->is_sync_due = true; /* if there is no file */
	store->sync_at_ns = 1;
	for (size_t i = 0; i < store->file_count; i++)
		if (store->files[i]->tables.database != NULL)
			store_sync_note(store, store->files[i]);
	return 0;
}

void
store_sync_close(struct store *store)
{
	bool is_due = store->is_sync_due || store->is_syncing;

	if (store->log_sync == NULL)
		return;
	if (is_due)
		store_note_sums(store);
	if (log_sync_stop(&store->log_sync) != 0 || !is_due)
		return;
	store_note_synced_sums(store, &store->counted);
	control_raise_synced(store->control, control_bounds(store->control));
}

void
store_sync_note(struct store *store, const struct day_file *file)
{
	log_sync_note(store->log_sync, file->path);
	store->is_sync_due = true;
}

bool
store_is_synced(const struct store *store, const struct day_file *file)
{
	return file->committed <= store->synced_commits;
}

static void
begin(struct store *store, int64_t now_ns)
{
	store_note_sums(store);
	buffer_clear(&store->syncing_counted);
	buffer_append(
	    &store->syncing_counted, store->counted.data, store->counted.size);
	positions_raise_all(&store->syncing, control_bounds(store->control));
	store->syncing_commits = store->commits;
	store->sync_at_ns = now_ns + AGAIN_NS;
	store->is_sync_due = false;
	store->is_syncing = true;
	log_sync_begin(store->log_sync);
}

/* Returns whether all is on the disk that was committed before begin(). */
static bool
end(struct store *store)
{
	store->is_syncing = false;
	if (log_sync_state(store->log_sync) == LOG_SYNC_FAILED) {
		store->is_sync_due = true;
		store->failures++;
		return false;
	}
	return true;
}

/* What is on the disk is noted before it is asked for more. */
enum store_sync
store_follow_sync(struct store *store, int64_t now_ns)
{
	store->sync_look_ns = now_ns + LOOK_NS;
	if (store->is_syncing) {
		if (log_sync_state(store->log_sync) == LOG_SYNC_BUSY)
			return STORE_SYNC_WAITS;
		if (end(store))
			return STORE_SYNC_ENDED;
	}
	if (!store->is_sync_due || now_ns < store->sync_at_ns)
		return STORE_SYNC_WAITS;
	begin(store, now_ns);
	return STORE_SYNC_BEGAN;
}

void
store_raise_synced(struct store *store)
{
	store_note_synced_sums(store, &store->syncing_counted);
	control_raise_synced(store->control, &store->syncing);
	store->synced_commits = store->syncing_commits;
}

bool
store_is_syncing_all(const struct store *store)
{
	return store->is_syncing && store->syncing_commits == store->commits;
}

bool
store_has_synced_all(const struct store *store)
{
	return !store->is_syncing && !store->is_sync_due;
}

int64_t
store_sync_due(const struct store *store)
{
	if (store->is_syncing)
		return store->sync_look_ns;
	return store->is_sync_due ? store->sync_at_ns : 0;
}

struct journal_position
store_synced_bound(const struct store *store, const char *source)
{
	return control_synced_bound(store->control, source);
}

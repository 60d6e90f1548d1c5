/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many files the store has, and how large they are. Called by the exporter
 * on the ingest thread.
 */
#include <stdlib.h>

#include "base/disk.h"
#include "store/control.h"
#include "store/day_file.h"
#include "store/layout.h"
#include "store/store_private.h"

void
store_measure(struct store *store)
{
	int64_t *days = NULL;
	long count = layout_list(store->directory, &days, NULL);

	store->old_files = store->old_bytes = 0;
	store->oldest_day = INT64_MAX;
	for (long i = 0; i < count; i++) {
		char *path = layout_day_path(store->directory, days[i]);

		if (!store_day_is_writable(store, days[i])) {
			store->old_files++;
			store->old_bytes += layout_bytes(path);
		}
		if (days[i] != LAYOUT_ODD && days[i] < store->oldest_day)
			store->oldest_day = days[i];
		free(path);
	}
	free(days);
}

/* Those that were set aside or replaced. */
static void
count_files_in_trouble(
    const struct store *store, uint64_t *damaged_r, uint64_t *replaced_r)
{
	*damaged_r =
	    store->set_aside + control_figures(store->control, replaced_r);
	*replaced_r += store->replaced;
	for (size_t i = 0; i < store->file_count; i++) {
		*damaged_r += store->files[i]->set_aside;
		*replaced_r += store->files[i]->replaced;
	}
}

uint64_t
store_files_in_trouble(const struct store *store)
{
	uint64_t damaged, replaced;

	count_files_in_trouble(store, &damaged, &replaced);
	return damaged + replaced;
}

bool
store_is_new(const struct store *store)
{
	return store->highest.count == 0 && store->archived_day == INT64_MIN &&
	       control_bounds(store->control)->count == 0;
}

void
store_figures(struct store *store, struct store_figures *figures_r)
{
	*figures_r = (struct store_figures){.files = store->old_files,
	    .bytes = store->old_bytes,
	    .available_bytes = disk_available_bytes(store->directory),
	    .failures = store->failures,
	    .purged_days = store->purged_days,
	    .oldest_day = store->oldest_day,
	    .commits = store->commits,
	    .longest_commit_ns = store->longest_commit_ns,
	    .longest_pause_ns = store->longest_pause_ns};
	count_files_in_trouble(
	    store, &figures_r->damaged_files, &figures_r->replaced_files);
	for (size_t i = 0; i < store->file_count; i++) {
		const struct day_file *file = store->files[i];
		uint64_t bytes = layout_bytes(file->path);

		if (file->longest_pause_ns > figures_r->longest_pause_ns)
			figures_r->longest_pause_ns = file->longest_pause_ns;
		if (!store_day_is_writable(store, file->day))
			continue;
		figures_r->files += bytes > 0;
		figures_r->bytes += bytes;
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer: opens the store, hands out day files, commits batches. Called by
 * the exporter on the ingest thread.
 *
 * What makes it exact: every file commits what a batch did to it together with
 * how far the batch had read. Files commit one after another, and the lower
 * bounds follow when all of them are on the disk; killed in between, or cut off
 * from power, the next run reads again from the lower bounds, and each file
 * takes only what lies beyond its own position.
 */
#include "store/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/checkpoint.h"
#include "store/control.h"
#include "store/database.h"
#include "store/day_file.h"
#include "store/day_totals.h"
#include "store/disk.h"
#include "store/retention.h"
#include "store/settings.h"
#include "store/totals_writer.h"

/* How many files, those written last, keep memory that makes writing faster. */
#define FAST_FILES 2

static struct day_file *
find_day(const struct store *store, int64_t day)
{
	for (size_t i = 0; i < store->file_count; i++) {
		if (store->files[i]->day == day)
			return store->files[i];
	}
	return NULL;
}

struct day_file *
store_day(struct store *store, int64_t day)
{
	struct day_file *file = find_day(store, day);

	if (file != NULL)
		return file;
	file = day_file_new(store->directory, day, totals_names(store->totals));
	file->is_sealed = !store_day_is_writable(store, day);
	store->files = memory_resize(
	    store->files, store->file_count + 1, sizeof(struct day_file *));
	store->files[store->file_count++] = file;
	return file;
}

struct day_file *
store_known_day(struct store *store, int64_t day)
{
	struct day_file *file = find_day(store, day);
	struct layout_identity identity;
	char *path;

	if (retention_takes(store->retention, day))
		return NULL;
	if (file != NULL)
		return file;
	path = layout_day_path(store->directory, day);
	identity = layout_identify(path);
	free(path);
	return identity.inode != 0 ? store_day(store, day) : NULL;
}

static int64_t
today(void)
{
	return clock_day(clock_stamp().wall_ns);
}

/* Days that may be written: from the oldest whose messages may still be in the
 * queue, to tomorrow for clocks that are ahead. */
static int64_t
oldest_writable(const struct store *store)
{
	return today() - 1 -
	       (store->queue_lifetime_ns + CLOCK_NS_PER_DAY - 1) /
		   CLOCK_NS_PER_DAY;
}

bool
store_day_is_writable(const struct store *store, int64_t day)
{
	return day == LAYOUT_ODD ||
	       (day >= oldest_writable(store) && day <= today() + 1);
}

/* Takes the one writer's place. */
static int
lock_directory(struct store *store, struct reason *reason)
{
	char *path = layout_path(store->directory, "lock");
	int result = 0;

	if (mkdir(store->directory, LAYOUT_DIRECTORY_MODE) == 0)
		chmod(store->directory, LAYOUT_DIRECTORY_MODE);
	store->lock_fd = open(
	    path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, LAYOUT_FILE_MODE);
	if (store->lock_fd < 0)
		result = reason_set_errno(reason, "%s", path);
	else if (flock(store->lock_fd, LOCK_EX | LOCK_NB) != 0)
		result = errno == EWOULDBLOCK
			     ? reason_set(reason,
				   "%s: another process writes this store",
				   store->directory)
			     : reason_set_errno(reason, "%s", path);
	free(path);
	return result;
}

struct store *
store_open(const struct store_settings *settings, struct totals *totals,
    struct reason *reason)
{
	struct store *store = memory_zeroed(1, sizeof(*store));

	store->directory = memory_string(settings->directory);
	store->queue_lifetime_ns = settings->queue_lifetime_ns;
	store->totals = totals;
	store->retention_ns = settings->retention_ns;
	store->retention_bytes = (uint64_t)settings->retention_bytes;
	store->retention = retention_new(store->directory);
	store->today = today();
	store_look_again(store);
	if (lock_directory(store, reason) != 0)
		goto fail;
	store->control = control_open(store->directory, reason);
	if (store->control == NULL || store_sum_up(store, reason) != 0)
		goto fail;
	layout_remove_orphans(store->directory);
	store_measure(store);
	store->checkpoint = checkpoint_start(store->directory, reason);
	if (store->checkpoint == NULL || store_sync_open(store, reason) != 0)
		goto fail;
	store_forget_open(store);
	return store;
fail:
	store_close(&store);
	return NULL;
}

void
store_close(struct store **store)
{
	struct store *old = *store;

	if (old == NULL)
		return;
	if (old->file_count > 0)
		store_rollback(old);
	store_forget_close(old);
	store_sync_close(old);
	checkpoint_stop(&old->checkpoint);
	retention_free(&old->retention);
	for (size_t i = 0; i < old->file_count; i++)
		day_file_free(&old->files[i]);
	free(old->files);
	buffer_free(&old->counted);
	buffer_free(&old->syncing_counted);
	control_close(&old->control);
	positions_clear(&old->highest);
	positions_clear(&old->syncing);
	if (old->lock_fd > 0)
		close(old->lock_fd);
	free(old->directory);
	free(old);
	*store = NULL;
}

struct journal_position
store_lower_bound(struct store *store, const char *source)
{
	return control_bound(store->control, source);
}

bool
store_is_replay(
    struct store *store, const char *source, struct journal_position position)
{
	return journal_position_compare(
		   position, positions_get(&store->highest, source)) <= 0;
}

/* Once a day: sealed files that somebody asked for are closed. */
static void
look_at_window(struct store *store)
{
	if (today() == store->today)
		return;
	store->today = today();
	store_measure(store);
	for (size_t i = 0; i < store->file_count; i++) {
		struct day_file *file = store->files[i];

		if (!file->in_transaction && file->is_sealed)
			day_file_close(file);
	}
}

struct day_file *
store_file(struct store *store, int64_t wall_ns, struct reason *reason)
{
	int64_t day = clock_day(wall_ns);
	struct day_file *file;

	look_at_window(store);
	/* What was purged does not come back if the clock was ahead. */
	if (!store_day_is_writable(store, day) || day <= store->archived_day)
		day = LAYOUT_ODD;
	file = store_day(store, day);
	file->is_sealed = false; /* if the clock was ahead */
	return day_file_begin(file, true, reason) == 0 ? file : NULL;
}

/* Opens one of them, if it is there, and adds it to the list. */
static int
list_file(struct day_file *file, struct day_file **files, long *count,
    struct reason *reason)
{
	int opened = day_file_open(file, false, NULL, reason);

	if (opened == 1 && *count < STORE_WRITABLE_MAX) {
		day_file_begin_read(file);
		files[(*count)++] = file;
	}
	if (opened == 1)
		return day_file_write(file, reason);
	return opened;
}

static int
newest_first(const void *left, const void *right)
{
	const struct day_file *const *a = left, *const *b = right;

	return ((*a)->day < (*b)->day) - ((*a)->day > (*b)->day);
}

static int
list_past(struct store *store, struct day_file **files, long *count,
    struct reason *reason)
{
	long first = *count;

	for (size_t i = 0; i < store->file_count; i++)
		if (store_is_past(store, store->files[i]) &&
		    list_file(store->files[i], files, count, reason) != 0)
			return -1;
	qsort(files + first, (size_t)(*count - first), sizeof(*files),
	    newest_first);
	return 0;
}

long
store_writable_files(struct store *store,
    struct day_file *files_r[STORE_WRITABLE_MAX], struct reason *reason)
{
	int64_t oldest = oldest_writable(store);
	long count = 0;

	for (int64_t day = today() + 1; day >= oldest; day--)
		if (list_file(store_day(store, day), files_r, &count, reason) !=
		    0)
			return -1;
	if (list_past(store, files_r, &count, reason) != 0 ||
	    list_file(store_day(store, LAYOUT_ODD), files_r, &count, reason) !=
		0)
		return -1;
	return count;
}

int
store_probe_disk(struct store *store, struct reason *reason)
{
	if (disk_probe(store->directory, reason) == 0)
		return 0;
	for (size_t i = 0; i < store->file_count; i++)
		day_file_leave(store->files[i]);
	control_leave(store->control);
	store_forget_leave(store);
	return -1;
}

/* When the disk is full a log is what it can do without first. */
static void
empty_log(struct day_file *file)
{
	struct database *database = file->tables.database;

	if (database != NULL && database_checkpoint(database, true) != 0)
		database_rollback(database);
}

void
store_rollback(struct store *store)
{
	for (size_t i = 0; i < store->file_count; i++) {
		day_file_rollback(store->files[i]);
		empty_log(store->files[i]);
	}
}

static bool
note_log(const struct store *store, const struct day_file *file)
{
	return checkpoint_note(store->checkpoint, file->path,
	    database_wal_pages(file->tables.database));
}

/* Those that the batch did nothing to but for what it counted there. */
static int
begin_counted(struct store *store, struct reason *reason)
{
	for (size_t i = 0; i < store->file_count; i++) {
		struct day_file *file = store->files[i];

		if (day_totals_is_dirty(file->totals) &&
		    day_file_begin(file, false, reason) != 0)
			return -1;
	}
	return 0;
}

/* Commits what the batch did to each file. Stops at the first that fails. */
static int
commit_files(struct store *store, const struct source_position *positions,
    size_t count, struct reason *reason)
{
	for (size_t i = 0; i < store->file_count; i++) {
		struct day_file *file = store->files[i];

		if (!file->in_transaction)
			continue;
		if (day_file_commit(file, positions, count, reason) != 0)
			return -1;
		file->unpublished = true;
		file->written = file->committed = store->commits + 1;
	}
	return 0;
}

/* One scrape sees all of what was committed, or nothing. */
static void
publish(struct store *store)
{
	totals_begin(store->totals);
	for (size_t i = 0; i < store->file_count; i++) {
		if (store->files[i]->unpublished)
			day_totals_publish(
			    store->files[i]->totals, store->totals);
	}
	totals_end(store->totals);
	for (size_t i = 0; i < store->file_count; i++) {
		struct day_file *file = store->files[i];

		if (!file->unpublished)
			continue;
		file->unpublished = false;
		store->has_new_file |= !file->is_listed;
		file->is_listed = true;
		positions_raise_all(&store->highest, &file->positions);
		store_sync_note(store, file);
		file->log_is_copied = note_log(store, file);
	}
}

static bool
is_slow(const struct store *store, const struct day_file *file)
{
	size_t later = 0;

	for (size_t i = 0; i < store->file_count; i++)
		later += store->files[i]->written > file->written;
	return later >= FAST_FILES;
}

/* Days that are past are written now and then, for what is delivered late, and
 * all of them when a month of mail is read at once. */
static void
release_memory(struct store *store)
{
	for (size_t i = 0; i < store->file_count; i++) {
		struct day_file *file = store->files[i];

		if (file->written == 0 || !is_slow(store, file))
			continue;
		day_file_release_memory(file);
		file->written = 0;
	}
}

int64_t
store_most_events(const struct store *store)
{
	return checkpoint_most_events(store->checkpoint);
}

int
store_commit(struct store *store, const struct source_position *positions,
    size_t count, struct reason *reason)
{
	int64_t start_ns, took_ns;
	int result;

	for (size_t i = 0; i < store->file_count; i++)
		day_file_end_read(store->files[i]);
	result = begin_counted(store, reason);
	start_ns = clock_stamp().monotonic_ns;
	if (result == 0)
		result = commit_files(store, positions, count, reason);
	publish(store);
	if (result != 0) {
		store_rollback(store);
		return -1;
	}
	store_note_sums(store);
	control_raise(store->control, positions, count);
	store->is_sync_due = true;
	store->commits++;
	took_ns = clock_stamp().monotonic_ns - start_ns;
	if (took_ns > store->longest_commit_ns)
		store->longest_commit_ns = took_ns;
	release_memory(store);
	return 0;
}

/* What is left of a large log, when the thread has done the rest. */
static void
shorten_log(struct store *store, struct day_file *file)
{
	file->log_is_copied = false;
	if (file->tables.database != NULL) {
		database_begin_log_anew(file->tables.database);
		note_log(store, file);
	}
	checkpoint_finished(store->checkpoint);
}

/* Returns whether there was one to be begun anew. */
static bool
shorten_logs(struct store *store)
{
	bool was_large = false;

	for (size_t i = 0; i < store->file_count; i++) {
		if (!store->files[i]->log_is_copied)
			continue;
		shorten_log(store, store->files[i]);
		was_large = true;
	}
	return control_shorten_log(store->control) || was_large;
}

void
store_shorten_logs(struct store *store)
{
	int64_t start_ns = clock_stamp().monotonic_ns, took_ns;

	if (!shorten_logs(store))
		return;
	took_ns = clock_stamp().monotonic_ns - start_ns;
	if (took_ns > store->longest_pause_ns)
		store->longest_pause_ns = took_ns;
}

int
store_note_write(struct store *store, const char *name,
    const struct buffer *value, struct reason *reason)
{
	return control_note_write(store->control, name, value, reason);
}

bool
store_note_read(
    const struct store *store, const char *name, struct buffer *value_r)
{
	return control_note_read(store->control, name, value_r);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The archive as the store has it: added up at start, then watched; it is open
 * only while days are purged. Called by the store on the ingest thread.
 *
 * Nothing that is shown depends on it after the start, and little at the start:
 * what it counted is noted elsewhere, too. So the exporter goes on without it.
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/reason.h"
#include "store/archive.h"
#include "store/store_private.h"

/* Its log and the log's index are made and removed by whoever reads it. */
static struct layout_identity
identify(const struct store *store)
{
	char *path = layout_path(store->directory, LAYOUT_ARCHIVE);
	struct layout_identity identity = layout_identify_all(path);

	identity.log = identity.index = 0;
	free(path);
	return identity;
}

void
store_own_archive(struct store *store)
{
	store->archive_identity = identify(store);
}

static void
note_trouble(struct store *store, const struct archive *archive)
{
	struct archive_trouble trouble = archive_trouble(archive);

	store->set_aside += trouble.set_aside;
	store->replaced += trouble.replaced;
}

static void
tell_failure(struct store *store, const struct reason *reason)
{
	log_error("reason=\"%s\"", reason->text);
	store->failures++;
}

long
store_sum_up_archive(
    struct store *store, int64_t **days_r, struct reason *reason)
{
	struct archive *archive;
	int opened = archive_open(store->directory, false, &archive, reason);
	long count = 0;

	*days_r = NULL;
	if (opened < 0)
		return -1;
	if (archive != NULL) {
		count = archive_sum_up(archive, store->totals, days_r, reason);
		note_trouble(store, archive);
	}
	if (opened > 0 || count < 0)
		tell_failure(store, reason);
	archive_close(&archive);
	store_own_archive(store);
	return count < 0 ? 0 : count;
}

static void
examine(struct store *store)
{
	struct archive *archive;
	struct reason reason;
	int result = archive_open(store->directory, false, &archive, &reason);

	if (archive != NULL) {
		result = archive_examine(archive, &reason);
		note_trouble(store, archive);
	}
	if (result != 0)
		tell_failure(store, &reason);
	archive_close(&archive);
}

void
store_watch_archive(struct store *store)
{
	const struct layout_identity *before = &store->archive_identity;
	struct layout_identity now = identify(store);
	enum layout_change change = layout_compare(before, &now);

	if (change == LAYOUT_SAME)
		return;
	if (before->inode != 0) {
		log_error("file=%s/%s reason=\"%s\"", store->directory,
		    LAYOUT_ARCHIVE, layout_change_text(change));
		store->replaced++;
		examine(store);
	}
	store_own_archive(store);
}

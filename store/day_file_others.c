/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds an open day file removed, replaced or cut by others. Called by
 * day_file.c on the ingest thread.
 */
#include "store/day_file_others.h"

#include "base/log.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/day_file.h"

/* What is in a log without a name is copied, or would be lost. */
static int
save_log(struct day_file *file, struct reason *reason)
{
	file->is_reading = false;
	database_rollback(file->tables.database);
	if (database_checkpoint(file->tables.database, false) == 0)
		return 0;
	return reason_set(
	    reason, "%s: its log was removed, and is in use", file->path);
}

static int
give_up(struct day_file *file, enum layout_change change, struct reason *reason)
{
	day_file_leave(file);
	file->is_suspect = change == LAYOUT_CUT;
	file->replaced++;
	log_error(
	    "file=%s reason=\"%s\"", file->path, layout_change_text(change));
	return reason_set(
	    reason, "%s: %s", file->path, layout_change_text(change));
}

int
day_file_look_for_others(struct day_file *file, struct reason *reason)
{
	struct layout_identity now = layout_identify_all(file->path);
	enum layout_change change = layout_compare(&file->identity, &now);

	if (change == LAYOUT_SAME) {
		file->identity = now;
		return 0;
	}
	if (change == LAYOUT_LOG_REPLACED && save_log(file, reason) != 0)
		return -1;
	return give_up(file, change, reason);
}

int
day_file_look_for_removal(struct day_file *file, struct reason *reason)
{
	struct layout_identity now = layout_identify(file->path);

	if (now.device == file->identity.device &&
	    now.inode == file->identity.inode)
		return 0;
	return give_up(file, LAYOUT_REPLACED, reason);
}

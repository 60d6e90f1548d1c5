/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copying a log without crowding out the disk. Called by the checkpoint thread.
 *
 * SQLite writes all pages of a large log and then has the disk take them at
 * once: whoever wants to have a page of its own synced meanwhile waits behind
 * thousands. SQLite has no knob for that; so the file of such a connection gets
 * methods that are SQLite's own, but for one that syncs between.
 */
#include "store/database_private.h"

#include <pthread.h>

#define PAGES_AT_ONCE 256

static const sqlite3_io_methods *plain;
static sqlite3_io_methods paced;
static _Thread_local int unsynced;

static int
write_paced(
    sqlite3_file *file, const void *data, int size, sqlite3_int64 offset_bytes)
{
	int code = plain->xWrite(file, data, size, offset_bytes);

	if (code != SQLITE_OK || ++unsynced < PAGES_AT_ONCE)
		return code;
	unsynced = 0;
	return plain->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

/* Every file of SQLite's on Unix has the same methods. */
static void
set_up(const sqlite3_io_methods *methods)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	if (plain == NULL) {
		plain = methods;
		paced = *methods;
		paced.xWrite = write_paced;
	}
	pthread_mutex_unlock(&lock);
}

void
database_pace(struct database *database)
{
	sqlite3_file *file = database_file(database);

	if (file == NULL)
		return;
	set_up(file->pMethods);
	if (file->pMethods == plain)
		file->pMethods = &paced;
}

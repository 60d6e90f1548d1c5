/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seals day files. Called by the exporter on the ingest thread.
 *
 * That a day is sealed is written nowhere: it has left the window and nothing
 * is open in it, which is looked for again at each start.
 */
#include "store/store_seal.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/day_file.h"
#include "store/intern.h"
#include "store/store_private.h"

/* Statistics are of a sample: nobody waits for all of an index to be read. */
#define OPTIMIZE "PRAGMA analysis_limit = 400; PRAGMA optimize"

/* Whoever was told from others by a short pseudonym need not be any more: the
 * queue has let them go. No address is looked for by that hash. */
#define UNMARK_MAX 4000
#define LETTER "[A-Za-z]"
#define FOUR LETTER LETTER LETTER LETTER
#define UNMARK                                                                 \
	"UPDATE address SET local = '*', hash = 0 WHERE id IN"                 \
	" (SELECT id FROM address WHERE local GLOB '[*]" FOUR FOUR "'"         \
	" LIMIT %d)"

static bool
has_row(struct day_file *file, enum day_sql rows)
{
	struct statement *statement =
	    database_statement(file->tables.database, rows);
	bool found = statement_step(statement) == 1;

	statement_end(statement);
	return found;
}

bool
day_file_is_finished(struct day_file *file)
{
	if (file->tables.database == NULL)
		return true;
	return !has_row(file, SQL_RECIPIENTS_OPEN) &&
	       !has_row(file, SQL_LEGS_WAITING) &&
	       database_check(file->tables.database, NULL) == 0;
}

bool
store_is_past(const struct store *store, const struct day_file *file)
{
	return !file->is_sealed && !store_day_is_writable(store, file->day);
}

bool
store_has_past(const struct store *store)
{
	for (size_t i = 0; i < store->file_count; i++)
		if (store_is_past(store, store->files[i]))
			return true;
	return false;
}

/* A part at a time, for ingest waits. Returns 0 when nothing is left, 1, or -1.
 */
static int
unmark(struct day_file *file)
{
	struct database *database = file->tables.database;
	char sql[sizeof(UNMARK) + 16];

	snprintf(sql, sizeof(sql), UNMARK, UNMARK_MAX);
	if (database_execute(database, sql) != 0)
		return -1;
	intern_forget(file->tables.intern);
	return database_changes(database) == UNMARK_MAX;
}

/* Returns 0 when it is sealed, 1 when there is more to do, or -1 with a reason:
 * it is tried again then. */
static int
seal(struct day_file *file, struct reason *reason)
{
	struct database *database = file->tables.database;
	int result = 0;

	if (database != NULL) {
		day_file_end_read(file);
		result = unmark(file);
		if (result == 0)
			result = database_execute(database, OPTIMIZE);
	}
	if (result < 0) {
		database_check(database, reason);
		day_file_rollback(file);
	}
	if (result != 0)
		return result;
	day_file_close(file);
	file->is_sealed = true;
	return 0;
}

/* Sealed or not, what lasts is told once. */
static void
tell(struct store *store, const struct reason *reason)
{
	store->failures++;
	if (strcmp(store->seal_trouble.text, reason->text) != 0)
		log_warn("seal=failed reason=\"%s\"", reason->text);
	store->seal_trouble = *reason;
}

/* Whether a power cut may take something of a day that is past, so that it
 * would be read again. */
static bool
waits_for_disk(const struct store *store)
{
	for (size_t i = 0; i < store->file_count; i++)
		if (store_is_past(store, store->files[i]) &&
		    !store_is_synced(store, store->files[i]))
			return true;
	return false;
}

bool
store_seal(struct store *store)
{
	struct reason reason = {""};

	/* All of them at once: else the oldest might be purged last. */
	if (waits_for_disk(store))
		return false;
	for (size_t i = 0; i < store->file_count; i++) {
		struct day_file *file = store->files[i];

		if (!store_is_past(store, file) || file->in_transaction)
			continue;
		if (day_file_open(file, false, NULL, &reason) < 0 ||
		    (day_file_is_finished(file) && seal(file, &reason) < 0))
			tell(store, &reason);
	}
	if (reason.text[0] == '\0')
		store->seal_trouble = reason;
	store_measure(store);
	store_look_again(store);
	return true;
}

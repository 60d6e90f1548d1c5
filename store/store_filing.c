/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Dovecot did with mail, and LMTP session ids. Called by the exporter on
 * the ingest thread, on the writer's own connections, so that the running batch
 * is seen.
 */
#include "store/store_filing.h"

#include "base/arena.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/day_file.h"
#include "store/filing_row.h"
#include "store/recipient_row.h"
#include "store/store_private.h"

static struct recipient_place
place_of(const struct recipient_key *recipient)
{
	return (struct recipient_place){
	    recipient->message.row, recipient->number};
}

int
store_add_filing(const struct recipient_key *recipient,
    const struct filing_record *filing, struct reason *reason)
{
	const struct recipient_place place = place_of(recipient);
	struct day_file *file = recipient->message.file;

	if (day_file_begin(file, false, reason) != 0)
		return -1;
	filing_row_add(&file->tables, &place, filing);
	if (database_check(file->tables.database, reason) != 0)
		return -1;
	return database_changes(file->tables.database) > 0;
}

int
store_add_session(const struct recipient_key *recipient, const char *session,
    struct reason *reason)
{
	const struct recipient_place place = place_of(recipient);
	struct day_file *file = recipient->message.file;

	if (day_file_begin(file, false, reason) != 0)
		return -1;
	session_row_add(&file->tables, &place, session);
	return database_check(file->tables.database, reason);
}

/* Returns 0, or -1 when something fails. */
static int
find_in_day(struct day_file *file, const char *session, struct arena *arena,
    struct recipient_keys *recipients)
{
	struct recipient_place *places;
	size_t count;

	if (session_rows_find(&file->tables, session, arena, &places, &count) !=
	    0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct recipient_key *recipient = arena_append(arena,
		    &recipients->items, &recipients->count, sizeof(*recipient));

		if (recipient == NULL)
			return -1;
		recipient->message.file = file;
		recipient->message.row = places[i].message_row;
		recipient->number = places[i].number;
	}
	return 0;
}

int
store_find_session(struct store *store, const char *session,
    struct arena *arena, struct recipient_keys *recipients_r,
    struct reason *reason)
{
	struct day_file *files[STORE_WRITABLE_MAX];
	long count = store_writable_files(store, files, reason);

	*recipients_r = (struct recipient_keys){.count = 0};
	if (count < 0)
		return -1;
	for (long i = 0; i < count; i++) {
		if (find_in_day(files[i], session, arena, recipients_r) == 0)
			continue;
		if (database_check(files[i]->tables.database, reason) == 0)
			reason_set(reason, "too much was found");
		return -1;
	}
	return 0;
}

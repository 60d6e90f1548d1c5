/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums over all files: added up at start, noted with each commit. Called by
 * store.c on the ingest thread.
 *
 * The note lags behind the files at most, so that it is above what they hold
 * only when something that was counted is in none of them any more. A power cut
 * may take of the files what was not synced, and leave the note; so there is
 * another, of what was synced, for a start after the machine's.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/control.h"
#include "store/day_file.h"
#include "store/file_list.h"
#include "store/store_private.h"
#include "store/totals_note.h"
#include "store/totals_writer.h"

#define NOTE_COUNTED "counted"
#define NOTE_SYNCED "counted synced"
/* Its share of files that are gone. */
#define NOTE_CARRIED "carried"
/* That something is gone since that was noted, and told; "": nothing is. */
#define NOTE_TOLD "told"

/* Adds a file's totals to the sums, and what it was written up to. */
static int
sum_up(struct store *store, struct day_file *file, struct reason *reason)
{
	int opened = day_file_open(file, false, store->totals, reason);

	positions_raise_all(&store->highest, &file->positions);
	return opened < 0 ? -1 : 0;
}

/* Whether it has something of a batch that is read again. */
static bool
is_ahead(const struct store *store, const struct day_file *file)
{
	const struct positions *positions = &file->positions;

	for (size_t i = 0; i < positions->count; i++)
		if (journal_position_compare(positions->items[i].position,
			control_bound(
			    store->control, positions->items[i].source)) > 0)
			return true;
	return false;
}

/* One that is past writing: what it sums up to matters, and whether it is
 * sealed. */
static int
sum_up_old(struct store *store, int64_t day, struct reason *reason)
{
	struct day_file *file =
	    day_file_new(store->directory, day, totals_names(store->totals));
	int result = sum_up(store, file, reason);
	bool is_sealed = result != 0 ||
			 (day_file_is_finished(file) && !is_ahead(store, file));

	store->set_aside += file->set_aside;
	day_file_free(&file);
	if (!is_sealed)
		store_day(store, day)->is_sealed = false;
	return result;
}

static int
sum_up_files(struct store *store, struct reason *reason)
{
	int64_t *days = NULL;
	long count = layout_list(store->directory, &days, reason);
	int result = count < 0 ? -1 : 0;

	for (long i = 0; i < count && result == 0; i++) {
		if (store_day_is_writable(store, days[i]))
			result =
			    sum_up(store, store_day(store, days[i]), reason);
		else
			result = sum_up_old(store, days[i], reason);
	}
	free(days);
	return result;
}

/* What is in no file any more. */
static int
sum_up_archive(
    struct store *store, struct buffer *missing, struct reason *reason)
{
	int64_t *days = NULL;
	long count = store_sum_up_archive(store, &days, reason);

	store->archived_day = count > 0 ? days[0] : INT64_MIN;
	if (count >= 0)
		store->replaced += file_list_tell(
		    missing, store->directory, days, (size_t)count);
	free(days);
	return count < 0 ? -1 : 0;
}

static void
add_note(const struct store *store, const char *name, struct totals *totals)
{
	struct buffer note = {.data = NULL};

	if (control_note_read(store->control, name, &note))
		totals_note_add(totals, &note);
	buffer_free(&note);
}

static bool
is_told(const struct store *store)
{
	struct buffer note = {.data = NULL};
	bool told;

	control_note_read(store->control, NOTE_TOLD, &note);
	told = note.size > 0;
	buffer_free(&note);
	return told;
}

static void
note_told(struct store *store, bool told)
{
	struct buffer note = {.data = NULL};

	if (told)
		buffer_append_string(&note, "1");
	control_note_keep(store->control, NOTE_TOLD, &note);
	buffer_free(&note);
}

/* What others did to a file is told once, if possible by the file's name. */
static void
tell_carried(struct store *store)
{
	if (is_told(store))
		return;
	log_error("directory=%s reason=\"its files hold less than was "
		  "counted; what was counted stays\"",
	    store->directory);
	store->replaced += store_files_in_trouble(store) + store->failures == 0;
}

static void
note_carried(struct store *store, struct totals *carried)
{
	struct buffer note = {.data = NULL};

	totals_note_write(carried, &note);
	control_note_keep(store->control, NOTE_CARRIED, &note);
	buffer_free(&note);
	note_told(store, false);
}

/* What was counted in files that are gone. Unless the archive only cannot be
 * read now, it will never be in a file again. */
static void
carry(struct store *store)
{
	struct totals *carried = totals_new(totals_names(store->totals));
	struct totals *noted = totals_new(totals_names(store->totals));

	add_note(store, NOTE_CARRIED, carried);
	add_note(store, NOTE_CARRIED, store->totals);
	add_note(store,
	    control_is_of_other_boot(store->control) ? NOTE_SYNCED
						     : NOTE_COUNTED,
	    noted);
	if (totals_carry(store->totals, carried, noted)) {
		tell_carried(store);
		if (store->failures == 0)
			note_carried(store, carried);
	} else if (is_told(store))
		note_told(store, false);
	totals_free(&carried);
	totals_free(&noted);
}

int
store_sum_up(struct store *store, struct reason *reason)
{
	struct buffer missing = {.data = NULL};
	int result;

	file_list_missing(store->control, store->directory, &missing);
	result = sum_up_files(store, reason);
	if (result == 0)
		result = sum_up_archive(store, &missing, reason);
	buffer_free(&missing);
	if (result != 0)
		return -1;
	carry(store);
	store->has_new_file = true;
	store->known_in_trouble = store_files_in_trouble(store);
	if (store->known_in_trouble > 0)
		store_write_sums(store);
	return 0;
}

/* What goes now is told now, however much it is. */
static void
note_trouble(struct store *store)
{
	uint64_t in_trouble = store_files_in_trouble(store);

	if (in_trouble != store->known_in_trouble)
		note_told(store, true);
	store->known_in_trouble = in_trouble;
}

void
store_note_sums(struct store *store)
{
	note_trouble(store);
	totals_note_write(store->totals, &store->counted);
	control_note_keep(store->control, NOTE_COUNTED, &store->counted);
	if (store->has_new_file)
		file_list_note(store->control, store->directory);
	store->has_new_file = false;
}

void
store_write_sums(struct store *store)
{
	store_note_sums(store);
	control_write(store->control);
}

void
store_note_synced_sums(struct store *store, const struct buffer *counted)
{
	control_note_keep(store->control, NOTE_SYNCED, counted);
}

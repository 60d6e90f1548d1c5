/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Goes through the addresses of the list, and for each through the files there
 * are. Called by the exporter on the ingest thread.
 */
#include "store/store_forget.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/checkpoint.h"
#include "store/control.h"
#include "store/day_file.h"
#include "store/forget_file.h"
#include "store/forget_list.h"
#include "store/intern.h"
#include "store/store_private.h"

/* After which what could not be done is tried again. */
#define RETRY_NS CLOCK_NS_PER_SECOND
/* Between parts, in which ingest goes on. */
#define PAUSE_NS (CLOCK_NS_PER_SECOND / 100)

struct forgetting {
	struct forget_list list;
	struct pseudonym_key *key;
	int64_t due_ns;
	/* Of the first of the list. */
	struct forget_words words;
	int64_t *days;
	long day_count; /* 0: they are to be listed */
	long day;
	struct forget_file *file; /* NULL: the day's is to be opened */
	uint64_t messages;
	struct reason trouble; /* the last one told; "": none since */
};

static void
begin_again(struct forgetting *forgetting)
{
	forget_file_close(&forgetting->file);
	free(forgetting->days);
	forgetting->days = NULL;
	forgetting->day_count = 0;
	forgetting->day = 0;
	forgetting->messages = 0;
}

void
store_forget_open(struct store *store)
{
	struct forgetting *forgetting = memory_zeroed(1, sizeof(*forgetting));

	store->forgetting = forgetting;
	forget_list_read(&forgetting->list, store);
	forgetting->due_ns = forgetting->list.count > 0;
}

void
store_forget_leave(struct store *store)
{
	begin_again(store->forgetting);
}

void
store_forget_close(struct store *store)
{
	struct forgetting *forgetting = store->forgetting;

	if (forgetting == NULL)
		return;
	begin_again(forgetting);
	forget_list_clear(&forgetting->list);
	pseudonym_key_free(&forgetting->key);
	free(forgetting);
	store->forgetting = NULL;
}

int
store_forget(struct store *store, const char *address,
    struct journal_position position, struct reason *reason)
{
	struct forgetting *forgetting = store->forgetting;
	size_t count = forgetting->list.count;

	if (forget_list_add(
		&forgetting->list, store, address, position, reason) != 0)
		return -1;
	if (count == 0 && forgetting->list.count > 0)
		forgetting->due_ns = 1;
	return 0;
}

int64_t
store_forget_due(const struct store *store)
{
	return store->forgetting->due_ns;
}

static int
begin_address(
    struct store *store, struct forgetting *forgetting, struct reason *reason)
{
	if (forgetting->key == NULL && pseudonym_key_open(store->directory,
					   true, &forgetting->key, reason) != 1)
		return -1;
	forget_words_set(
	    &forgetting->words, forgetting->list.addresses[0], forgetting->key);
	forgetting->day_count =
	    layout_list(store->directory, &forgetting->days, reason);
	if (forgetting->day_count < 0) {
		forgetting->day_count = 0;
		return -1;
	}
	return 0;
}

/* Of an address whose number was remembered nothing more may be written. */
static void
let_go(struct store *store, int64_t day)
{
	for (size_t i = 0; i < store->file_count; i++) {
		struct day_file *file = store->files[i];

		if (file->day != day || file->tables.database == NULL)
			continue;
		day_file_end_read(file);
		intern_forget(file->tables.intern);
	}
}

static bool
is_sealed(const struct store *store, int64_t day)
{
	for (size_t i = 0; i < store->file_count; i++)
		if (store->files[i]->day == day)
			return store->files[i]->is_sealed;
	return !store_day_is_writable(store, day);
}

/* A file that is gone is forgotten. Returns 1 while there is more to do in
 * this one, 0, or -1. */
static int
forget_in_day(struct store *store, struct forgetting *forgetting,
    int64_t budget_ns, struct reason *reason)
{
	int64_t day = forgetting->days[forgetting->day];
	char *path = layout_day_path(store->directory, day);
	bool is_there = layout_identify(path).inode != 0;
	int result = -1;

	let_go(store, day);
	/* So that at the end there is little to be copied on this thread. */
	if (is_there && forgetting->file == NULL &&
	    !checkpoint_copy(store->checkpoint, path)) {
		free(path);
		return 1;
	}
	if (is_there && forgetting->file == NULL)
		forgetting->file = forget_file_open(
		    path, &forgetting->words, is_sealed(store, day), reason);
	free(path);
	if (!is_there)
		return 0;
	if (forgetting->file != NULL)
		result = forget_file_some(forgetting->file, budget_ns, reason);
	let_go(store, day);
	if (result == 0)
		forgetting->messages += forget_file_messages(forgetting->file);
	return result;
}

static int
end_address(
    struct store *store, struct forgetting *forgetting, struct reason *reason)
{
	if (forget_list_remove_first(&forgetting->list, store, reason) != 0)
		return -1;
	log_info("operation=forget messages=%" PRIu64 " files=%ld state=done",
	    forgetting->messages, forgetting->day_count);
	forgetting->trouble.text[0] = '\0';
	begin_again(forgetting);
	return 0;
}

static int
go_on(struct store *store, struct forgetting *forgetting, int64_t budget_ns,
    struct reason *reason)
{
	int result;

	if (forgetting->list.count == 0)
		return control_empty_log(store->control) == 0 ? 0 : 1;
	if (forgetting->days == NULL &&
	    begin_address(store, forgetting, reason) != 0)
		return -1;
	if (forgetting->day >= forgetting->day_count)
		return end_address(store, forgetting, reason) != 0 ? -1 : 1;
	result = forget_in_day(store, forgetting, budget_ns, reason);
	if (result == 0) {
		forget_file_close(&forgetting->file);
		forgetting->day++;
	}
	return result < 0 ? -1 : 1;
}

void
store_forget_some(struct store *store, int64_t now_ns, int64_t budget_ns)
{
	struct forgetting *forgetting = store->forgetting;
	struct reason reason;
	int result;

	if (forgetting->due_ns == 0 || now_ns < forgetting->due_ns)
		return;
	result = go_on(store, forgetting, budget_ns, &reason);
	forgetting->due_ns = result == 0 ? 0 : now_ns + PAUSE_NS;
	if (result >= 0)
		return;
	store->failures++;
	if (strcmp(reason.text, forgetting->trouble.text) != 0)
		log_warn("operation=forget reason=\"%s\"", reason.text);
	forgetting->trouble = reason;
	begin_again(forgetting);
	forgetting->due_ns = now_ns + RETRY_NS;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds up over the day files. Called by the command line. */
#include "store/query_forget.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/layout.h"
#include "store/pseudonym.h"
#include "store/reader_file.h"
#include "store/reader_private.h"
#include "store/search_addresses.h"

#define ARENA_BYTES ((size_t)256 << 20)

struct counting {
	struct day_tables *tables;
	struct arena *arena;
	int64_t *messages;
	size_t count;
};

/* Rows or keys of which the first number, shifted, is a message's. */
static void
add_messages(struct counting *counting, enum day_sql sql, int64_t address,
    unsigned shift)
{
	struct statement *rows =
	    database_statement(counting->tables->database, sql);
	int64_t *place;

	bind_integer(rows, address);
	bind_integer(rows, 0);
	bind_integer(rows, INT64_MAX);
	while (statement_step(rows) == 1) {
		place = arena_append(counting->arena, &counting->messages,
		    &counting->count, sizeof(*place));
		if (place != NULL)
			*place = column_integer(rows, 0) >> shift;
	}
	statement_end(rows);
}

static int
ascending(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static uint64_t
count_distinct(struct counting *counting)
{
	uint64_t distinct = 0;

	if (counting->count > 0)
		qsort(counting->messages, counting->count,
		    sizeof(*counting->messages), ascending);
	for (size_t i = 0; i < counting->count; i++)
		distinct += i == 0 ||
			    counting->messages[i] != counting->messages[i - 1];
	return distinct;
}

static uint64_t
count_in(struct day_tables *tables, char *const words[2], struct arena *arena)
{
	struct counting counting = {.tables = tables, .arena = arena};
	struct address_numbers numbers = {NULL, 0};

	for (size_t i = 0; i < 2 && words[i] != NULL; i++)
		search_addresses(tables, words[i], arena, &numbers);
	for (size_t i = 0; i < numbers.count; i++) {
		add_messages(&counting, SQL_SEARCH_RECIPIENT, numbers.items[i],
		    RECIPIENT_BITS);
		add_messages(&counting, SQL_SEARCH_ORIGINAL, numbers.items[i],
		    RECIPIENT_BITS);
		add_messages(&counting, SQL_SEARCH_SENDER, numbers.items[i], 0);
	}
	return count_distinct(&counting);
}

/* The address's pseudonym; NULL without the key. */
static char *
hashed(const char *directory, const char *address, struct arena *arena)
{
	const char *at = strrchr(address, '@');
	size_t local = at != NULL ? (size_t)(at - address) : strlen(address);
	char letters[PSEUDONYM_LETTERS], *word = NULL;
	struct buffer text = {0};
	struct pseudonym_key *key;
	struct reason reason;

	if (pseudonym_key_open(directory, false, &key, &reason) != 1)
		return NULL;
	pseudonym(key, address, local, letters, sizeof(letters));
	buffer_append_format(&text, "%c%.*s%s", PSEUDONYM_MARK,
	    PSEUDONYM_LETTERS, letters, address + local);
	word = arena_string_sized(arena, text.data, text.size);
	buffer_free(&text);
	pseudonym_key_free(&key);
	return word;
}

static int
count_days(struct store_reader *reader, char *const words[2],
    const int64_t *days, long day_count, struct address_count *count,
    struct reason *reason)
{
	for (long i = 0; i < day_count; i++) {
		struct day_tables *tables;
		struct arena *arena;
		uint64_t messages;
		int opened =
		    reader_file(reader->pool, days[i], &tables, reason);

		if (opened < 0)
			return -1;
		if (opened == 0)
			continue;
		arena = arena_new(ARENA_BYTES);
		messages = count_in(tables, words, arena);
		arena_free(&arena);
		count->messages += messages;
		count->files += messages > 0;
		if (database_check(tables->database, reason) != 0)
			opened = -1;
		reader_file_done(tables);
		if (opened < 0)
			return -1;
	}
	return 0;
}

int
store_count_address(struct store_reader *reader, const char *address,
    struct address_count *count_r, struct reason *reason)
{
	struct arena *arena = arena_new(ARENA_BYTES);
	char *words[2] = {arena_string(arena, address), NULL};
	int64_t *days;
	long day_count = layout_list(reader->directory, &days, reason);
	int result = -1;

	*count_r = (struct address_count){0};
	words[1] = hashed(reader->directory, address, arena);
	count_r->has_key = words[1] != NULL;
	if (day_count >= 0) {
		result =
		    count_days(reader, words, days, day_count, count_r, reason);
		free(days);
	}
	arena_free(&arena);
	return result;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a file's texts and blobs through, and at last marks the address itself:
 * as long as it is found, not all is done. Called by store_forget.c.
 *
 * Each part is a transaction. What it replaces is overwritten in the file
 * (secure_delete), and gone from the log when that was copied and emptied.
 */
#include "store/forget_file.h"

#include <string.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/database.h"
#include "store/hash.h"
#include "store/schema.h"
#include "store/schema_forget.h"

#define ARENA_BYTES ((size_t)64 << 20)

struct forget_file {
	const struct forget_words *words;
	bool is_sealed;
	struct database *database;
	struct arena *arena;
	unsigned table;  /* the one being read; FORGET_TABLES: all are */
	int64_t keys[2]; /* of the last row read */
	bool is_marked;
	bool is_clean; /* so is the log */
	uint64_t messages;
};

/* A row that was changed. */
struct change {
	int64_t keys[2];
	char *bytes;
	size_t size;
};

static void
begin_table(struct forget_file *file, unsigned table)
{
	file->table = table;
	file->keys[0] = file->keys[1] = INT64_MIN;
}

static int
set_up(struct forget_file *file, struct reason *reason)
{
	enum schema_state state = SCHEMA_FOREIGN;

	database_set_up_writer(file->database, true);
	database_execute(file->database, "PRAGMA secure_delete = ON");
	schema_inspect(file->database, &state);
	if (database_check(file->database, reason) != 0)
		return -1;
	if (state != SCHEMA_CURRENT && state != SCHEMA_EMPTY)
		return reason_set(reason, "a day file of another version");
	file->is_clean = file->is_marked = state == SCHEMA_EMPTY;
	if (file->is_clean)
		file->table = FORGET_TABLES;
	return 0;
}

struct forget_file *
forget_file_open(const char *path, const struct forget_words *words,
    bool is_sealed, struct reason *reason)
{
	struct forget_file *file = memory_zeroed(1, sizeof(*file));
	enum database_failure failure;

	file->words = words;
	file->is_sealed = is_sealed;
	file->arena = arena_new(ARENA_BYTES);
	begin_table(file, 0);
	file->database = database_open(path, DATABASE_WRITE, forget_sql,
	    FORGET_STATEMENTS, &failure, reason);
	if (file->database == NULL || file->arena == NULL ||
	    set_up(file, reason) != 0)
		forget_file_close(&file);
	return file;
}

void
forget_file_close(struct forget_file **file)
{
	if (*file == NULL)
		return;
	if ((*file)->database != NULL)
		database_close(&(*file)->database);
	arena_free(&(*file)->arena);
	free(*file);
	*file = NULL;
}

static bool
is_dictionary(unsigned table)
{
	return table == FORGET_TEXTS || table == FORGET_HOSTS;
}

/* Keeps a row without the address, if it had it. */
static void
look(struct forget_file *file, struct statement *rows, struct change **changes,
    size_t *count)
{
	size_t size;
	const void *bytes = column_bytes(rows, 2, &size);
	char *copy = arena_alloc(file->arena, size + 1);
	struct change *change;

	if (copy == NULL || size == 0)
		return;
	memcpy(copy, bytes, size);
	if (!forget_words_in(
		file->words, copy, size, is_dictionary(file->table)))
		return;
	change = arena_append(file->arena, changes, count, sizeof(*change));
	if (change != NULL)
		*change =
		    (struct change){{file->keys[0], file->keys[1]}, copy, size};
}

static void
write_change(struct forget_file *file, const struct change *change)
{
	struct statement *write =
	    database_statement(file->database, SQL_FORGET_CHANGE + file->table);

	if (is_dictionary(file->table))
		bind_text(write, change->bytes, change->size);
	else
		bind_blob(write, change->bytes, change->size);
	bind_integer(write, change->keys[0]);
	bind_integer(write, change->keys[1]);
	if (is_dictionary(file->table))
		bind_integer(
		    write, hash_for_index(change->bytes, change->size));
	statement_run(write);
}

/* The next rows of a table. */
static void
read_on(struct forget_file *file)
{
	struct statement *rows =
	    database_statement(file->database, SQL_FORGET_READ + file->table);
	struct change *changes = NULL;
	size_t count = 0, seen = 0;

	bind_integer(rows, file->keys[0]);
	bind_integer(rows, file->keys[1]);
	while (statement_step(rows) == 1) {
		file->keys[0] = column_integer(rows, 0);
		file->keys[1] = column_integer(rows, 1);
		look(file, rows, &changes, &count);
		seen++;
	}
	statement_end(rows);
	for (size_t i = 0; i < count; i++)
		write_change(file, &changes[i]);
	if (seen == 0)
		begin_table(file, file->table + 1);
}

struct address_row {
	int64_t id;
	bool is_marked;
};

/* Addresses are found by the hashes of their domain and their local part in
 * lower case. */
static void
find_addresses(struct forget_file *file, const char *local, size_t local_size,
    struct address_row **rows_r, size_t *count)
{
	const struct forget_words *words = file->words;
	struct statement *rows =
	    database_statement(file->database, SQL_FORGET_ADDRESSES);
	struct address_row *row;

	bind_integer(rows, hash_for_index_folded(local, local_size));
	bind_integer(
	    rows, words->domain != NULL
		      ? hash_for_index_folded(words->domain, words->domain_size)
		      : 0);
	while (statement_step(rows) == 1) {
		size_t size, domain_size;
		const char *found = column_bytes(rows, 1, &size);
		const char *domain = column_bytes(rows, 2, &domain_size);

		if (column_is_null(rows, 2))
			domain = NULL;
		else if (domain == NULL)
			domain = "";
		if (found == NULL ||
		    !forget_words_mean(words, found, size, domain, domain_size))
			continue;
		row = arena_append(file->arena, rows_r, count, sizeof(*row));
		if (row != NULL)
			*row = (struct address_row){column_integer(rows, 0),
			    pseudonym_form(found, size) == PSEUDONYM_SHORT};
	}
	statement_end(rows);
}

static void
count_messages(struct forget_file *file, int64_t id)
{
	struct statement *count =
	    database_statement(file->database, SQL_FORGET_MESSAGES);

	bind_integer(count, id);
	if (statement_step(count) == 1)
		file->messages += (uint64_t)column_integer(count, 0);
	statement_end(count);
}

/* As long as something may still be said of its messages, the mark tells whom
 * it is about. */
static void
mark_address(struct forget_file *file, const struct address_row *row)
{
	const struct forget_words *words = file->words;
	size_t size = file->is_sealed ? 1 : sizeof(words->short_mark);
	struct statement *mark =
	    database_statement(file->database, SQL_FORGET_MARK);

	bind_text(mark, words->short_mark, size);
	bind_integer(mark,
	    file->is_sealed ? 0
			    : hash_for_index_folded(words->short_mark, size));
	bind_integer(mark, row->id);
	statement_run(mark);
}

static void
mark_addresses(struct forget_file *file)
{
	const struct forget_words *words = file->words;
	struct address_row *rows = NULL;
	size_t count = 0;

	find_addresses(file, words->local, words->local_size, &rows, &count);
	find_addresses(
	    file, words->long_mark, sizeof(words->long_mark), &rows, &count);
	find_addresses(
	    file, words->short_mark, sizeof(words->short_mark), &rows, &count);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].is_marked && !file->is_sealed)
			continue;
		count_messages(file, rows[i].id);
		mark_address(file, &rows[i]);
	}
	file->is_marked = true;
}

static int
do_part(struct forget_file *file, struct reason *reason)
{
	struct database *database = file->database;

	database_begin_write(database);
	if (file->table < FORGET_TABLES)
		read_on(file);
	else
		mark_addresses(file);
	if (arena_failed(file->arena)) {
		database_rollback(database);
		return reason_set(reason, "out of memory");
	}
	database_commit(database);
	arena_reset(file->arena);
	if (database_check(database, reason) == 0)
		return 0;
	database_rollback(database);
	return -1;
}

int
forget_file_some(
    struct forget_file *file, int64_t budget_ns, struct reason *reason)
{
	int64_t end_ns = clock_stamp().monotonic_ns + budget_ns;

	/* Readers may be in the way. */
	if (file->is_marked) {
		file->is_clean = file->is_clean ||
				 database_checkpoint(file->database, true) == 0;
		return !file->is_clean;
	}
	do {
		if (do_part(file, reason) != 0)
			return -1;
	} while (!file->is_marked && file->table < FORGET_TABLES &&
		 clock_stamp().monotonic_ns < end_ns);
	return 1;
}

uint64_t
forget_file_messages(const struct forget_file *file)
{
	return file->messages;
}

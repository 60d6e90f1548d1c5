/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dictionaries of a file. Called by whoever reads or writes its rows, on that
 * connection's thread.
 *
 * What was seen lately is kept in a table of fixed size, where a newcomer takes
 * the place of whoever had its slot: nothing to search, nothing to evict, and
 * senders who never repeat cost nothing but misses. Slots hold the string
 * itself, for equal hashes can be made.
 */
#include "store/intern.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "store/database.h"
#include "store/hash.h"
#include "store/hash_filter.h"
#include "store/schema.h"

#define SLOTS 16384
#define SLOT_STRING_MAX 200
/* After so many lookups in a table all of its hashes are read. */
#define FILL_MISSES 100

struct slot {
	enum intern_kind kind;
	int64_t number; /* 0: empty */
	size_t size;
	char *text;
};

struct intern {
	struct database *database;
	struct slot slots[SLOTS];
	/* Of entries in the file; filled when they are worth it. */
	struct hash_filter filters[INTERN_KINDS];
	unsigned misses[INTERN_KINDS];
	/* The last origin: nearly always the next one too. */
	struct origin origin;
	char *origin_instance;
	/* The last that was read. */
	struct origin known;
	char *known_instance;
};

static const struct {
	enum day_sql find, add, read, hashes;
} statements[INTERN_KINDS] = {
    [INTERN_DOMAIN] = {SQL_DOMAIN_FIND, SQL_DOMAIN_ADD, SQL_DOMAIN_READ,
	SQL_DOMAIN_HASHES},
    [INTERN_HOST] = {SQL_HOST_FIND, SQL_HOST_ADD, SQL_HOST_READ,
	SQL_HOST_HASHES},
    [INTERN_TEXT] = {SQL_TEXT_FIND, SQL_TEXT_ADD, SQL_TEXT_READ,
	SQL_TEXT_HASHES},
    [INTERN_ADDRESS] = {SQL_ADDRESS_FIND, SQL_ADDRESS_ADD, SQL_ADDRESS_READ,
	SQL_ADDRESS_HASHES},
};

struct intern *
intern_new(struct database *database)
{
	struct intern *intern = memory_zeroed(1, sizeof(*intern));

	intern->database = database;
	return intern;
}

static void
forget_known(struct intern *intern)
{
	free(intern->known_instance);
	intern->known_instance = NULL;
	memset(&intern->known, 0, sizeof(intern->known));
}

void
intern_forget(struct intern *intern)
{
	for (size_t i = 0; i < SLOTS; i++) {
		free(intern->slots[i].text);
		intern->slots[i].text = NULL;
		intern->slots[i].number = 0;
	}
	for (size_t i = 0; i < INTERN_KINDS; i++)
		hash_filter_clear(&intern->filters[i]);
	free(intern->origin_instance);
	intern->origin_instance = NULL;
	memset(&intern->origin, 0, sizeof(intern->origin));
	forget_known(intern);
}

void
intern_free(struct intern **intern)
{
	if (*intern == NULL)
		return;
	intern_forget(*intern);
	free(*intern);
	*intern = NULL;
}

static struct slot *
slot_for(
    struct intern *intern, enum intern_kind kind, const char *text, size_t size)
{
	return &intern->slots[hash_bytes(text, size, kind) % SLOTS];
}

static void
remember(struct slot *slot, enum intern_kind kind, const char *text,
    size_t size, int64_t number)
{
	if (number == 0 || size > SLOT_STRING_MAX)
		return;
	slot->text = memory_resize(slot->text, size, 1);
	memcpy(slot->text, text, size);
	slot->size = size;
	slot->kind = kind;
	slot->number = number;
}

/* What identifies an entry. Of an address, `text` is the local part. */
struct key {
	enum intern_kind kind;
	int64_t domain; /* of addresses; 0: none */
	const char *text;
	size_t size;
};

static int64_t
hash_of(const struct key *key)
{
	bool is_folded =
	    key->kind == INTERN_DOMAIN || key->kind == INTERN_ADDRESS;

	return is_folded ? hash_for_index_folded(key->text, key->size)
			 : hash_for_index(key->text, key->size);
}

static struct statement *
bind_key(struct intern *intern, enum day_sql sql, const struct key *key,
    int64_t hash)
{
	struct statement *statement = database_statement(intern->database, sql);

	bind_integer(statement, hash);
	bind_text(statement, key->text, key->size);
	if (key->kind == INTERN_ADDRESS)
		bind_integer(statement, key->domain);
	return statement;
}

/* The filter of a kind, filled when it has been missed often. */
static struct hash_filter *
filter_of(struct intern *intern, enum intern_kind kind)
{
	struct hash_filter *filter = &intern->filters[kind];
	struct statement *hashes;

	if (filter->words != NULL || ++intern->misses[kind] < FILL_MISSES)
		return filter;
	hash_filter_begin(filter);
	hashes = database_statement(intern->database, statements[kind].hashes);
	while (statement_step(hashes) == 1)
		hash_filter_add(filter, column_integer(hashes, 0));
	statement_end(hashes);
	return filter;
}

/* Looks into the file's table, and adds what it does not have. */
static int64_t
look_up(struct intern *intern, const struct key *key)
{
	struct hash_filter *filter = filter_of(intern, key->kind);
	int64_t hash = hash_of(key), number = 0;
	struct statement *statement;

	if (hash_filter_may_have(filter, hash)) {
		statement =
		    bind_key(intern, statements[key->kind].find, key, hash);
		if (statement_step(statement) == 1)
			number = column_integer(statement, 0);
		statement_end(statement);
	}
	if (number != 0)
		return number;
	hash_filter_add(filter, hash);
	statement = bind_key(intern, statements[key->kind].add, key, hash);
	return statement_run(statement) == 0
		   ? database_last_row(intern->database)
		   : 0;
}

static int64_t number_of(struct intern *intern, enum intern_kind kind,
    const char *text, size_t size);

static int64_t
number_of_address(struct intern *intern, const char *text, size_t size)
{
	const char *at = memrchr(text, '@', size);
	struct key key = {.kind = INTERN_ADDRESS, .text = text, .size = size};

	if (at != NULL) {
		key.size = (size_t)(at - text);
		key.domain = number_of(
		    intern, INTERN_DOMAIN, at + 1, size - key.size - 1);
		if (key.domain == 0)
			return 0;
	}
	return look_up(intern, &key);
}

static int64_t
number_of(
    struct intern *intern, enum intern_kind kind, const char *text, size_t size)
{
	const struct key key = {.kind = kind, .text = text, .size = size};
	struct slot *slot = slot_for(intern, kind, text, size);
	int64_t number;

	if (slot->number != 0 && slot->kind == kind && slot->size == size &&
	    memcmp(slot->text, text, size) == 0)
		return slot->number;
	if (kind == INTERN_ADDRESS)
		number = number_of_address(intern, text, size);
	else
		number = look_up(intern, &key);
	remember(slot, kind, text, size, number);
	return number;
}

int64_t
intern_sized(
    struct intern *intern, enum intern_kind kind, const char *text, size_t size)
{
	return text != NULL ? number_of(intern, kind, text, size) : 0;
}

int64_t
intern_string(struct intern *intern, enum intern_kind kind, const char *text)
{
	return intern_sized(
	    intern, kind, text, text != NULL ? strlen(text) : 0);
}

char *
intern_join_address(
    struct statement *statement, int column, struct arena *arena)
{
	size_t local, domain;
	const void *text = column_bytes(statement, column, &local);
	const void *domain_text = column_bytes(statement, column + 1, &domain);
	char *address = arena_alloc(arena, local + domain + 2);

	if (address == NULL)
		return NULL;
	if (local > 0)
		memcpy(address, text, local);
	if (column_is_null(statement, column + 1))
		return address;
	address[local] = '@';
	if (domain > 0)
		memcpy(address + local + 1, domain_text, domain);
	return address;
}

char *
intern_read(struct intern *intern, enum intern_kind kind, int64_t number,
    struct arena *arena)
{
	struct statement *statement;
	char *text = NULL;
	int found;

	if (number == 0)
		return NULL;
	statement = database_statement(intern->database, statements[kind].read);
	bind_integer(statement, number);
	found = statement_step(statement);
	if (found == 0)
		database_damaged(intern->database, "dictionary");
	if (found == 1 && kind == INTERN_ADDRESS)
		text = intern_join_address(statement, 0, arena);
	else if (found == 1)
		text = column_string(statement, 0, arena);
	statement_end(statement);
	return text;
}

static struct statement *
bind_origin(
    struct intern *intern, enum day_sql sql, const struct origin *origin)
{
	struct statement *statement = database_statement(intern->database, sql);

	bind_blob(statement, origin->boot_id, CLOCK_BOOT_ID_BYTES);
	bind_string(statement, origin->instance);
	return statement;
}

static void
look_up_origin(struct intern *intern, struct origin *origin)
{
	struct statement *statement =
	    bind_origin(intern, SQL_ORIGIN_FIND, origin);

	if (statement_step(statement) == 1) {
		origin->number = column_integer(statement, 0);
		origin->boot_ns = column_integer(statement, 1);
	}
	statement_end(statement);
	if (origin->number != 0)
		return;
	statement = bind_origin(intern, SQL_ORIGIN_ADD, origin);
	bind_integer(statement, origin->boot_ns);
	if (statement_run(statement) == 0)
		origin->number = database_last_row(intern->database);
}

const struct origin *
intern_origin(struct intern *intern, const char *instance,
    const uint8_t boot_id[CLOCK_BOOT_ID_BYTES], const struct stamp *seen)
{
	static const uint8_t no_boot_id[CLOCK_BOOT_ID_BYTES];
	struct origin *origin = &intern->origin;

	if (instance == NULL)
		instance = "";
	if (origin->number != 0 && strcmp(origin->instance, instance) == 0 &&
	    memcmp(origin->boot_id, boot_id, CLOCK_BOOT_ID_BYTES) == 0)
		return origin;
	free(intern->origin_instance);
	intern->origin_instance = memory_string(instance);
	*origin = (struct origin){
	    .instance = intern->origin_instance, .boot_ns = INTERN_NO_BOOT};
	memcpy(origin->boot_id, boot_id, CLOCK_BOOT_ID_BYTES);
	if (memcmp(boot_id, no_boot_id, CLOCK_BOOT_ID_BYTES) != 0)
		origin->boot_ns = (int64_t)((uint64_t)seen->wall_ns -
					    (uint64_t)seen->monotonic_ns);
	look_up_origin(intern, origin);
	return origin;
}

/* Puts it into intern->known. */
static void
read_origin(struct intern *intern, int64_t number)
{
	struct statement *statement =
	    database_statement(intern->database, SQL_ORIGIN_READ);
	struct origin *origin = &intern->known;
	const void *text;
	size_t size;

	forget_known(intern);
	bind_integer(statement, number);
	if (statement_step(statement) == 1) {
		origin->number = number;
		text = column_bytes(statement, 0, &size);
		if (size == CLOCK_BOOT_ID_BYTES)
			memcpy(origin->boot_id, text, size);
		text = column_bytes(statement, 1, &size);
		intern->known_instance = memory_zeroed(size + 1, 1);
		if (size > 0)
			memcpy(intern->known_instance, text, size);
		origin->boot_ns = column_integer(statement, 2);
	} else {
		database_damaged(intern->database, "origin");
	}
	statement_end(statement);
}

struct origin
intern_read_origin(struct intern *intern, int64_t number, struct arena *arena)
{
	struct origin origin;

	if (intern->known.number != number || number == 0)
		read_origin(intern, number);
	origin = intern->known;
	if (arena != NULL)
		origin.instance = arena_string(arena, intern->known_instance);
	return origin;
}

int64_t
intern_origin_boot(struct intern *intern, int64_t number)
{
	if (intern->origin.number == number)
		return intern->origin.boot_ns;
	return intern_read_origin(intern, number, NULL).boot_ns;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks words up in the dictionary of addresses. Called for each file by
 * search_rows.c.
 *
 * The indexes know domains and local parts in lower case; what they do not
 * answer is asked of every address, of which a file has far fewer than rows.
 */
#include "store/search_addresses.h"

#include <string.h>

#include "base/arena.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/hash.h"
#include "store/intern.h"
#include "store/search_match.h"

struct lookup {
	struct day_tables *tables;
	const char *word;
	struct arena *arena;
	struct address_numbers *numbers;
};

static void
add_number(struct lookup *lookup, int64_t number)
{
	int64_t *place = arena_append(lookup->arena, &lookup->numbers->items,
	    &lookup->numbers->count, sizeof(*place));

	if (place != NULL)
		*place = number;
}

/* Every row of a query of which the first column is a number. */
static void
add_rows(struct lookup *lookup, struct statement *rows)
{
	while (statement_step(rows) == 1 && !arena_failed(lookup->arena))
		add_number(lookup, column_integer(rows, 0));
	statement_end(rows);
}

/* The domain's numbers, for it may be there in several ways of writing. */
static struct address_numbers
domain_numbers(struct lookup *lookup, const char *domain)
{
	struct address_numbers domains = {NULL, 0};
	struct lookup of_domains = *lookup;
	size_t size = strlen(domain);
	struct statement *rows = database_statement(
	    lookup->tables->database, SQL_DOMAIN_FIND_FOLDED);

	of_domains.numbers = &domains;
	bind_integer(rows, hash_for_index_folded(domain, size));
	bind_text(rows, domain, size);
	add_rows(&of_domains, rows);
	return domains;
}

static void
add_domain(struct lookup *lookup, const char *domain)
{
	struct address_numbers domains = domain_numbers(lookup, domain);

	for (size_t i = 0; i < domains.count; i++) {
		struct statement *rows = database_statement(
		    lookup->tables->database, SQL_ADDRESSES_OF_DOMAIN);

		bind_integer(rows, domains.items[i]);
		add_rows(lookup, rows);
	}
}

/* The word's first `size` bytes in the domain of a number; 0: in none. */
static void
add_local(struct lookup *lookup, size_t size, int64_t domain)
{
	struct statement *rows = database_statement(
	    lookup->tables->database, SQL_ADDRESS_FIND_FOLDED);

	bind_integer(rows, hash_for_index_folded(lookup->word, size));
	bind_text(rows, lookup->word, size);
	bind_integer(rows, domain);
	add_rows(lookup, rows);
}

static void
add_exactly(struct lookup *lookup, const char *at)
{
	struct address_numbers domains = domain_numbers(lookup, at + 1);

	for (size_t i = 0; i < domains.count; i++)
		add_local(
		    lookup, (size_t)(at - lookup->word), domains.items[i]);
}

static void
add_like(struct lookup *lookup, search_word_test *is)
{
	struct statement *rows =
	    database_statement(lookup->tables->database, SQL_ADDRESSES_ALL);
	struct arena *scratch = arena_new(1 << 20);

	while (statement_step(rows) == 1 && !arena_failed(lookup->arena)) {
		const char *address = intern_join_address(rows, 1, scratch);

		if (address != NULL && is(lookup->word, address))
			add_number(lookup, column_integer(rows, 0));
		arena_reset(scratch);
	}
	statement_end(rows);
	arena_free(&scratch);
}

static int
result_of(const struct lookup *lookup)
{
	return arena_failed(lookup->arena)
		   ? -1
		   : database_check(lookup->tables->database, NULL);
}

/* The domain, if the word is one; NULL: it is something else. */
static const char *
domain_of(const char *word)
{
	const char *rest = word;

	if (rest[0] == '*' && rest[1] == '@')
		rest += 2;
	else if (rest[0] == '@')
		rest++;
	else if (strchr(rest, '.') == NULL)
		return NULL;
	return strpbrk(rest, "@*") == NULL ? rest : NULL;
}

int
search_addresses(struct day_tables *tables, const char *word,
    struct arena *arena, struct address_numbers *numbers)
{
	struct lookup lookup = {tables, word, arena, numbers};
	const char *domain = domain_of(word), *at = strrchr(word, '@');

	if (domain == word)
		add_local(&lookup, strlen(word), 0);
	if (domain != NULL)
		add_domain(&lookup, domain);
	else if (at != NULL && strchr(word, '*') == NULL)
		add_exactly(&lookup, at);
	else
		add_like(&lookup, search_word_is_address);
	return result_of(&lookup);
}

int
search_addresses_part(struct day_tables *tables, const char *word,
    struct arena *arena, struct address_numbers *numbers)
{
	struct lookup lookup = {tables, word, arena, numbers};

	add_like(&lookup, search_word_is_in_address);
	return result_of(&lookup);
}

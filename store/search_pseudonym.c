/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by whoever has parsed a search, before it is asked. */
#include "store/search_pseudonym.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/reason.h"
#include "store/pseudonym.h"
#include "store/search.h"

static bool
is_about_addresses(const struct search_term *term)
{
	return term->key == SEARCH_TO || term->key == SEARCH_FROM ||
	       term->key == SEARCH_ANY;
}

/* The local part's size; 0: the word has none, or is no whole one. */
static size_t
local_size(const struct search_term *term, const char *word)
{
	const char *at = strrchr(word, '@');

	if (strchr(word, '*') != NULL || *word == PSEUDONYM_MARK)
		return 0;
	if (at != NULL)
		return (size_t)(at - word);
	/* A domain, or an id. */
	return term->key != SEARCH_ANY && strchr(word, '.') == NULL
		   ? strlen(word)
		   : 0;
}

static bool
needs_key(const struct search *search)
{
	for (size_t i = 0; i < search->term_count; i++) {
		const struct search_term *term = &search->terms[i];

		for (size_t j = 0;
		     is_about_addresses(term) && j < term->word_count; j++)
			if (local_size(term, term->words[j]) > 0)
				return true;
	}
	return false;
}

/* Where pseudonyms come from. */
struct source {
	search_pseudonym_of *of;
	void *context;
	struct arena *arena;
	struct reason *reason;
};

static int
add_word(
    const struct source *source, struct search_term *term, const char *word)
{
	size_t local = local_size(term, word);
	char found[SEARCH_PSEUDONYM_SIZE];
	char *other =
	    arena_alloc(source->arena, sizeof(found) + strlen(word) - local);
	const char **place;

	if (other == NULL || source->of(source->context, word, local, found,
				 source->reason) != 0)
		return -1;
	place = arena_append(
	    source->arena, &term->words, &term->word_count, sizeof(*place));
	if (place == NULL)
		return -1;
	strcpy(other, found);
	strcat(other, word + local);
	*place = other;
	return 0;
}

static int
add_words(const struct source *source, struct search_term *term)
{
	size_t count = term->word_count;

	for (size_t i = 0; i < count; i++)
		if (local_size(term, term->words[i]) > 0 &&
		    add_word(source, term, term->words[i]) != 0)
			return -1;
	return 0;
}

int
search_ask_pseudonyms(search_pseudonym_of *of, void *context,
    struct search *search, struct arena *arena, struct reason *reason)
{
	const struct source source = {of, context, arena, reason};

	for (size_t i = 0; i < search->term_count; i++)
		if (is_about_addresses(&search->terms[i]) &&
		    add_words(&source, &search->terms[i]) != 0)
			return arena_failed(arena)
				   ? reason_set(reason, "out of memory")
				   : -1;
	return 0;
}

static int
by_key(void *context, const char *local, size_t size,
    char pseudonym_r[SEARCH_PSEUDONYM_SIZE], struct reason *reason)
{
	const struct pseudonym_key *key = context;

	pseudonym_r[0] = PSEUDONYM_MARK;
	pseudonym(key, local, size, pseudonym_r + 1, PSEUDONYM_LETTERS);
	pseudonym_r[1 + PSEUDONYM_LETTERS] = '\0';
	return 0;
}

int
search_add_pseudonyms(const char *directory, struct search *search,
    struct arena *arena, struct reason *reason)
{
	struct pseudonym_key *key;
	int found = 0;

	if (needs_key(search))
		found = pseudonym_key_open(directory, false, &key, reason);
	if (found < 0 && errno == EACCES)
		return 1;
	if (found <= 0)
		return found;
	found = search_ask_pseudonyms(by_key, key, search, arena, reason);
	pseudonym_key_free(&key);
	return found;
}

int
search_pseudonym(const char *directory, const char *local,
    char pseudonym_r[SEARCH_PSEUDONYM_SIZE], struct reason *reason)
{
	struct pseudonym_key *key;
	int found = pseudonym_key_open(directory, false, &key, reason);

	if (found != 1)
		return found;
	by_key(key, local, strlen(local), pseudonym_r, reason);
	pseudonym_key_free(&key);
	return 1;
}

bool
search_is_pseudonym(const char *word, size_t size)
{
	return pseudonym_form(word, size) == PSEUDONYM_LONG;
}

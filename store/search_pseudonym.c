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

static void
add_word(const struct pseudonym_key *key, struct search_term *term,
    const char *word, struct arena *arena)
{
	size_t local = local_size(term, word);
	char *other = arena_alloc(
	    arena, 1 + PSEUDONYM_LETTERS + strlen(word) - local + 1);
	const char **place = arena_append(
	    arena, &term->words, &term->word_count, sizeof(*term->words));

	if (other == NULL || place == NULL)
		return;
	other[0] = PSEUDONYM_MARK;
	pseudonym(key, word, local, other + 1, PSEUDONYM_LETTERS);
	strcpy(other + 1 + PSEUDONYM_LETTERS, word + local);
	*place = other;
}

static void
add_words(const struct pseudonym_key *key, struct search_term *term,
    struct arena *arena)
{
	size_t count = term->word_count;

	for (size_t i = 0; i < count && !arena_failed(arena); i++)
		if (local_size(term, term->words[i]) > 0)
			add_word(key, term, term->words[i], arena);
}

int
search_add_pseudonyms(const char *directory, struct search *search,
    struct arena *arena, struct reason *reason)
{
	struct pseudonym_key *key;
	int found = 0;

	if (needs_key(search))
		found = pseudonym_key_open(directory, false, &key, reason);
	if (found < 0 && errno == EACCES) {
		reason_set(reason,
		    "this store knows addresses by pseudonyms only, and the "
		    "key to them is the exporter's and root's: search as root, "
		    "or ask the exporter's /api/v1/messages?q=");
		return 1;
	}
	if (found <= 0)
		return found;
	for (size_t i = 0; i < search->term_count; i++)
		if (is_about_addresses(&search->terms[i]))
			add_words(key, &search->terms[i], arena);
	pseudonym_key_free(&key);
	return arena_failed(arena) ? reason_set(reason, "out of memory") : 0;
}

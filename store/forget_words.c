/* SPDX-License-Identifier: BSD-2-Clause */
/* Called for every text and blob that may name an address. */
#include "store/forget_words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define LONGEST_SIZE_BYTE 127

void
forget_words_set(struct forget_words *words_r, const char *address,
    const struct pseudonym_key *key)
{
	const char *at = strrchr(address, '@');
	size_t size = at != NULL ? (size_t)(at - address) : strlen(address);

	*words_r = (struct forget_words){.local = address, .local_size = size};
	if (at != NULL) {
		words_r->domain = at + 1;
		words_r->domain_size = strlen(at + 1);
	}
	words_r->long_mark[0] = PSEUDONYM_MARK;
	words_r->short_mark[0] = PSEUDONYM_SHORT_MARK;
	pseudonym(
	    key, address, size, words_r->long_mark + 1, PSEUDONYM_LETTERS);
	pseudonym(key, address, size, words_r->short_mark + 1,
	    PSEUDONYM_SHORT_LETTERS);
}

static bool
is_same(const char *left, size_t left_size, const char *right, size_t size)
{
	return left_size == size && strncasecmp(left, right, size) == 0;
}

bool
forget_words_mean(const struct forget_words *words, const char *local,
    size_t local_size, const char *domain, size_t domain_size)
{
	if ((domain == NULL) != (words->domain == NULL))
		return false;
	if (domain != NULL &&
	    !is_same(domain, domain_size, words->domain, words->domain_size))
		return false;
	return is_same(local, local_size, words->local, words->local_size) ||
	       is_same(local, local_size, words->long_mark,
		   sizeof(words->long_mark)) ||
	       is_same(local, local_size, words->short_mark,
		   sizeof(words->short_mark));
}

struct place {
	const char *bytes;
	size_t size; /* of all bytes */
	size_t at;
	bool is_text;
};

static bool
is_word_byte(char byte)
{
	return isalnum((unsigned char)byte) || (unsigned char)byte >= 0x80;
}

/* Whether a name of `size` bytes may begin at the place. */
static bool
may_begin(const struct place *place, size_t size)
{
	unsigned char before;

	if (place->at == 0)
		return true;
	before = (unsigned char)place->bytes[place->at - 1];
	if (!is_word_byte((char)before) &&
	    strchr("!#$%&'*+-?^_`{|}~.", before) == NULL)
		return true;
	return before == '\'' || (!place->is_text && before >= size &&
				     before <= LONGEST_SIZE_BYTE);
}

/* Whether the domain follows behind the local part. */
static bool
has_domain(const struct forget_words *words, const struct place *place)
{
	size_t end = place->at + words->local_size, at_size = 1;

	if (words->domain == NULL || end >= place->size)
		return false;
	if (place->bytes[end] != '@') {
		at_size = 3;
		if (end + at_size > place->size ||
		    memcmp(place->bytes + end, "%40", at_size) != 0)
			return false;
	}
	end += at_size;
	if (end + words->domain_size > place->size ||
	    strncasecmp(
		place->bytes + end, words->domain, words->domain_size) != 0)
		return false;
	end += words->domain_size;
	return !place->is_text || end == place->size ||
	       (!is_word_byte(place->bytes[end]) && place->bytes[end] != '-' &&
		   (place->bytes[end] != '.' || end + 1 == place->size ||
		       !is_word_byte(place->bytes[end + 1])));
}

/* unknown user: "alice"; /home/alice/Maildir; no such user: alice */
static bool
is_lone_name(const struct forget_words *words, const struct place *place)
{
	size_t at = place->at, end = at + words->local_size;
	char before = at > 0 ? place->bytes[at - 1] : '\0';
	char after = end < place->size ? place->bytes[end] : '\0';

	if (!place->is_text && (unsigned char)before == words->local_size)
		return true;
	if ((at > 0 && is_word_byte(before)) || is_word_byte(after))
		return false;
	return (before != '\0' && strchr("\"'</(", before) != NULL) ||
	       (after != '\0' && strchr("\"'>/)", after) != NULL) ||
	       (at > 1 && before == ' ' && place->bytes[at - 2] == ':' &&
		   (after == '\0' || after == '\n'));
}

/* How many bytes at the place are to be overwritten. */
static size_t
name_size(const struct forget_words *words, const struct place *place)
{
	size_t left = place->size - place->at;
	const char *here = place->bytes + place->at;

	if (left >= sizeof(words->long_mark) &&
	    strncasecmp(here, words->long_mark, sizeof(words->long_mark)) == 0)
		return sizeof(words->long_mark);
	if (left >= sizeof(words->short_mark) &&
	    strncasecmp(here, words->short_mark, sizeof(words->short_mark)) ==
		0)
		return sizeof(words->short_mark);
	if (words->local_size == 0 || left < words->local_size ||
	    strncasecmp(here, words->local, words->local_size) != 0)
		return 0;
	if (has_domain(words, place) && may_begin(place, words->local_size))
		return words->local_size;
	return is_lone_name(words, place) ? words->local_size : 0;
}

bool
forget_words_in(
    const struct forget_words *words, char *bytes, size_t size, bool is_text)
{
	struct place place = {bytes, size, 0, is_text};
	bool changed = false;

	while (place.at < size) {
		size_t name = name_size(words, &place);

		if (name > 0)
			memset(bytes + place.at, '*', name);
		changed = changed || name > 0;
		place.at += name > 0 ? name : 1;
	}
	return changed;
}

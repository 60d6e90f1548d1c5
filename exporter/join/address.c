/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares addresses. Called by the join on the ingest thread.
 *
 * The store may have an address in another form than it is told in now, because
 * the configuration was changed, or because the address was forgotten. Any two
 * forms can be compared by the letters that the shorter mark has.
 */
#include "exporter/join/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "store/pseudonym.h"

static const struct pseudonym_key *key;

void
address_use_key(const struct pseudonym_key *with)
{
	key = with;
}

static size_t
local_size(const char *address)
{
	const char *at = strrchr(address, '@');

	return at != NULL ? (size_t)(at - address) : strlen(address);
}

static enum likeness
likeness_as_written(const char *left, const char *right, size_t local)
{
	if (strcasecmp(left, right) != 0 || local != local_size(right) ||
	    left[local] != right[local])
		return LIKE_NOT;
	return memcmp(left, right, local) == 0 ? LIKE_EXACTLY : LIKE_FOLDED;
}

/* What stands for the local part in all forms. */
static void
read_letters(const char *address, size_t size, enum pseudonym_form form,
    char letters_r[PSEUDONYM_SHORT_LETTERS])
{
	if (form == PSEUDONYM_NONE)
		pseudonym(
		    key, address, size, letters_r, PSEUDONYM_SHORT_LETTERS);
	else
		memcpy(letters_r, address + 1, PSEUDONYM_SHORT_LETTERS);
}

static enum likeness
likeness_of_forms(const char *left, const char *right, size_t local)
{
	size_t right_local = local_size(right);
	enum pseudonym_form form = pseudonym_form(left, local);
	enum pseudonym_form right_form = pseudonym_form(right, right_local);
	char letters[PSEUDONYM_SHORT_LETTERS];
	char right_letters[PSEUDONYM_SHORT_LETTERS];

	if (form == right_form ||
	    strcasecmp(left + local, right + right_local) != 0)
		return LIKE_NOT;
	read_letters(left, local, form, letters);
	read_letters(right, right_local, right_form, right_letters);
	if (strncasecmp(letters, right_letters, sizeof(letters)) != 0)
		return LIKE_NOT;
	return memcmp(letters, right_letters, sizeof(letters)) == 0
		   ? LIKE_EXACTLY
		   : LIKE_FOLDED;
}

enum likeness
address_likeness(const char *left, const char *right)
{
	size_t local = local_size(left);
	enum likeness likeness = likeness_as_written(left, right, local);

	return likeness == LIKE_NOT && key != NULL
		   ? likeness_of_forms(left, right, local)
		   : likeness;
}

const char *
address_domain(const char *address)
{
	const char *at = strrchr(address, '@');

	return at != NULL ? at + 1 : NULL;
}

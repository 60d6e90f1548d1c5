/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forget_words: overwrites an address wherever bytes name it, with as many *.
 *
 * Sizes stay, so that what refers to places in the bytes goes on to. Pure; any
 * thread.
 */
#ifndef STORE_FORGET_WORDS_H
#define STORE_FORGET_WORDS_H

#include "store/pseudonym.h"

#include <stdbool.h>
#include <stddef.h>

struct forget_words {
	const char *local; /* as it is written, in any case */
	size_t local_size;
	const char *domain; /* NULL: it has none */
	size_t domain_size;
	/* What may stand for it. */
	char long_mark[1 + PSEUDONYM_LETTERS];
	char short_mark[1 + PSEUDONYM_SHORT_LETTERS];
};

/* Borrows the address. */
void forget_words_set(struct forget_words *words_r, const char *address,
    const struct pseudonym_key *key);

/* Whether an address, with or without its domain (NULL), is the one meant, or
 * stands for it. */
bool forget_words_mean(const struct forget_words *words, const char *local,
    size_t local_size, const char *domain, size_t domain_size);

/* Overwrites the local part of the address, and where it stands alone as a
 * name. `is_text`: else words may have their size, a byte, in front. Returns
 * whether anything was. */
bool forget_words_in(
    const struct forget_words *words, char *bytes, size_t size, bool is_text);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* suggest: the word that somebody probably meant. Pure. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

/* The one of `words` that is nearest to `word` by insertions, deletions,
 * replacements and swaps of neighbours, if these are few for its length; else
 * NULL. The first of several. */
const char *suggest(const char *word, const char *const *words, size_t count);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search_pseudonym: finds addresses of which only pseudonyms are kept.
 *
 * Of words that name a whole address or all before its @, the pseudonym is
 * another word for the same. Words with * and parts of addresses have none.
 */
#ifndef STORE_SEARCH_PSEUDONYM_H
#define STORE_SEARCH_PSEUDONYM_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct reason;
struct search;

/* With its mark and a NUL. */
#define SEARCH_PSEUDONYM_SIZE 18

/* Adds them to the terms of *search, in `arena`, with the key of the store in
 * `directory`, if it has one. Returns 0; 1 when the search would need the key,
 * which is not for us to read; or -1 with a reason. */
int search_add_pseudonyms(const char *directory, struct search *search,
    struct arena *arena, struct reason *reason);

/* The pseudonym of the `size` bytes at `local`. Returns 0, or -1 with a reason.
 */
typedef int search_pseudonym_of(void *context, const char *local, size_t size,
    char pseudonym_r[SEARCH_PSEUDONYM_SIZE], struct reason *reason);

/* The same with pseudonyms that somebody else tells. Returns 0, or -1 with a
 * reason, also his. */
int search_ask_pseudonyms(search_pseudonym_of *of, void *context,
    struct search *search, struct arena *arena, struct reason *reason);

/* That of one word, as search_add_pseudonyms() has it. Returns 1, 0 when the
 * store has no key, or -1 with a reason. */
int search_pseudonym(const char *directory, const char *local,
    char pseudonym_r[SEARCH_PSEUDONYM_SIZE], struct reason *reason);

/* Whether it looks like one. */
bool search_is_pseudonym(const char *word, size_t size);

#endif

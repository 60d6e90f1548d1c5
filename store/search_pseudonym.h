/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search_pseudonym: finds addresses of which only pseudonyms are kept.
 *
 * Of words that name a whole address or all before its @, the pseudonym is
 * another word for the same. Words with * and parts of addresses have none.
 */
#ifndef STORE_SEARCH_PSEUDONYM_H
#define STORE_SEARCH_PSEUDONYM_H

struct arena;
struct pseudonym_key;
struct reason;
struct search;

/* Adds them to the terms of *search, in `arena`, with the key of the store in
 * `directory`, if it has one. Returns 0; 1 with a reason when the search would
 * need the key, which is not for us to read; or -1 with a reason. */
int search_add_pseudonyms(const char *directory, struct search *search,
    struct arena *arena, struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search_terms: the operands of a subcommand that are a search.
 */
#ifndef CLI_SEARCH_TERMS_H
#define CLI_SEARCH_TERMS_H

struct arena;
struct search;
struct store_options;

/* -KEY:WORD is a term and no option: makes it !KEY:WORD, which is the same to
 * the search. To be called before the options are read. */
void search_terms_spare(int argc, char **argv);

/* Reads them, in `arena`, with the pseudonyms that the store in `directory` has
 * for their addresses. Returns EXIT_OK, or else said why not. */
int search_terms_read(const struct store_options *options,
    const char *directory, struct arena *arena, struct search *search_r);

#endif

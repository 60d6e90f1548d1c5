/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search_addresses: the numbers of the addresses in one file that a word of a
 * search means.
 *
 * Failures stick to the connection.
 */
#ifndef STORE_SEARCH_ADDRESSES_H
#define STORE_SEARCH_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct day_tables;

struct address_numbers {
	int64_t *items;
	size_t count;
};

/* Adds them to *numbers, in `arena`. Returns 0, or -1. */
int search_addresses(struct day_tables *tables, const char *word,
    struct arena *arena, struct address_numbers *numbers);

/* The same, of a bare word: all that it is a part of. */
int search_addresses_part(struct day_tables *tables, const char *word,
    struct arena *arena, struct address_numbers *numbers);

#endif

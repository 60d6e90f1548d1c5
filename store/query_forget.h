/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query_forget: in how many messages an address is kept, for whoever wants it
 * forgotten.
 *
 * Part of query.h, whose rules hold.
 */
#ifndef STORE_QUERY_FORGET_H
#define STORE_QUERY_FORGET_H

#include <stdbool.h>
#include <stdint.h>

struct reason;
struct store_reader;

struct address_count {
	uint64_t messages; /* as sender, recipient or its original address */
	uint64_t files;
	bool has_key; /* pseudonyms of it were looked for, too */
};

/* Returns 0, or -1 with a reason. A local part that is only marked is not
 * counted. */
int store_count_address(struct store_reader *reader, const char *address,
    struct address_count *count_r, struct reason *reason);

#endif

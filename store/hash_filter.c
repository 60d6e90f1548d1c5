/* SPDX-License-Identifier: BSD-2-Clause */
/* A bit map. Owned by intern. */
#include "store/hash_filter.h"

#include <stdlib.h>

#include "base/memory.h"

/* 128 kB; with 100,000 entries one new one in ten is looked for in vain. */
#define FILTER_BITS (UINT64_C(1) << 20)
#define WORD_BITS 64

static uint64_t
bit_of(int64_t hash)
{
	return (uint64_t)hash % FILTER_BITS;
}

void
hash_filter_begin(struct hash_filter *filter)
{
	hash_filter_clear(filter);
	filter->words =
	    memory_zeroed(FILTER_BITS / WORD_BITS, sizeof(*filter->words));
}

void
hash_filter_add(struct hash_filter *filter, int64_t hash)
{
	uint64_t bit = bit_of(hash);

	if (filter->words != NULL)
		filter->words[bit / WORD_BITS] |= UINT64_C(1)
						  << bit % WORD_BITS;
}

bool
hash_filter_may_have(const struct hash_filter *filter, int64_t hash)
{
	uint64_t bit = bit_of(hash);

	return filter->words == NULL ||
	       (filter->words[bit / WORD_BITS] >> bit % WORD_BITS & 1) != 0;
}

void
hash_filter_clear(struct hash_filter *filter)
{
	free(filter->words);
	filter->words = NULL;
}

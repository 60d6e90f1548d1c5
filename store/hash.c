/* SPDX-License-Identifier: BSD-2-Clause */
/* The hashes of xxHash that the store uses, for intern and rows. */
#include "store/hash.h"

#include <xxhash.h>

int64_t
hash_for_index(const char *text, size_t size)
{
	return (int32_t)XXH32(text, size, 0);
}

uint64_t
hash_bytes(const void *data, size_t size, uint64_t seed)
{
	return XXH3_64bits_withSeed(data, size, seed);
}

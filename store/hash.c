/* SPDX-License-Identifier: BSD-2-Clause */
/* The hashes of xxHash that the store uses, for intern and rows. */
#include "store/hash.h"

/* For the state on the stack. */
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#define PIECE_BYTES 64

int64_t
hash_for_index(const char *text, size_t size)
{
	return (int32_t)XXH32(text, size, 0);
}

int64_t
hash_for_index_folded(const char *text, size_t size)
{
	XXH32_state_t state;
	char piece[PIECE_BYTES];

	XXH32_reset(&state, 0);
	while (size > 0) {
		size_t part = size < PIECE_BYTES ? size : PIECE_BYTES;

		for (size_t i = 0; i < part; i++)
			piece[i] = text[i] >= 'A' && text[i] <= 'Z'
				       ? (char)(text[i] + ('a' - 'A'))
				       : text[i];
		XXH32_update(&state, piece, part);
		text += part;
		size -= part;
	}
	return (int32_t)XXH32_digest(&state);
}

int64_t
hash_for_key(const char *text, size_t size)
{
	return (int64_t)XXH64(text, size, 0);
}

uint64_t
hash_bytes(const void *data, size_t size, uint64_t seed)
{
	return XXH3_64bits_withSeed(data, size, seed);
}

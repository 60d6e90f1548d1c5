/* SPDX-License-Identifier: BSD-2-Clause */
/* hash: where strings are looked for. No state, any thread. */
#ifndef STORE_HASH_H
#define STORE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* What strings are indexed by on disk: 32 bits, the same on
 * every machine. Different strings may have the same. */
int64_t hash_for_index(const char *text, size_t size);

/* The same for both cases of ASCII letters; of text without upper case, the
 * same as hash_for_index(). */
int64_t hash_for_index_folded(const char *text, size_t size);

/* The same with 64 bits, which are taken for the string itself. */
int64_t hash_for_key(const char *text, size_t size);

/* For tables in memory. */
uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);

#endif

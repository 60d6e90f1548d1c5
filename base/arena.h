/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena: memory of one lifetime, freed at once, bounded.
 *
 * What belongs to one message or one transaction lives in its arena; resetting
 * the arena forgets all of it, so that nothing of a message can be left over
 * for the next. An allocation beyond the limit, or refused by the system,
 * returns NULL and marks the arena as failed: the owner checks once at the end
 * and gives up the telemetry, never the mail. Not thread-safe.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* Returns NULL when there is no memory. Nothing of `limit_bytes` is taken
 * before it is needed. */
struct arena *arena_new(size_t limit_bytes);

/* Zeroed, aligned for any type; NULL on failure. */
void *arena_alloc(struct arena *arena, size_t size);

/* Room for one more element in the array at *items of *count elements of `size`
 * bytes: a zeroed element at the end, *count then one larger, or NULL. Grows by
 * doubling, the old array staying in the arena until reset. */
void *arena_append(
    struct arena *arena, void *items, size_t *count, size_t size);

/* Copies of text, NUL-terminated. NULL text gives NULL without failure. A NUL
 * byte inside `size` bytes is copied as '?'. */
char *arena_string(struct arena *arena, const char *text);
char *arena_string_sized(struct arena *arena, const void *text, size_t size);

/* Whether an allocation failed since the last reset. */
bool arena_failed(const struct arena *arena);

/* Forgets everything; keeps one block for the next use. */
void arena_reset(struct arena *arena);

void arena_free(struct arena **arena);

#endif

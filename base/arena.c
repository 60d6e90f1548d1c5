/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chain of blocks, filled from the front. Owned by one session or one
 * transaction of the milter or the hook, on whatever thread it is worked on.
 * The limit counts whole blocks, so that it bounds what the system gave.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK_BYTES 2000
#define FIRST_ITEMS 4

struct block {
	struct block *previous;
	size_t capacity;
	size_t used;
	alignas(max_align_t) unsigned char data[];
};

struct arena {
	struct block *newest;
	size_t limit_bytes;
	size_t held_bytes; /* capacity of all blocks */
	bool failed;
};

struct arena *
arena_new(size_t limit_bytes)
{
	struct arena *arena = calloc(1, sizeof(*arena));

	if (arena != NULL)
		arena->limit_bytes = limit_bytes;
	return arena;
}

static size_t
align_size(size_t size)
{
	return (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

/* Each block is twice the one before, as far as the limit allows. */
static struct block *
block_add(struct arena *arena, size_t size)
{
	size_t left = arena->limit_bytes - arena->held_bytes;
	size_t capacity = FIRST_BLOCK_BYTES;
	struct block *block;

	if (arena->newest != NULL)
		capacity = 2 * arena->newest->capacity;
	if (capacity < size)
		capacity = size;
	if (capacity > left)
		capacity = left;
	if (capacity < size)
		return NULL;
	block = malloc(sizeof(*block) + capacity);
	if (block == NULL)
		return NULL;
	*block =
	    (struct block){.previous = arena->newest, .capacity = capacity};
	arena->newest = block;
	arena->held_bytes += capacity;
	return block;
}

static void *
arena_fail(struct arena *arena)
{
	arena->failed = true;
	return NULL;
}

void *
arena_alloc(struct arena *arena, size_t size)
{
	struct block *block;
	void *data;

	if (arena == NULL)
		return NULL;
	if (size > arena->limit_bytes || size > SIZE_MAX / 2)
		return arena_fail(arena);
	block = arena->newest;
	size = align_size(size > 0 ? size : 1);
	if (block == NULL || size > block->capacity - block->used)
		block = block_add(arena, size);
	if (block == NULL)
		return arena_fail(arena);
	data = block->data + block->used;
	block->used += size;
	return memset(data, 0, size);
}

/* The capacity is not kept: it is FIRST_ITEMS, then every power of two, so a
 * count that equals one means that the array is full. */
static bool
array_is_full(size_t count)
{
	return count == 0 || (count >= FIRST_ITEMS && !(count & (count - 1)));
}

void *
arena_append(struct arena *arena, void *items, size_t *count, size_t size)
{
	unsigned char *array, *larger;
	size_t capacity, bytes;

	memcpy(&array, items, sizeof(array));
	if (array_is_full(*count)) {
		capacity = *count == 0 ? FIRST_ITEMS : 2 * *count;
		if (__builtin_mul_overflow(capacity, size, &bytes))
			bytes = SIZE_MAX;
		larger = arena_alloc(arena, bytes);
		if (larger == NULL)
			return NULL;
		if (*count > 0)
			memcpy(larger, array, *count * size);
		array = larger;
		memcpy(items, &array, sizeof(array));
	}
	return array + size * (*count)++;
}

char *
arena_string(struct arena *arena, const char *text)
{
	return text != NULL ? arena_string_sized(arena, text, strlen(text))
			    : NULL;
}

char *
arena_string_sized(struct arena *arena, const void *text, size_t size)
{
	char *copy;

	if (text == NULL || arena == NULL)
		return NULL;
	if (size > arena->limit_bytes)
		return arena_fail(arena);
	copy = arena_alloc(arena, size + 1);
	if (copy == NULL)
		return NULL;
	memcpy(copy, text, size);
	for (size_t i = 0; i < size; i++) {
		if (copy[i] == '\0')
			copy[i] = '?';
	}
	return copy;
}

bool
arena_failed(const struct arena *arena)
{
	return arena == NULL || arena->failed;
}

void
arena_reset(struct arena *arena)
{
	struct block *block;

	if (arena == NULL)
		return;
	arena->failed = false;
	while ((block = arena->newest) != NULL && block->previous != NULL) {
		arena->newest = block->previous;
		arena->held_bytes -= block->capacity;
		free(block);
	}
	if (block != NULL)
		block->used = 0;
}

void
arena_free(struct arena **arena)
{
	if (*arena == NULL)
		return;
	arena_reset(*arena);
	free((*arena)->newest);
	free(*arena);
	*arena = NULL;
}

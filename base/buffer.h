/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * buffer: growing bytes with a sticky error.
 *
 * After an allocation failed or the limit was hit, later appends do nothing and
 * `failed` stays set: check once, at the end. A zeroed struct is an empty
 * buffer without a limit. Not thread-safe.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
	unsigned char *data;
	size_t size;
	size_t capacity;
	size_t limit; /* 0: none */
	bool failed;
};

void buffer_append(struct buffer *buffer, const void *data, size_t size);
void buffer_append_string(struct buffer *buffer, const char *text);
void buffer_append_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* `size` bytes at the end for the caller to fill, or NULL. */
void *buffer_reserve(struct buffer *buffer, size_t size);

/* Drops `size` bytes from the front. */
void buffer_consume(struct buffer *buffer, size_t size);

/* Makes it empty, without error; the memory is kept. */
void buffer_clear(struct buffer *buffer);

/* Gives the memory back; the struct is then an empty buffer. */
void buffer_free(struct buffer *buffer);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Growing bytes. Owned by whoever declared the struct, on one thread at a time;
 * used to build records, replies and pages.
 */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 256

/* Makes room for `size` more bytes, and the NUL that formatting writes. */
static bool
buffer_grow(struct buffer *buffer, size_t size)
{
	size_t needed, capacity = buffer->capacity;
	unsigned char *data;

	if (buffer->failed)
		return false;
	if (__builtin_add_overflow(buffer->size, size, &needed) ||
	    needed > SIZE_MAX / 4 ||
	    (buffer->limit != 0 && needed > buffer->limit)) {
		buffer->failed = true;
		return false;
	}
	if (needed < capacity)
		return true;
	if (capacity < FIRST_BYTES)
		capacity = FIRST_BYTES;
	while (capacity <= needed)
		capacity *= 2;
	data = realloc(buffer->data, capacity);
	if (data == NULL) {
		buffer->failed = true;
		return false;
	}
	buffer->data = data;
	buffer->capacity = capacity;
	return true;
}

void *
buffer_reserve(struct buffer *buffer, size_t size)
{
	void *room;

	if (!buffer_grow(buffer, size))
		return NULL;
	room = buffer->data + buffer->size;
	buffer->size += size;
	return room;
}

void
buffer_append(struct buffer *buffer, const void *data, size_t size)
{
	void *room = buffer_reserve(buffer, size);

	if (room != NULL && size > 0)
		memcpy(room, data, size);
}

void
buffer_append_string(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text));
}

void
buffer_append_format(struct buffer *buffer, const char *format, ...)
{
	va_list arguments;
	char *room;
	int size;

	va_start(arguments, format);
	size = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (size < 0) {
		buffer->failed = true;
		return;
	}
	room = buffer_reserve(buffer, (size_t)size);
	if (room == NULL)
		return;
	va_start(arguments, format);
	vsnprintf(room, (size_t)size + 1, format, arguments);
	va_end(arguments);
}

void
buffer_consume(struct buffer *buffer, size_t size)
{
	if (size > buffer->size)
		size = buffer->size;
	buffer->size -= size;
	if (buffer->size > 0)
		memmove(buffer->data, buffer->data + size, buffer->size);
}

void
buffer_clear(struct buffer *buffer)
{
	buffer->size = 0;
	buffer->failed = false;
}

void
buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){.data = NULL};
}

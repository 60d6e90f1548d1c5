/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocation for the exporter, the store and the command line, on any thread.
 * Ends the process at once when there is none: no exit handlers run, because
 * they would find state that another thread is halfway through.
 */
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

static void *
memory_check(void *memory)
{
	if (memory == NULL) {
		log_error("reason=out of memory");
		_exit(1);
	}
	return memory;
}

void *
memory_zeroed(size_t count, size_t size)
{
	return memory_check(calloc(count > 0 ? count : 1, size > 0 ? size : 1));
}

void *
memory_resize(void *old, size_t count, size_t size)
{
	return memory_check(
	    reallocarray(old, count > 0 ? count : 1, size > 0 ? size : 1));
}

char *
memory_string(const char *text)
{
	return memory_check(strdup(text));
}

char *
memory_format(const char *format, ...)
{
	va_list arguments;
	char *text;
	int size;

	va_start(arguments, format);
	size = vasprintf(&text, format, arguments);
	va_end(arguments);
	return memory_check(size >= 0 ? text : NULL);
}

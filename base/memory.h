/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory: allocation that either succeeds or ends the process.
 *
 * For the exporter, the store and the command line, where running on without
 * memory would only produce wrong answers and a restart loses nothing. Never
 * for the milter or the hook, which use arena.h and buffer.h and give up
 * telemetry instead.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

void *memory_zeroed(size_t count, size_t size);
void *memory_resize(void *old, size_t count, size_t size);
char *memory_string(const char *text);
char *memory_format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* text: making text from outside harmless. No state, any thread. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The size in bytes of the UTF-8 character (RFC 3629) at the front of the
 * `size` bytes at `text`; 0 where there is none: an invalid or cut sequence. */
size_t text_character(const char *text, size_t size);

/* Whether all of it is UTF-8, and without NUL. */
bool text_is_utf8(const char *text, size_t size);

/* Overwrites control characters (C0, DEL and C1) and bytes that are not UTF-8
 * with '?'. The size in bytes stays. */
void text_sanitize(char *text, size_t size);

/* The largest size <= `limit` at which the `size` bytes can be cut without
 * splitting a character of sanitized text. */
size_t text_cut(const char *text, size_t size, size_t limit);

/* The value of a hexadecimal digit in either case, or -1. */
int text_hex_value(char digit);

#endif

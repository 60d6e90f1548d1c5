/* SPDX-License-Identifier: BSD-2-Clause */
/* uuid: UUID version 7 of RFC 9562: 48 bits of milliseconds, the rest random.
 */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UUID_BYTES 16
#define UUID_TEXT_SIZE 37 /* with the NUL */

struct uuid {
	uint8_t bytes[UUID_BYTES];
};

/* A new one for the given wall clock time. Randomness is getrandom(2)'s, taken
 * in blocks; any thread. Never blocks after boot, never fails. */
struct uuid uuid_new(int64_t wall_ns);

/* The wall clock time in it, in whole milliseconds. */
int64_t uuid_wall_ns(const struct uuid *uuid);

bool uuid_is_set(const struct uuid *uuid); /* any bit */
bool uuid_equal(const struct uuid *left, const struct uuid *right);

void uuid_format(const struct uuid *uuid, char text_r[UUID_TEXT_SIZE]);

/* Reads 36 characters, hexadecimal in either case. Returns 0, or -1 when it is
 * anything but a version 7 UUID. */
int uuid_parse(const char *text, size_t size, struct uuid *uuid_r);

#endif

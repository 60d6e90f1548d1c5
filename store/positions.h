/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * positions: how far each source was read, in memory and in a table.
 *
 * A zeroed struct is an empty list. Belongs to one thread.
 */
#ifndef STORE_POSITIONS_H
#define STORE_POSITIONS_H

#include "proto/segment.h"

#include <stddef.h>

struct database;

struct positions {
	struct named_position {
		char *source;
		struct journal_position position;
	} * items;
	size_t count;
};

/* Zero for an unknown source. */
struct journal_position positions_get(
    const struct positions *positions, const char *source);

/* Never goes back. */
void positions_raise(struct positions *positions, const char *source,
    struct journal_position position);

void positions_raise_all(
    struct positions *positions, const struct positions *from);

/* Statement `read` has columns source, segment and offset, `write` takes them.
 * Failures stick to the connection. */
void positions_read(
    struct positions *positions, struct database *database, unsigned read);
void position_write(struct database *database, unsigned write,
    const char *source, struct journal_position position);

/* The position of `source`, or `position` if that is further. */
struct journal_position positions_further(const struct positions *positions,
    const char *source, struct journal_position position);

/* Makes it an empty list. */
void positions_clear(struct positions *positions);

#endif

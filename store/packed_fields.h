/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packed_fields: the members of a struct; what is as usual takes one bit.
 *
 * A table lists the members. Its order is the order on disk: append, never
 * reorder. Those that are usual most often belong at the end, where their bits
 * cost nothing.
 */
#ifndef STORE_PACKED_FIELDS_H
#define STORE_PACKED_FIELDS_H

#include "store/packed.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct day_tables;

enum field_kind {
	FIELD_UINT32,  /* and enums */
	FIELD_UINT64,  /* and int64_t that are rarely negative */
	FIELD_HOST,    /* const char *, interned */
	FIELD_TEXT,    /* const char *, interned */
	FIELD_ADDRESS, /* const char *, interned */
	FIELD_STRING,  /* const char *, in place */
	FIELD_UUID     /* struct uuid, in place */
};

struct packed_field {
	enum field_kind kind;
	size_t offset;
	uint64_t usual; /* of numbers, and left out; strings: NULL is */
};

struct packed_table {
	const struct packed_field *fields;
	size_t count; /* at most 64 */
};

void packed_put_fields(struct packed_writer *writer, struct day_tables *tables,
    const struct packed_table *table, const void *from);

/* Strings go to `arena`; without one (NULL) they are passed over. `to` must be
 * zeroed. */
void packed_get_fields(struct packed_reader *reader, struct day_tables *tables,
    const struct packed_table *table, struct arena *arena, void *to);

#endif

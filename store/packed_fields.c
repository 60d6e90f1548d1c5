/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tagged members, for message_row and leg_row. On the thread that has the
 * connection.
 *
 * A tag's lowest bit tells whether bytes follow or one number, so that unknown
 * tags can be skipped. Tag 0 ends the list.
 */
#include "store/packed_fields.h"

#include <string.h>

#include "base/arena.h"
#include "store/day_tables.h"
#include "store/intern.h"

enum { NUMBER_FOLLOWS, BYTES_FOLLOW };

static const struct {
	int follows;
	enum intern_kind intern; /* of those that are interned */
} kinds[] = {
    [FIELD_UINT32] = {NUMBER_FOLLOWS, INTERN_KINDS},
    [FIELD_UINT64] = {NUMBER_FOLLOWS, INTERN_KINDS},
    [FIELD_HOST] = {NUMBER_FOLLOWS, INTERN_HOST},
    [FIELD_TEXT] = {NUMBER_FOLLOWS, INTERN_TEXT},
    [FIELD_ADDRESS] = {NUMBER_FOLLOWS, INTERN_ADDRESS},
    [FIELD_STRING] = {BYTES_FOLLOW, INTERN_KINDS},
    [FIELD_UUID] = {BYTES_FOLLOW, INTERN_KINDS},
};

static uint64_t
number_in(struct day_tables *tables, const struct packed_field *field,
    const char *member)
{
	uint32_t number;
	uint64_t wide;
	const char *text;

	switch (field->kind) {
	case FIELD_UINT32:
		memcpy(&number, member, sizeof(number));
		return number;
	case FIELD_UINT64:
		memcpy(&wide, member, sizeof(wide));
		return wide;
	default:
		memcpy(&text, member, sizeof(text));
		return (uint64_t)intern_string(
		    tables->intern, kinds[field->kind].intern, text);
	}
}

static const void *
bytes_in(const struct packed_field *field, const char *member, size_t *size_r)
{
	const char *text;

	if (field->kind == FIELD_UUID) {
		*size_r = UUID_BYTES;
		return uuid_is_set((const void *)member) ? member : NULL;
	}
	memcpy(&text, member, sizeof(text));
	*size_r = text != NULL ? strlen(text) : 0;
	return text;
}

void
packed_put_fields(struct packed_writer *writer, struct day_tables *tables,
    const struct packed_table *table, const void *from)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct packed_field *field = &table->fields[i];
		const char *member = (const char *)from + field->offset;
		int follows = kinds[field->kind].follows;
		uint64_t number = 0;
		const void *bytes = NULL;
		size_t size = 0;

		if (follows == NUMBER_FOLLOWS)
			number = number_in(tables, field, member);
		else
			bytes = bytes_in(field, member, &size);
		if (follows == NUMBER_FOLLOWS ? number == field->usual
					      : bytes == NULL)
			continue;
		packed_put_unsigned(
		    writer, field->tag << 1 | (unsigned)follows);
		if (follows == NUMBER_FOLLOWS)
			packed_put_unsigned(writer, number);
		else
			packed_put_bytes(writer, bytes, size);
	}
	packed_put_unsigned(writer, 0);
}

static void
set_number(struct day_tables *tables, const struct packed_field *field,
    uint64_t number, struct arena *arena, char *member)
{
	uint32_t narrow = (uint32_t)number;
	const char *text;

	switch (field->kind) {
	case FIELD_UINT32:
		memcpy(member, &narrow, sizeof(narrow));
		break;
	case FIELD_UINT64:
		memcpy(member, &number, sizeof(number));
		break;
	default:
		text = intern_read(tables->intern, kinds[field->kind].intern,
		    (int64_t)number, arena);
		memcpy(member, &text, sizeof(text));
	}
}

static void
set_bytes(const struct packed_field *field, const void *bytes, size_t size,
    struct arena *arena, char *member)
{
	const char *text;

	if (field->kind == FIELD_UUID && size == UUID_BYTES) {
		memcpy(member, bytes, size);
	} else if (field->kind == FIELD_STRING) {
		text = arena_string_sized(arena, size > 0 ? bytes : "", size);
		memcpy(member, &text, sizeof(text));
	}
}

static const struct packed_field *
find_tag(const struct packed_table *table, uint64_t tag)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct packed_field *field = &table->fields[i];
		unsigned follows = (unsigned)kinds[field->kind].follows;

		if ((field->tag << 1 | follows) == tag)
			return field;
	}
	return NULL;
}

void
packed_get_fields(struct packed_reader *reader, struct day_tables *tables,
    const struct packed_table *table, struct arena *arena, void *to)
{
	uint64_t tag;

	for (size_t i = 0; i < table->count; i++) {
		const struct packed_field *field = &table->fields[i];

		if (field->usual != 0)
			set_number(tables, field, field->usual, arena,
			    (char *)to + field->offset);
	}
	while ((tag = packed_unsigned(reader)) != 0) {
		const struct packed_field *field = find_tag(table, tag);
		const void *bytes = NULL;
		uint64_t number = 0;
		size_t size = 0;

		if ((tag & 1) == BYTES_FOLLOW)
			bytes = packed_bytes(reader, &size);
		else
			number = packed_unsigned(reader);
		if (reader->failed || field == NULL)
			continue;
		if (bytes != NULL)
			set_bytes(field, bytes, size, arena,
			    (char *)to + field->offset);
		else
			set_number(tables, field, number, arena,
			    (char *)to + field->offset);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members of events, for message_row and leg_pack, on the thread that has the
 * connection: which of them are not as usual, then those.
 */
#include "store/packed_fields.h"

#include <stdbool.h>
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
		return member;
	}
	memcpy(&text, member, sizeof(text));
	*size_r = strlen(text);
	return text;
}

/* Strings count as 0 when they are NULL, and else as something else. */
static bool
is_usual(const struct packed_field *field, const char *member)
{
	uint32_t number;
	uint64_t wide;
	const char *text;

	switch (field->kind) {
	case FIELD_UINT32:
		memcpy(&number, member, sizeof(number));
		return number == field->usual;
	case FIELD_UINT64:
		memcpy(&wide, member, sizeof(wide));
		return wide == field->usual;
	case FIELD_UUID:
		return !uuid_is_set((const void *)member);
	default:
		memcpy(&text, member, sizeof(text));
		return text == NULL;
	}
}

static void
put_field(struct packed_writer *writer, struct day_tables *tables,
    const struct packed_field *field, const char *member)
{
	const void *bytes;
	size_t size;

	if (kinds[field->kind].follows == NUMBER_FOLLOWS) {
		packed_put_unsigned(writer, number_in(tables, field, member));
	} else {
		bytes = bytes_in(field, member, &size);
		packed_put_bytes(writer, bytes, size);
	}
}

void
packed_put_fields(struct packed_writer *writer, struct day_tables *tables,
    const struct packed_table *table, const void *from)
{
	uint64_t unusual = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct packed_field *field = &table->fields[i];

		if (!is_usual(field, (const char *)from + field->offset))
			unusual |= UINT64_C(1) << i;
	}
	packed_put_unsigned(writer, unusual);
	for (size_t i = 0; i < table->count; i++) {
		const struct packed_field *field = &table->fields[i];

		if (unusual >> i & 1)
			put_field(writer, tables, field,
			    (const char *)from + field->offset);
	}
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
		if (arena == NULL)
			break;
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
	} else if (field->kind == FIELD_STRING && arena != NULL) {
		text = arena_string_sized(arena, size > 0 ? bytes : "", size);
		memcpy(member, &text, sizeof(text));
	}
}

static void
get_field(struct packed_reader *reader, struct day_tables *tables,
    const struct packed_field *field, struct arena *arena, char *member)
{
	const void *bytes;
	uint64_t number;
	size_t size;

	if (kinds[field->kind].follows == NUMBER_FOLLOWS) {
		number = packed_unsigned(reader);
		if (!reader->failed)
			set_number(tables, field, number, arena, member);
	} else {
		bytes = packed_bytes(reader, &size);
		if (!reader->failed)
			set_bytes(field, bytes, size, arena, member);
	}
}

void
packed_get_fields(struct packed_reader *reader, struct day_tables *tables,
    const struct packed_table *table, struct arena *arena, void *to)
{
	uint64_t unusual = packed_unsigned(reader);

	for (size_t i = 0; i < table->count; i++) {
		const struct packed_field *field = &table->fields[i];
		char *member = (char *)to + field->offset;

		if (unusual >> i & 1)
			get_field(reader, tables, field, arena, member);
		else if (field->usual != 0)
			set_number(tables, field, field->usual, arena, member);
	}
}

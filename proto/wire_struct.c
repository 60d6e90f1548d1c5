/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copying by table between our structs and protobuf-c's. Called by the codec
 * only; no state, any thread.
 */
#include "proto/wire_struct.h"

#include "base/arena.h"
#include "base/uuid.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* proto3 cannot tell empty from absent. */
#define EMPTY_ADDRESS "<>"

/* The generated structs know no const; packing only reads. */
static void *
unconst(const void *pointer)
{
	return (void *)(uintptr_t)pointer;
}

static ProtobufCBinaryData
bytes_from(const char *text)
{
	size_t size = text != NULL ? strlen(text) : 0;

	return (ProtobufCBinaryData){size, unconst(text)};
}

static bool
is_zero(const unsigned char *data, size_t size)
{
	return data[0] == 0 && memcmp(data, data + 1, size - 1) == 0;
}

/* A struct within a struct, as the pointer that it is on the wire. */
static void
write_part(const struct wire_shape *part, const void *from, void *to,
    struct arena *scratch)
{
	void *wire = NULL;

	if (!is_zero(from, part->size))
		wire = arena_alloc(scratch, part->descriptor->sizeof_message);
	if (wire != NULL)
		wire_struct_write(part, from, wire, scratch);
	memcpy(to, &wire, sizeof(wire));
}

static void
write_field(const struct wire_field *field, const void *from, void *to)
{
	const char *text;

	switch (field->kind) {
	case WIRE_TEXT:
		*(ProtobufCBinaryData *)to =
		    bytes_from(*(const char *const *)from);
		break;
	case WIRE_ADDRESS:
		text = *(const char *const *)from;
		if (text != NULL && text[0] == '\0')
			text = EMPTY_ADDRESS;
		*(ProtobufCBinaryData *)to = bytes_from(text);
		break;
	case WIRE_WORD:
		*(char **)to = unconst(*(const char *const *)from);
		break;
	case WIRE_UUID:
		*(ProtobufCBinaryData *)to = (ProtobufCBinaryData){
		    is_zero(from, UUID_BYTES) ? 0 : UUID_BYTES, unconst(from)};
		break;
	case WIRE_BOOL:
		*(protobuf_c_boolean *)to = *(const bool *)from;
		break;
	case WIRE_U32:
	case WIRE_ENUM:
		memcpy(to, from, sizeof(uint32_t));
		break;
	case WIRE_U64:
	case WIRE_NS:
		memcpy(to, from, sizeof(uint64_t));
		break;
	default:
		break;
	}
}

void
wire_struct_write(const struct wire_shape *shape, const void *ours, void *wire,
    struct arena *scratch)
{
	const struct wire_field *field = shape->fields;
	const struct wire_shape *part;
	const char *from;
	char *to;

	protobuf_c_message_init(shape->descriptor, wire);
	for (; field->kind != WIRE_END; field++) {
		from = (const char *)ours + field->ours;
		to = (char *)wire + field->wire;
		part = shape->parts[field->kind];
		if (part != NULL)
			write_part(part, from, to, scratch);
		else
			write_field(field, from, to);
	}
}

void *
wire_struct_pointers(
    const struct wire_shape *shape, size_t count, struct arena *scratch)
{
	size_t size = shape->descriptor->sizeof_message;
	char **pointers, *structs;

	if (count == 0 || count > UINT32_MAX)
		return NULL;
	pointers = arena_alloc(scratch, count * sizeof(*pointers));
	structs = arena_alloc(scratch, count * size);
	if (pointers == NULL || structs == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++)
		pointers[i] = structs + i * size;
	return pointers;
}

size_t
wire_struct_write_array(const struct wire_shape *shape, const void *ours,
    size_t count, void *pointers_r, struct arena *scratch)
{
	char **pointers = wire_struct_pointers(shape, count, scratch);

	if (pointers == NULL)
		return 0;
	for (size_t i = 0; i < count; i++)
		wire_struct_write(shape, (const char *)ours + i * shape->size,
		    pointers[i], scratch);
	memcpy(pointers_r, &pointers, sizeof(pointers));
	return count;
}

static void *
unpack_alloc(void *arena, size_t size)
{
	return size < SIZE_MAX ? arena_alloc(arena, size + 1) : NULL;
}

static void
unpack_free(void *arena, void *pointer)
{
}

/* The arena zeroes, so one byte more than asked for ends every text. */
ProtobufCAllocator
wire_struct_allocator(struct arena *arena)
{
	return (ProtobufCAllocator){unpack_alloc, unpack_free, arena};
}

static const char *
text_in(const ProtobufCBinaryData *bytes)
{
	char *text = (char *)bytes->data;

	if (bytes->len == 0)
		return NULL;
	for (size_t i = 0; (i += strlen(text + i)) < bytes->len;)
		text[i] = '?';
	return text;
}

static void
read_field(const struct wire_field *field, const void *from, void *to)
{
	const ProtobufCBinaryData *bytes = from;
	const char *text;
	uint32_t number;

	switch (field->kind) {
	case WIRE_TEXT:
		*(const char **)to = text_in(bytes);
		break;
	case WIRE_ADDRESS:
		text = text_in(bytes);
		if (text != NULL && strcmp(text, EMPTY_ADDRESS) == 0)
			text = "";
		*(const char **)to = text;
		break;
	case WIRE_WORD:
		text = *(const char *const *)from;
		*(const char **)to = text[0] != '\0' ? text : NULL;
		break;
	case WIRE_UUID:
		if (bytes->len == UUID_BYTES)
			memcpy(to, bytes->data, UUID_BYTES);
		break;
	case WIRE_BOOL:
		*(bool *)to = *(const protobuf_c_boolean *)from;
		break;
	case WIRE_ENUM:
		/* What only a newer program knows reads as NONE. */
		number = *(const uint32_t *)from;
		if (number < field->enumerators)
			memcpy(to, &number, sizeof(number));
		break;
	case WIRE_U32:
		memcpy(to, from, sizeof(uint32_t));
		break;
	case WIRE_U64:
	case WIRE_NS:
		memcpy(to, from, sizeof(uint64_t));
		break;
	default:
		break;
	}
}

void
wire_struct_read(const struct wire_shape *shape, const void *wire, void *ours_r)
{
	const struct wire_field *field = shape->fields;
	const struct wire_shape *part;
	const void *from, *pointer;
	char *to;

	for (; field->kind != WIRE_END; field++) {
		from = (const char *)wire + field->wire;
		to = (char *)ours_r + field->ours;
		part = shape->parts[field->kind];
		if (part == NULL) {
			read_field(field, from, to);
			continue;
		}
		memcpy(&pointer, from, sizeof(pointer));
		if (pointer != NULL)
			wire_struct_read(part, pointer, to);
	}
}

void *
wire_struct_read_array(const struct wire_shape *shape, void *const *pointers,
    size_t count, struct arena *arena)
{
	char *array;

	if (count == 0 || count > SIZE_MAX / shape->size)
		return NULL;
	array = arena_alloc(arena, count * shape->size);
	for (size_t i = 0; array != NULL && i < count; i++)
		wire_struct_read(shape, pointers[i], array + i * shape->size);
	return array;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_struct: structs of ours into structs of generated protobuf code and
 * back, by tables that say where each member lies on both sides.
 *
 * Knows the kinds of members (event_fields.h) and the protobuf-c library, but
 * no generated code: the tables are the codec's. Allocation failures are left
 * in the arena's mark.
 */
#ifndef PROTO_WIRE_STRUCT_H
#define PROTO_WIRE_STRUCT_H

#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

struct arena;

enum wire_kind {
	WIRE_END,
	WIRE_TEXT,
	WIRE_WORD,
	WIRE_ADDRESS,
	WIRE_UUID,
	WIRE_BOOL,
	WIRE_U32,
	WIRE_U64,
	WIRE_NS,
	WIRE_ENUM,
	/* Structs by value on our side, absent on the wire when all zero. */
	WIRE_STAMP,
	WIRE_REPLY,
	WIRE_KINDS
};

struct wire_field {
	enum wire_kind kind;
	size_t ours; /* offsets of the member */
	size_t wire;
	unsigned enumerators; /* of WIRE_ENUM: those we know */
};

struct wire_shape {
	const struct wire_field *fields; /* up to WIRE_END */
	size_t size;                     /* of our struct */
	const ProtobufCMessageDescriptor *descriptor;
	/* By kind, the shapes of members that are structs. */
	const struct wire_shape *const *parts;
};

/* Initialises *wire and points it into *ours. */
void wire_struct_write(const struct wire_shape *shape, const void *ours,
    void *wire, struct arena *scratch);

/* Pointers to `count` zeroed structs of the wire; NULL for none or without
 * memory. */
void *wire_struct_pointers(
    const struct wire_shape *shape, size_t count, struct arena *scratch);

/* Writes an array; returns how many structs *pointers_r then points to. */
size_t wire_struct_write_array(const struct wire_shape *shape, const void *ours,
    size_t count, void *pointers_r, struct arena *scratch);

/* Fills a zeroed struct of ours; its text stays in *wire, which must have been
 * unpacked by wire_struct_allocator(). What is no valid value stays zero. */
void wire_struct_read(
    const struct wire_shape *shape, const void *wire, void *ours_r);

/* Reads an array into the arena; NULL for none or without memory. */
void *wire_struct_read_array(const struct wire_shape *shape,
    void *const *pointers, size_t count, struct arena *arena);

/* Unpacks into the arena, so that every text ends in NUL where it stands. */
ProtobufCAllocator wire_struct_allocator(struct arena *arena);

#endif

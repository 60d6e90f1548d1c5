/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the event in memory and the generated protobuf code, which nothing
 * else sees. The journal's writer encodes under its mutex, readers decode each
 * into an arena of their own.
 *
 * Tables made from event_fields.h say where each member lies on both sides;
 * wire_struct.c follows them.
 */
#include "proto/event_codec.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/reason.h"
#include "proto/event.h"
#include "proto/event_fields.h"
#include "proto/producer_counter.h"
#include "proto/segment.h"
#include "proto/wire_struct.h"

#include <stdint.h>
#include <string.h>

#include "proto/event.pb-c.h"

_Static_assert(CLOCK_BOOT_ID_BYTES == UUID_BYTES, "a boot id is a UUID");

/* The tables. X and ENUM stand for the pair of structs at hand. */

/* clang-format off */
#define FIELD(struct_, message, kind, member, enumerators)                     \
	{WIRE_##kind, offsetof(struct struct_, member),                        \
	    offsetof(Postlag__##message, member), enumerators},

#define X(kind, member) FIELD(stamp, Stamp, kind, member, 0)
static const struct wire_field stamp_fields[] = {
	X(NS, wall_ns) X(NS, monotonic_ns) {0}};
#undef X

#define X(kind, member) FIELD(segment_header, SegmentHeader, kind, member, 0)
static const struct wire_field segment_header_fields[] = {
	X(U32, format) X(WORD, source) X(WORD, instance) X(UUID, boot_id)
	X(STAMP, start) X(U64, checksum_seed) X(WORD, program) {0}};
#undef X

#define X(kind, member) FIELD(message_event, Message, kind, member, 0)
#define ENUM(member, count, name)                                              \
	FIELD(message_event, Message, ENUM, member, count)
static const struct wire_field message_fields[] = {
	MESSAGE_EVENT_FIELDS(X, ENUM) {0}};
#undef X
#undef ENUM

#define X(kind, member)                                                        \
	FIELD(message_recipient, MessageRecipient, kind, member, 0)
static const struct wire_field message_recipient_fields[] = {
	MESSAGE_RECIPIENT_FIELDS(X, ENUM) {0}};
#undef X

#define X(kind, member) FIELD(delivery_event, Delivery, kind, member, 0)
#define ENUM(member, count, name)                                              \
	FIELD(delivery_event, Delivery, ENUM, member, count)
static const struct wire_field delivery_fields[] = {
	DELIVERY_EVENT_FIELDS(X, ENUM) {0}};
#undef X
#undef ENUM

#define X(kind, member)                                                        \
	FIELD(delivery_recipient, DeliveryRecipient, kind, member, 0)
static const struct wire_field delivery_recipient_fields[] = {
	DELIVERY_RECIPIENT_FIELDS(X, ENUM) {0}};
#undef X

#define X(kind, member) FIELD(delivery_reply, Reply, kind, member, 0)
static const struct wire_field reply_fields[] = {
	DELIVERY_REPLY_FIELDS(X, ENUM) {0}};
#undef X

#define X(kind, member) FIELD(heartbeat_event, Heartbeat, kind, member, 0)
static const struct wire_field heartbeat_fields[] = {
	HEARTBEAT_EVENT_FIELDS(X, ENUM) {0}};
#undef X

#define X(kind, member) FIELD(operation_event, Operation, kind, member, 0)
#define ENUM(member, count, name)                                              \
	FIELD(operation_event, Operation, ENUM, member, count)
static const struct wire_field operation_fields[] = {
	OPERATION_EVENT_FIELDS(X, ENUM) {0}};
#undef X
#undef ENUM
/* clang-format on */

static const struct wire_shape stamp_shape, reply_shape;
static const struct wire_shape *const parts[WIRE_KINDS] = {
    [WIRE_STAMP] = &stamp_shape,
    [WIRE_REPLY] = &reply_shape,
};

#define SHAPE(name, struct_)                                                   \
	static const struct wire_shape name##_shape = {name##_fields,          \
	    sizeof(struct struct_), &postlag__##name##__descriptor, parts}

SHAPE(stamp, stamp);
SHAPE(segment_header, segment_header);
SHAPE(message, message_event);
SHAPE(message_recipient, message_recipient);
SHAPE(delivery, delivery_event);
SHAPE(delivery_recipient, delivery_recipient);
SHAPE(reply, delivery_reply);
SHAPE(heartbeat, heartbeat_event);
SHAPE(operation, operation_event);
static const struct wire_shape count_shape = {
    .descriptor = &postlag__count__descriptor};

/* Encoding. */

static void
write_message(const struct message_event *message, Postlag__Message *wire,
    struct arena *scratch)
{
	wire_struct_write(&message_shape, message, wire, scratch);
	wire->n_recipients = wire_struct_write_array(&message_recipient_shape,
	    message->recipients, message->recipient_count, &wire->recipients,
	    scratch);
}

static void
write_delivery(const struct delivery_event *delivery, Postlag__Delivery *wire,
    struct arena *scratch)
{
	wire_struct_write(&delivery_shape, delivery, wire, scratch);
	wire->n_recipients = wire_struct_write_array(&delivery_recipient_shape,
	    delivery->recipients, delivery->recipient_count, &wire->recipients,
	    scratch);
}

static void
write_heartbeat(const struct heartbeat_event *heartbeat,
    Postlag__Heartbeat *wire, struct arena *scratch)
{
	Postlag__Count *count;

	wire_struct_write(&heartbeat_shape, heartbeat, wire, scratch);
	if (heartbeat->increases == NULL)
		return;
	wire->counts =
	    wire_struct_pointers(&count_shape, PRODUCER_COUNTERS, scratch);
	if (wire->counts == NULL)
		return;
	for (unsigned i = 0; i < PRODUCER_COUNTERS; i++) {
		if (heartbeat->increases[i] == 0)
			continue;
		count = wire->counts[wire->n_counts++];
		postlag__count__init(count);
		count->counter = i;
		count->increase = heartbeat->increases[i];
	}
}

static int
pack(const ProtobufCMessage *message, const struct arena *scratch,
    struct buffer *out)
{
	uint8_t *room;

	if (arena_failed(scratch))
		return -1;
	room = buffer_reserve(out, protobuf_c_message_get_packed_size(message));
	if (room == NULL)
		return -1;
	protobuf_c_message_pack(message, room);
	return 0;
}

int
event_encode(
    const struct event *event, struct arena *scratch, struct buffer *out)
{
	Postlag__Event wire;
	Postlag__Message message;
	Postlag__Delivery delivery;
	Postlag__Heartbeat heartbeat;
	Postlag__Operation operation;

	postlag__event__init(&wire);
	switch (event->type) {
	case EVENT_MESSAGE:
		write_message(&event->message, &message, scratch);
		wire.kind_case = POSTLAG__EVENT__KIND_MESSAGE;
		wire.message = &message;
		break;
	case EVENT_DELIVERY:
		write_delivery(&event->delivery, &delivery, scratch);
		wire.kind_case = POSTLAG__EVENT__KIND_DELIVERY;
		wire.delivery = &delivery;
		break;
	case EVENT_HEARTBEAT:
		write_heartbeat(&event->heartbeat, &heartbeat, scratch);
		wire.kind_case = POSTLAG__EVENT__KIND_HEARTBEAT;
		wire.heartbeat = &heartbeat;
		break;
	case EVENT_OPERATION:
		wire_struct_write(
		    &operation_shape, &event->operation, &operation, scratch);
		wire.kind_case = POSTLAG__EVENT__KIND_OPERATION;
		wire.operation = &operation;
		break;
	case EVENT_NONE:
		break;
	}
	return pack(&wire.base, scratch, out);
}

int
segment_header_encode(const struct segment_header *header,
    struct arena *scratch, struct buffer *out)
{
	Postlag__SegmentHeader wire;

	wire_struct_write(&segment_header_shape, header, &wire, scratch);
	return pack(&wire.base, scratch, out);
}

/* Decoding. */

static void
read_message(const Postlag__Message *wire, struct arena *arena,
    struct message_event *message_r)
{
	wire_struct_read(&message_shape, wire, message_r);
	message_r->recipients = wire_struct_read_array(&message_recipient_shape,
	    (void *const *)wire->recipients, wire->n_recipients, arena);
	message_r->recipient_count = wire->n_recipients;
}

static void
read_delivery(const Postlag__Delivery *wire, struct arena *arena,
    struct delivery_event *delivery_r)
{
	wire_struct_read(&delivery_shape, wire, delivery_r);
	delivery_r->recipients =
	    wire_struct_read_array(&delivery_recipient_shape,
		(void *const *)wire->recipients, wire->n_recipients, arena);
	delivery_r->recipient_count = wire->n_recipients;
}

static void
read_heartbeat(const Postlag__Heartbeat *wire, struct arena *arena,
    struct heartbeat_event *heartbeat_r)
{
	uint64_t *increases =
	    arena_alloc(arena, PRODUCER_COUNTERS * sizeof(*increases));

	wire_struct_read(&heartbeat_shape, wire, heartbeat_r);
	heartbeat_r->increases = increases;
	for (size_t i = 0; increases != NULL && i < wire->n_counts; i++)
		if (wire->counts[i]->counter < PRODUCER_COUNTERS)
			increases[wire->counts[i]->counter] +=
			    wire->counts[i]->increase;
}

static void
read_event(
    const Postlag__Event *wire, struct arena *arena, struct event *event_r)
{
	switch (wire->kind_case) {
	case POSTLAG__EVENT__KIND_MESSAGE:
		event_r->type = EVENT_MESSAGE;
		read_message(wire->message, arena, &event_r->message);
		break;
	case POSTLAG__EVENT__KIND_DELIVERY:
		event_r->type = EVENT_DELIVERY;
		read_delivery(wire->delivery, arena, &event_r->delivery);
		break;
	case POSTLAG__EVENT__KIND_HEARTBEAT:
		event_r->type = EVENT_HEARTBEAT;
		read_heartbeat(wire->heartbeat, arena, &event_r->heartbeat);
		break;
	case POSTLAG__EVENT__KIND_OPERATION:
		event_r->type = EVENT_OPERATION;
		wire_struct_read(
		    &operation_shape, wire->operation, &event_r->operation);
		break;
	default:
		break;
	}
}

int
event_decode(const void *data, size_t size, struct arena *arena,
    struct event *event_r, struct reason *reason)
{
	ProtobufCAllocator allocator = wire_struct_allocator(arena);
	Postlag__Event *wire;

	memset(event_r, 0, sizeof(*event_r));
	wire = postlag__event__unpack(&allocator, size, data);
	if (wire != NULL)
		read_event(wire, arena, event_r);
	if (arena_failed(arena))
		return reason_set(reason, "an event too large to decode");
	if (wire == NULL)
		return reason_set(reason, "bytes that are no event");
	return 0;
}

int
segment_header_decode(const void *data, size_t size, struct arena *arena,
    struct segment_header *header_r, struct reason *reason)
{
	ProtobufCAllocator allocator = wire_struct_allocator(arena);
	Postlag__SegmentHeader *wire;

	memset(header_r, 0, sizeof(*header_r));
	wire = postlag__segment_header__unpack(&allocator, size, data);
	if (wire == NULL)
		return reason_set(reason, "bytes that are no segment header");
	wire_struct_read(&segment_header_shape, wire, header_r);
	return 0;
}

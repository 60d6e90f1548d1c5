/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the event in memory and the generated protobuf code, which nothing
 * else sees. The journal's writer encodes under its mutex, readers decode each
 * into an arena of their own.
 *
 * Nothing is copied while encoding: the protobuf structs point into the event.
 * While decoding, protobuf-c allocates from the caller's arena, one byte more
 * than it asks for; since the arena zeroes, every text then ends in NUL where
 * it stands.
 */
#include "proto/event_codec.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/reason.h"
#include "proto/event.h"
#include "proto/producer_counter.h"
#include "proto/segment.h"

#include <stdint.h>
#include <string.h>

#include "proto/event.pb-c.h"

/* proto3 cannot tell empty from absent. */
#define NULL_SENDER "<>"

/* Encoding. */

/* The generated structs know no const; packing only reads. */
static void *
unconst(const void *pointer)
{
	return (void *)(uintptr_t)pointer;
}

static ProtobufCBinaryData
wire_bytes(const void *data, size_t size)
{
	return (ProtobufCBinaryData){size, unconst(data)};
}

static ProtobufCBinaryData
wire_text(const char *text)
{
	return wire_bytes(text, text != NULL ? strlen(text) : 0);
}

static ProtobufCBinaryData
wire_sender(const char *sender)
{
	return wire_text(
	    sender != NULL && sender[0] == '\0' ? NULL_SENDER : sender);
}

static ProtobufCBinaryData
wire_uuid(const struct uuid *uuid)
{
	return wire_bytes(uuid->bytes, uuid_is_set(uuid) ? UUID_BYTES : 0);
}

static Postlag__Stamp *
wire_stamp(struct arena *scratch, const struct stamp *stamp)
{
	Postlag__Stamp *wire;

	if (!stamp_is_set(stamp))
		return NULL;
	wire = arena_alloc(scratch, sizeof(*wire));
	if (wire == NULL)
		return NULL;
	postlag__stamp__init(wire);
	wire->wall_ns = stamp->wall_ns;
	wire->monotonic_ns = stamp->monotonic_ns;
	return wire;
}

/* Points `count` pointers at as many elements of `size` bytes. */
static void *
wire_array(struct arena *scratch, size_t count, size_t size)
{
	unsigned char **pointers, *elements;

	if (count == 0 || count > UINT32_MAX)
		return NULL;
	pointers = arena_alloc(scratch, count * sizeof(*pointers));
	elements = arena_alloc(scratch, count * size);
	if (pointers == NULL || elements == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++)
		pointers[i] = elements + i * size;
	return pointers;
}

static void
wire_message_recipients(const struct message_event *message,
    struct arena *scratch, Postlag__Message *wire)
{
	const struct message_recipient *recipient = message->recipients;

	wire->recipients = wire_array(scratch, message->recipient_count,
	    sizeof(Postlag__MessageRecipient));
	if (wire->recipients == NULL)
		return;
	wire->n_recipients = message->recipient_count;
	for (size_t i = 0; i < wire->n_recipients; i++, recipient++) {
		Postlag__MessageRecipient *to = wire->recipients[i];

		postlag__message_recipient__init(to);
		to->address = wire_text(recipient->address);
		to->rcpt_at = wire_stamp(scratch, &recipient->rcpt_at);
		to->rejected = recipient->rejected;
		to->reject_dsn = wire_text(recipient->reject_dsn);
		to->reject_text = wire_text(recipient->reject_text);
	}
}

static void
wire_message(const struct message_event *message, struct arena *scratch,
    Postlag__Message *wire)
{
	wire->id = wire_uuid(&message->id);
	wire->previous = wire_uuid(&message->previous);
	wire->ending = message->ending;
	wire->phase = message->phase;
	wire->queue_id = unconst(message->queue_id);
	wire->message_id = wire_text(message->message_id);
	wire->run = wire_text(message->run);
	wire->sender = wire_sender(message->sender);
	wire->session = message->session;
	wire->sequence = message->sequence;
	wire->forged_stamps = message->forged_stamps;
	wire->declared_bytes = message->declared_bytes;
	wire->client_name = wire_text(message->client_name);
	wire->client_address = wire_text(message->client_address);
	wire->client_port = message->client_port;
	wire->helo = wire_text(message->helo);
	wire->daemon_name = wire_text(message->daemon_name);
	wire->tls_version = wire_text(message->tls_version);
	wire->tls_cipher = wire_text(message->tls_cipher);
	wire->sasl_method = wire_text(message->sasl_method);
	wire->sasl_user = wire_text(message->sasl_user);
	wire->connect_at = wire_stamp(scratch, &message->connect_at);
	wire->helo_at = wire_stamp(scratch, &message->helo_at);
	wire->mail_at = wire_stamp(scratch, &message->mail_at);
	wire->data_at = wire_stamp(scratch, &message->data_at);
	wire->content_at = wire_stamp(scratch, &message->content_at);
	wire->eom_at = wire_stamp(scratch, &message->eom_at);
	wire->end_at = wire_stamp(scratch, &message->end_at);
	wire_message_recipients(message, scratch, wire);
	wire->recipients_omitted = message->recipients_omitted;
}

static Postlag__Reply *
wire_reply(struct arena *scratch, const struct delivery_reply *reply)
{
	Postlag__Reply *wire;

	if (reply->code == 0 && reply->enhanced == NULL &&
	    reply->text == NULL && !stamp_is_set(&reply->at))
		return NULL;
	wire = arena_alloc(scratch, sizeof(*wire));
	if (wire == NULL)
		return NULL;
	postlag__reply__init(wire);
	wire->code = reply->code;
	wire->enhanced = unconst(reply->enhanced);
	wire->text = wire_text(reply->text);
	wire->at = wire_stamp(scratch, &reply->at);
	return wire;
}

static void
wire_delivery_recipients(const struct delivery_event *delivery,
    struct arena *scratch, Postlag__Delivery *wire)
{
	const struct delivery_recipient *recipient = delivery->recipients;

	wire->recipients = wire_array(scratch, delivery->recipient_count,
	    sizeof(Postlag__DeliveryRecipient));
	if (wire->recipients == NULL)
		return;
	wire->n_recipients = delivery->recipient_count;
	for (size_t i = 0; i < wire->n_recipients; i++, recipient++) {
		Postlag__DeliveryRecipient *to = wire->recipients[i];

		postlag__delivery_recipient__init(to);
		to->address = wire_text(recipient->address);
		to->position = recipient->position;
		to->rcpt_at = wire_stamp(scratch, &recipient->rcpt_at);
		to->envelope = wire_reply(scratch, &recipient->envelope);
		to->final = wire_reply(scratch, &recipient->final);
	}
}

static void
wire_delivery(const struct delivery_event *delivery, struct arena *scratch,
    Postlag__Delivery *wire)
{
	wire->id = wire_uuid(&delivery->id);
	wire->part = delivery->part;
	wire->ending = delivery->ending;
	wire->phase = delivery->phase;
	wire->queue_id = unconst(delivery->queue_id);
	wire->ident = wire_text(delivery->ident);
	wire->message_id = wire_text(delivery->message_id);
	wire->run = wire_text(delivery->run);
	wire->sender = wire_sender(delivery->sender);
	wire->session = delivery->session;
	wire->sequence = delivery->sequence;
	wire->content_bytes = delivery->content_bytes;
	wire->backend = wire_text(delivery->backend);
	wire->stamps_seen = delivery->stamps_seen;
	wire->stamp_id = wire_uuid(&delivery->stamp_id);
	wire->stamp_queue_id = unconst(delivery->stamp_queue_id);
	wire->stamp_mail_wall_ns = delivery->stamp_mail_wall_ns;
	wire->connect_at = wire_stamp(scratch, &delivery->connect_at);
	wire->mail_at = wire_stamp(scratch, &delivery->mail_at);
	wire->data_at = wire_stamp(scratch, &delivery->data_at);
	wire->content_end_at = wire_stamp(scratch, &delivery->content_end_at);
	wire->end_at = wire_stamp(scratch, &delivery->end_at);
	wire_delivery_recipients(delivery, scratch, wire);
}

static void
wire_heartbeat(const struct heartbeat_event *heartbeat, struct arena *scratch,
    Postlag__Heartbeat *wire)
{
	wire->at = wire_stamp(scratch, &heartbeat->at);
	wire->start = heartbeat->start;
	if (heartbeat->increases == NULL)
		return;
	wire->counts =
	    wire_array(scratch, PRODUCER_COUNTERS, sizeof(Postlag__Count));
	if (wire->counts == NULL)
		return;
	for (unsigned i = 0; i < PRODUCER_COUNTERS; i++) {
		Postlag__Count *count = wire->counts[wire->n_counts];

		if (heartbeat->increases[i] == 0)
			continue;
		postlag__count__init(count);
		count->counter = i;
		count->increase = heartbeat->increases[i];
		wire->n_counts++;
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

	postlag__event__init(&wire);
	switch (event->type) {
	case EVENT_MESSAGE:
		postlag__message__init(&message);
		wire_message(&event->message, scratch, &message);
		wire.kind_case = POSTLAG__EVENT__KIND_MESSAGE;
		wire.message = &message;
		break;
	case EVENT_DELIVERY:
		postlag__delivery__init(&delivery);
		wire_delivery(&event->delivery, scratch, &delivery);
		wire.kind_case = POSTLAG__EVENT__KIND_DELIVERY;
		wire.delivery = &delivery;
		break;
	case EVENT_HEARTBEAT:
		postlag__heartbeat__init(&heartbeat);
		wire_heartbeat(&event->heartbeat, scratch, &heartbeat);
		wire.kind_case = POSTLAG__EVENT__KIND_HEARTBEAT;
		wire.heartbeat = &heartbeat;
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

	postlag__segment_header__init(&wire);
	wire.format = header->format;
	wire.source = unconst(header->source);
	wire.instance = unconst(header->instance);
	wire.boot_id = wire_bytes(header->boot_id, CLOCK_BOOT_ID_BYTES);
	wire.start = wire_stamp(scratch, &header->start);
	wire.checksum_seed = header->checksum_seed;
	wire.program = unconst(header->program);
	return pack(&wire.base, scratch, out);
}

/* Decoding. */

static void *
unpack_alloc(void *arena, size_t size)
{
	return size < SIZE_MAX ? arena_alloc(arena, size + 1) : NULL;
}

static void
unpack_free(void *arena, void *pointer)
{
}

/* Text stands NUL-terminated where it was unpacked. */
static const char *
text_of(ProtobufCBinaryData wire)
{
	char *text = (char *)wire.data;

	if (wire.len == 0)
		return NULL;
	for (size_t i = 0; (i += strlen(text + i)) < wire.len;)
		text[i] = '?';
	return text;
}

static const char *
sender_of(ProtobufCBinaryData wire)
{
	const char *sender = text_of(wire);

	return sender != NULL && strcmp(sender, NULL_SENDER) == 0 ? "" : sender;
}

static const char *
string_of(const char *wire)
{
	return wire != NULL && wire[0] != '\0' ? wire : NULL;
}

static struct uuid
uuid_of(ProtobufCBinaryData wire)
{
	struct uuid uuid = {{0}};

	if (wire.len == UUID_BYTES)
		memcpy(uuid.bytes, wire.data, UUID_BYTES);
	return uuid;
}

static struct stamp
stamp_of(const Postlag__Stamp *wire)
{
	if (wire == NULL)
		return (struct stamp){0, 0};
	return (struct stamp){wire->wall_ns, wire->monotonic_ns};
}

/* An enumerator from a newer producer reads as NONE. */
static unsigned
enum_of(uint32_t wire, unsigned count)
{
	return wire < count ? wire : 0;
}

static void
read_message_recipients(const Postlag__Message *wire, struct arena *arena,
    struct message_event *message_r)
{
	struct message_recipient *to;

	if (wire->n_recipients == 0)
		return;
	to = arena_alloc(arena, wire->n_recipients * sizeof(*to));
	if (to == NULL)
		return;
	message_r->recipients = to;
	message_r->recipient_count = wire->n_recipients;
	for (size_t i = 0; i < wire->n_recipients; i++, to++) {
		const Postlag__MessageRecipient *from = wire->recipients[i];

		to->address = text_of(from->address);
		to->rcpt_at = stamp_of(from->rcpt_at);
		to->rejected = from->rejected;
		to->reject_dsn = text_of(from->reject_dsn);
		to->reject_text = text_of(from->reject_text);
	}
}

static void
read_message(const Postlag__Message *wire, struct arena *arena,
    struct message_event *message_r)
{
	message_r->id = uuid_of(wire->id);
	message_r->previous = uuid_of(wire->previous);
	message_r->ending = enum_of(wire->ending, MESSAGE_ENDINGS);
	message_r->phase = enum_of(wire->phase, MESSAGE_PHASES);
	message_r->queue_id = string_of(wire->queue_id);
	message_r->message_id = text_of(wire->message_id);
	message_r->run = text_of(wire->run);
	message_r->sender = sender_of(wire->sender);
	message_r->session = wire->session;
	message_r->sequence = wire->sequence;
	message_r->forged_stamps = wire->forged_stamps;
	message_r->declared_bytes = wire->declared_bytes;
	message_r->client_name = text_of(wire->client_name);
	message_r->client_address = text_of(wire->client_address);
	message_r->client_port = wire->client_port;
	message_r->helo = text_of(wire->helo);
	message_r->daemon_name = text_of(wire->daemon_name);
	message_r->tls_version = text_of(wire->tls_version);
	message_r->tls_cipher = text_of(wire->tls_cipher);
	message_r->sasl_method = text_of(wire->sasl_method);
	message_r->sasl_user = text_of(wire->sasl_user);
	message_r->connect_at = stamp_of(wire->connect_at);
	message_r->helo_at = stamp_of(wire->helo_at);
	message_r->mail_at = stamp_of(wire->mail_at);
	message_r->data_at = stamp_of(wire->data_at);
	message_r->content_at = stamp_of(wire->content_at);
	message_r->eom_at = stamp_of(wire->eom_at);
	message_r->end_at = stamp_of(wire->end_at);
	read_message_recipients(wire, arena, message_r);
	message_r->recipients_omitted = wire->recipients_omitted;
}

static struct delivery_reply
reply_of(const Postlag__Reply *wire)
{
	struct delivery_reply reply = {0};

	if (wire == NULL)
		return reply;
	reply.code = wire->code;
	reply.enhanced = string_of(wire->enhanced);
	reply.text = text_of(wire->text);
	reply.at = stamp_of(wire->at);
	return reply;
}

static void
read_delivery_recipients(const Postlag__Delivery *wire, struct arena *arena,
    struct delivery_event *delivery_r)
{
	struct delivery_recipient *to;

	if (wire->n_recipients == 0)
		return;
	to = arena_alloc(arena, wire->n_recipients * sizeof(*to));
	if (to == NULL)
		return;
	delivery_r->recipients = to;
	delivery_r->recipient_count = wire->n_recipients;
	for (size_t i = 0; i < wire->n_recipients; i++, to++) {
		const Postlag__DeliveryRecipient *from = wire->recipients[i];

		to->address = text_of(from->address);
		to->position = from->position;
		to->rcpt_at = stamp_of(from->rcpt_at);
		to->envelope = reply_of(from->envelope);
		to->final = reply_of(from->final);
	}
}

static void
read_delivery(const Postlag__Delivery *wire, struct arena *arena,
    struct delivery_event *delivery_r)
{
	delivery_r->id = uuid_of(wire->id);
	delivery_r->part = wire->part;
	delivery_r->ending = enum_of(wire->ending, DELIVERY_ENDINGS);
	delivery_r->phase = enum_of(wire->phase, DELIVERY_PHASES);
	delivery_r->queue_id = string_of(wire->queue_id);
	delivery_r->ident = text_of(wire->ident);
	delivery_r->message_id = text_of(wire->message_id);
	delivery_r->run = text_of(wire->run);
	delivery_r->sender = sender_of(wire->sender);
	delivery_r->session = wire->session;
	delivery_r->sequence = wire->sequence;
	delivery_r->content_bytes = wire->content_bytes;
	delivery_r->backend = text_of(wire->backend);
	delivery_r->stamps_seen = wire->stamps_seen;
	delivery_r->stamp_id = uuid_of(wire->stamp_id);
	delivery_r->stamp_queue_id = string_of(wire->stamp_queue_id);
	delivery_r->stamp_mail_wall_ns = wire->stamp_mail_wall_ns;
	delivery_r->connect_at = stamp_of(wire->connect_at);
	delivery_r->mail_at = stamp_of(wire->mail_at);
	delivery_r->data_at = stamp_of(wire->data_at);
	delivery_r->content_end_at = stamp_of(wire->content_end_at);
	delivery_r->end_at = stamp_of(wire->end_at);
	read_delivery_recipients(wire, arena, delivery_r);
}

static void
read_heartbeat(const Postlag__Heartbeat *wire, struct arena *arena,
    struct heartbeat_event *heartbeat_r)
{
	heartbeat_r->at = stamp_of(wire->at);
	heartbeat_r->start = wire->start;
	heartbeat_r->increases = arena_alloc(
	    arena, PRODUCER_COUNTERS * sizeof(*heartbeat_r->increases));
	if (heartbeat_r->increases == NULL)
		return;
	for (size_t i = 0; i < wire->n_counts; i++)
		if (wire->counts[i]->counter < PRODUCER_COUNTERS)
			heartbeat_r->increases[wire->counts[i]->counter] +=
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
	default:
		break;
	}
}

int
event_decode(const void *data, size_t size, struct arena *arena,
    struct event *event_r, struct reason *reason)
{
	ProtobufCAllocator allocator = {unpack_alloc, unpack_free, arena};
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
	ProtobufCAllocator allocator = {unpack_alloc, unpack_free, arena};
	Postlag__SegmentHeader *wire;

	memset(header_r, 0, sizeof(*header_r));
	wire = postlag__segment_header__unpack(&allocator, size, data);
	if (wire == NULL)
		return reason_set(reason, "bytes that are no segment header");
	header_r->format = wire->format;
	header_r->source = wire->source;
	header_r->instance = wire->instance;
	if (wire->boot_id.len == CLOCK_BOOT_ID_BYTES)
		memcpy(
		    header_r->boot_id, wire->boot_id.data, CLOCK_BOOT_ID_BYTES);
	header_r->start = stamp_of(wire->start);
	header_r->checksum_seed = wire->checksum_seed;
	header_r->program = wire->program;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs and unpacks parts of deliveries, for leg_row. In the order of the blob:
 * part, flags, stamps, members, recipients.
 *
 * With a message, what is the same there is left out: a flag each. The flags
 * say what was left out, whatever the leg is later settled to. Without one,
 * stamps are kept to the nanosecond, for the join may yet measure with them.
 */
#include "store/leg_pack.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "store/day_tables.h"
#include "store/intern.h"
#include "store/message_row.h"
#include "store/packed_fields.h"
#include "store/reply_row.h"

#define NS_PER_US 1000
#define STAMPS 5
#define RECIPIENT_STAMPS 3

enum {
	RELATIVE = 1, /* stamps are, to the message's MAIL FROM, and cut */
	SAME_QUEUE_ID = 2,
	SAME_IDENT = 4,
	SAME_MESSAGE_ID = 8,
	SAME_SENDER = 16,
	SAME_STAMP_ID = 32,
	SAME_STAMP_QUEUE_ID = 64,
	SAME_STAMP_TIME = 128
};

#define FIELD(kind, member, usual)                                             \
	{                                                                      \
		kind, offsetof(struct delivery_event, member), usual           \
	}

static const struct packed_field fields[] = {
    FIELD(FIELD_UINT64, session, 0),
    FIELD(FIELD_UINT64, content_bytes, 0),
    FIELD(FIELD_HOST, backend, 0),
    FIELD(FIELD_UINT32, sequence, 1),
    FIELD(FIELD_TEXT, run, 0),
    FIELD(FIELD_UINT32, ending, DELIVERY_ENDING_COMPLETED),
    FIELD(FIELD_UINT32, phase, DELIVERY_PHASE_CONTENT_END),
    FIELD(FIELD_UINT32, stamps_seen, 1),
    FIELD(FIELD_STRING, queue_id, 0),
    FIELD(FIELD_STRING, ident, 0),
    FIELD(FIELD_STRING, message_id, 0),
    FIELD(FIELD_ADDRESS, sender, 0),
    FIELD(FIELD_UUID, stamp_id, 0),
    FIELD(FIELD_STRING, stamp_queue_id, 0),
    FIELD(FIELD_UINT64, stamp_mail_wall_ns, 0),
};

static const struct packed_table table = {
    fields, sizeof(fields) / sizeof(fields[0])};

_Static_assert(sizeof(enum delivery_ending) == sizeof(uint32_t) &&
		   sizeof(enum delivery_phase) == sizeof(uint32_t),
    "enums are packed as uint32_t");

/* The strings that a message may have too, and where. */
static const struct {
	unsigned flag;
	size_t in_event;
	size_t in_message;
} shared[] = {
    {SAME_QUEUE_ID, offsetof(struct delivery_event, queue_id),
	offsetof(struct message_brief, queue_id)},
    {SAME_IDENT, offsetof(struct delivery_event, ident),
	offsetof(struct message_brief, queue_id)},
    {SAME_MESSAGE_ID, offsetof(struct delivery_event, message_id),
	offsetof(struct message_brief, message_id)},
    {SAME_SENDER, offsetof(struct delivery_event, sender),
	offsetof(struct message_brief, sender)},
    {SAME_STAMP_QUEUE_ID, offsetof(struct delivery_event, stamp_queue_id),
	offsetof(struct message_brief, queue_id)},
};

#define SHARED (sizeof(shared) / sizeof(shared[0]))

static void
list_stamps(struct delivery_event *event, struct stamp *stamps_r[STAMPS])
{
	stamps_r[0] = &event->mail_at;
	stamps_r[1] = &event->connect_at;
	stamps_r[2] = &event->data_at;
	stamps_r[3] = &event->content_end_at;
	stamps_r[4] = &event->end_at;
}

static void
list_recipient_stamps(struct delivery_recipient *recipient,
    struct stamp *stamps_r[RECIPIENT_STAMPS])
{
	stamps_r[0] = &recipient->rcpt_at;
	stamps_r[1] = &recipient->envelope.at;
	stamps_r[2] = &recipient->final.at;
}

/* The header's time has microseconds. */
static int64_t
stamp_time(const struct message_brief *message)
{
	return message->mail_at.wall_ns / NS_PER_US * NS_PER_US;
}

static const char **
string_at(void *base, size_t offset)
{
	return (const char **)(void *)((char *)base + offset);
}

/* Takes out of `event` what `message` says too. Returns the flags. */
static unsigned
leave_out(struct delivery_event *event, struct message_brief *message)
{
	unsigned flags = RELATIVE;

	for (size_t i = 0; i < SHARED; i++) {
		const char **own = string_at(event, shared[i].in_event);
		const char *its = *string_at(message, shared[i].in_message);

		if (*own == NULL || its == NULL || strcmp(*own, its) != 0)
			continue;
		*own = NULL;
		flags |= shared[i].flag;
	}
	if (uuid_is_set(&event->stamp_id) &&
	    uuid_equal(&event->stamp_id, &message->id)) {
		memset(&event->stamp_id, 0, sizeof(event->stamp_id));
		flags |= SAME_STAMP_ID;
	}
	if (event->stamp_mail_wall_ns == stamp_time(message)) {
		event->stamp_mail_wall_ns = 0;
		flags |= SAME_STAMP_TIME;
	}
	return flags;
}

static void
put_back(
    struct delivery_event *event, struct message_brief *message, uint64_t flags)
{
	for (size_t i = 0; i < SHARED; i++) {
		if (flags & shared[i].flag)
			*string_at(event, shared[i].in_event) =
			    *string_at(message, shared[i].in_message);
	}
	if (flags & SAME_STAMP_ID)
		event->stamp_id = message->id;
	if (flags & SAME_STAMP_TIME)
		event->stamp_mail_wall_ns = stamp_time(message);
}

/* How stamps are written or read at one place of the blob. */
static void
put_stamps(struct packed_writer *writer, struct stamp *const *stamps,
    unsigned count, bool exact)
{
	packed_put_stamps(writer, (const struct stamp *const *)stamps, count);
	for (unsigned i = 0; i < count && exact; i++)
		packed_put_rest(writer, stamps[i]);
}

static void
get_stamps(struct packed_reader *reader, struct stamp *const *stamps,
    unsigned count, bool exact)
{
	packed_stamps(reader, stamps, count);
	for (unsigned i = 0; i < count && exact; i++)
		packed_rest(reader, stamps[i]);
}

static void
pack_recipient(struct packed_writer *writer, struct day_tables *tables,
    const struct delivery_recipient *recipient, bool exact)
{
	struct delivery_recipient copy = *recipient;
	struct stamp *stamps[RECIPIENT_STAMPS];

	packed_put_unsigned(writer, recipient->position);
	packed_put_unsigned(writer, (uint64_t)intern_string(tables->intern,
					INTERN_ADDRESS, recipient->address));
	list_recipient_stamps(&copy, stamps);
	put_stamps(writer, stamps, RECIPIENT_STAMPS, exact);
	reply_row_put(writer, tables, &recipient->envelope, recipient->address);
	reply_row_put(writer, tables, &recipient->final, recipient->address);
}

void
leg_pack(struct day_tables *tables, const struct delivery_event *event,
    const struct leg_context *context, struct buffer *out)
{
	const struct message_brief *message = context->message;
	struct packed_writer writer = {.out = out, .last = context->base};
	struct delivery_event own = *event;
	struct message_brief its;
	struct stamp *stamps[STAMPS];
	unsigned flags = 0;

	if (message != NULL) {
		its = *message;
		flags = leave_out(&own, &its);
		writer.last = message->mail_at;
	}
	packed_put_unsigned(&writer, event->part);
	packed_put_unsigned(&writer, flags);
	list_stamps(&own, stamps);
	put_stamps(&writer, stamps, STAMPS, message == NULL);
	packed_put_fields(&writer, tables, &table, &own);
	packed_put_unsigned(&writer, event->recipient_count);
	for (size_t i = 0; i < event->recipient_count; i++)
		pack_recipient(
		    &writer, tables, &event->recipients[i], message == NULL);
}

static void
unpack_recipient(struct packed_reader *reader, struct day_tables *tables,
    struct arena *arena, struct delivery_recipient *recipient, bool exact)
{
	struct stamp *stamps[RECIPIENT_STAMPS];

	recipient->position = (uint32_t)packed_unsigned(reader);
	recipient->address = intern_read(tables->intern, INTERN_ADDRESS,
	    (int64_t)packed_unsigned(reader), arena);
	list_recipient_stamps(recipient, stamps);
	get_stamps(reader, stamps, RECIPIENT_STAMPS, exact);
	reply_row_get(
	    reader, tables, recipient->address, arena, &recipient->envelope);
	reply_row_get(
	    reader, tables, recipient->address, arena, &recipient->final);
}

static void
unpack_recipients(struct packed_reader *reader, struct day_tables *tables,
    struct arena *arena, struct delivery_event *event, bool exact)
{
	uint64_t count = packed_unsigned(reader);

	for (uint64_t i = 0; i < count && !reader->failed; i++) {
		struct delivery_recipient *recipient =
		    arena_append(arena, &event->recipients,
			&event->recipient_count, sizeof(*recipient));

		if (recipient == NULL)
			return;
		unpack_recipient(reader, tables, arena, recipient, exact);
	}
}

int
leg_unpack(struct day_tables *tables, const struct leg_blob *blob,
    struct arena *arena, struct delivery_event *event_r)
{
	const struct message_brief *message = blob->context.message;
	struct packed_reader reader = {
	    .data = blob->data, .size = blob->size, .last = blob->context.base};
	struct stamp *stamps[STAMPS];
	struct message_brief its;
	uint64_t flags;

	memset(event_r, 0, sizeof(*event_r));
	event_r->part = (uint32_t)packed_unsigned(&reader);
	flags = packed_unsigned(&reader);
	if (flags != 0 && message == NULL)
		return -1;
	if (flags & RELATIVE)
		reader.last = message->mail_at;
	list_stamps(event_r, stamps);
	get_stamps(&reader, stamps, STAMPS, !(flags & RELATIVE));
	packed_get_fields(&reader, tables, &table, arena, event_r);
	if (flags != 0) {
		its = *message;
		put_back(event_r, &its, flags);
	}
	unpack_recipients(&reader, tables, arena, event_r, !(flags & RELATIVE));
	return reader.failed || arena_failed(arena) ? -1 : 0;
}

uint32_t
leg_unpack_part(const void *data, size_t size)
{
	struct packed_reader reader = {.data = data, .size = size};

	return (uint32_t)packed_unsigned(&reader);
}

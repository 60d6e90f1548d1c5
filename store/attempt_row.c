/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs and unpacks attempts. Called by the writer on the ingest thread, by
 * readers on theirs.
 *
 * In the order of the blob: the time in microseconds after what the message's
 * row number tells, the members that are not as usual, then DSN and text as a
 * reply, of which only what is its own takes room.
 *
 * Mostly the hook saw the same reply. Then the bytes that would be written are
 * in the leg already, and where they are is written instead.
 */
#include "store/attempt_row.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/intern.h"
#include "store/packed_fields.h"
#include "store/reply_row.h"
#include "store/store_write.h"

#define NS_PER_US 1000
#define CODE_DIGITS 3

/* What refers to the leg takes about as much. */
#define OWN_REPLY_BYTES_MAX 6

struct packed_attempt {
	struct attempt_record line;
	/* How many rows after the message's the leg is that has the reply; 0:
	 * the reply itself follows. */
	uint64_t leg;
};

#define FIELD(kind, member)                                                    \
	{                                                                      \
		kind, offsetof(struct packed_attempt, member), 0               \
	}

static const struct packed_field fields[] = {
    FIELD(FIELD_TEXT, line.agent),
    FIELD(FIELD_TEXT, line.status),
    FIELD(FIELD_HOST, line.relay),
    FIELD(FIELD_UINT32, line.recipient),
    FIELD(FIELD_STRING, line.queue_id),
    FIELD(FIELD_UINT64, leg),
};

static const struct packed_table table = {
    fields, sizeof(fields) / sizeof(fields[0])};

/* A server's reply begins with its code and, mostly, the DSN that the line has
 * anyway. Both are taken off the text and go into the code: the code's lowest
 * bit says whether the DSN followed it. */
static struct delivery_reply
take_apart(const struct attempt_record *attempt)
{
	struct delivery_reply reply = {
	    .enhanced = attempt->dsn, .text = attempt->text};
	const char *text = attempt->text;
	size_t size = attempt->dsn != NULL ? strlen(attempt->dsn) : 0;

	if (text == NULL || text[0] < '2' || text[0] > '5' ||
	    !isdigit((unsigned char)text[1]) ||
	    !isdigit((unsigned char)text[2]) || text[CODE_DIGITS] != ' ')
		return reply;
	for (int i = 0; i < CODE_DIGITS; i++)
		reply.code = 10 * reply.code + (uint32_t)(text[i] - '0');
	reply.code <<= 1;
	reply.text += CODE_DIGITS + 1;
	if (size > 0 && strncmp(reply.text, attempt->dsn, size) == 0 &&
	    reply.text[size] == ' ') {
		reply.code |= 1;
		reply.text += size + 1;
	}
	return reply;
}

static const char *
put_together(const struct delivery_reply *reply, struct arena *arena)
{
	struct buffer text = {0};
	const char *whole;

	if (reply->code == 0 || reply->text == NULL)
		return reply->text;
	buffer_append_format(&text, "%u ", reply->code >> 1);
	if (reply->code & 1 && reply->enhanced != NULL)
		buffer_append_format(&text, "%s ", reply->enhanced);
	buffer_append_string(&text, reply->text);
	whole = arena_string_sized(arena, text.data, text.size);
	buffer_free(&text);
	return whole;
}

static int64_t
row_ns(const struct day_tables *tables, int64_t message_row)
{
	return day_row_stamp(tables, message_row, INTERN_NO_BOOT).wall_ns;
}

/* Whether it is the one that the message began with. */
static bool
is_own_queue_id(
    struct day_tables *tables, int64_t message_row, const char *queue_id)
{
	struct statement *read =
	    database_statement(tables->database, SQL_MESSAGE_QUEUE_ID);
	const void *own;
	size_t size;
	bool same = false;

	bind_integer(read, message_row);
	if (statement_step(read) == 1) {
		own = column_bytes(read, 0, &size);
		same = size == strlen(queue_id) && size > 0 &&
		       memcmp(own, queue_id, size) == 0;
	}
	statement_end(read);
	return same;
}

/* Where in a leg's blob `bytes` are. Returns 1 with *offset_r, or 0. */
static int
find_in_blob(const void *packed, size_t size, const struct buffer *bytes,
    size_t *offset_r)
{
	const unsigned char *place =
	    size > 0 ? memmem(packed, size, bytes->data, bytes->size) : NULL;

	if (place == NULL)
		return 0;
	*offset_r = (size_t)(place - (const unsigned char *)packed);
	return 1;
}

static int
find_in_leg(struct day_tables *tables, const struct attempt_context *context,
    const struct buffer *bytes, size_t *offset_r)
{
	struct statement *read;
	const void *packed;
	size_t size;
	int found = 0;

	if (context->leg != NULL)
		return find_in_blob(
		    context->leg->data, context->leg->size, bytes, offset_r);
	read = database_statement(tables->database, SQL_LEG_PACKED);
	bind_integer(read, context->leg_row);
	if (statement_step(read) == 1) {
		packed = column_bytes(read, 0, &size);
		found = find_in_blob(packed, size, bytes, offset_r);
	}
	statement_end(read);
	return found;
}

/* Whether the leg that decided the recipient has the reply. */
static bool
is_reply_in_leg(struct day_tables *tables,
    const struct attempt_context *context, const struct delivery_reply *reply,
    size_t *offset_r)
{
	struct buffer bytes = {0};
	struct packed_writer writer = {.out = &bytes};
	struct delivery_reply hooks = *reply;
	bool found = false;

	if (!(reply->code & 1))
		return false;
	hooks.code >>= 1;
	reply_row_put(&writer, tables, &hooks, context->address);
	if (bytes.size > OWN_REPLY_BYTES_MAX && !bytes.failed)
		found = find_in_leg(tables, context, &bytes, offset_r);
	buffer_free(&bytes);
	return found;
}

static void
pack(struct day_tables *tables, int64_t message_row,
    const struct attempt_record *line, const struct attempt_context *context,
    struct buffer *out)
{
	const struct delivery_reply reply = take_apart(line);
	struct packed_writer writer = {.out = out};
	struct packed_attempt own = {.line = *line};
	size_t offset = 0;

	if (line->queue_id != NULL &&
	    is_own_queue_id(tables, message_row, line->queue_id))
		own.line.queue_id = NULL;
	if (context->leg_row > message_row &&
	    is_reply_in_leg(tables, context, &reply, &offset))
		own.leg = (uint64_t)(context->leg_row - message_row);
	packed_put_signed(&writer, line->wall_ns / NS_PER_US -
				       row_ns(tables, message_row) / NS_PER_US);
	packed_put_fields(&writer, tables, &table, &own);
	if (own.leg != 0)
		packed_put_unsigned(&writer, offset);
	else
		reply_row_put(&writer, tables, &reply, context->address);
}

/* The key of the next one; 0 when there can be no more. */
static int64_t
next_key(struct day_tables *tables, int64_t message_row)
{
	struct statement *last =
	    database_statement(tables->database, SQL_ATTEMPT_LAST);
	int64_t key = day_recipient_key(message_row, 0);

	bind_integer(last, key);
	bind_integer(last, day_recipient_key(message_row + 1, 0));
	if (statement_step(last) == 1)
		key = column_integer(last, 0) + 1;
	statement_end(last);
	return key < day_recipient_key(message_row + 1, 0) ? key : 0;
}

/* Returns whether it was added: not when the key is there, or 0. */
static int
insert(struct day_tables *tables, int64_t key, const struct buffer *packed)
{
	struct statement *add;

	if (key == 0)
		return 0;
	add = database_statement(tables->database, SQL_ATTEMPT_ADD);
	bind_integer(add, key);
	bind_blob(add, packed->data, packed->size);
	return statement_run(add) == 0 &&
	       database_changes(tables->database) > 0;
}

int
attempt_row_add(struct day_tables *tables, int64_t message_row,
    const struct attempt_record *attempt, const struct attempt_context *context)
{
	struct buffer packed = {0};
	int64_t key = day_recipient_key(message_row, 0);

	pack(tables, message_row, attempt, context, &packed);
	/* Mostly it is the first. */
	if (insert(tables, key, &packed) == 0) {
		key = next_key(tables, message_row);
		insert(tables, key, &packed);
	}
	buffer_free(&packed);
	return key != 0 ? 0 : -1;
}

struct leg_reply {
	int64_t leg_row;
	const char *address; /* whom it is about */
};

/* The reply that find_in_leg() found. */
static void
get_from_leg(struct packed_reader *reader, struct day_tables *tables,
    const struct leg_reply *place, struct arena *arena,
    struct delivery_reply *reply)
{
	struct statement *read =
	    database_statement(tables->database, SQL_LEG_PACKED);
	uint64_t offset = packed_unsigned(reader);
	struct packed_reader leg = {.failed = true};

	bind_integer(read, place->leg_row);
	if (statement_step(read) == 1) {
		leg.data = column_bytes(read, 0, &leg.size);
		leg.failed = offset >= leg.size;
	}
	if (!leg.failed) {
		leg.data += offset;
		leg.size -= offset;
		reply_row_get(&leg, tables, place->address, arena, reply);
		reply->code = reply->code << 1 | 1;
	}
	reader->failed |= leg.failed;
	statement_end(read);
}

static void
unpack(struct day_tables *tables, const struct attempt_owner *owner,
    struct packed_reader *reader, struct arena *arena,
    struct attempt_record *line)
{
	struct packed_attempt packed = {.leg = 0};
	struct delivery_reply reply = {0};
	struct leg_reply place = {0};

	packed.line.wall_ns =
	    (int64_t)((uint64_t)row_ns(tables, owner->row) +
		      (uint64_t)packed_signed(reader) * NS_PER_US);
	packed_get_fields(reader, tables, &table, arena, &packed);
	*line = packed.line;
	if (line->queue_id == NULL)
		line->queue_id = owner->queue_id;
	if (line->recipient < owner->recipient_count)
		place.address = owner->recipients[line->recipient].address;
	else
		reader->failed = true;
	place.leg_row = (int64_t)((uint64_t)owner->row + packed.leg);
	if (packed.leg != 0)
		get_from_leg(reader, tables, &place, arena, &reply);
	else
		reply_row_get(reader, tables, place.address, arena, &reply);
	line->dsn = reply.enhanced;
	line->text = put_together(&reply, arena);
	if (reader->failed)
		database_damaged(tables->database, "attempt");
}

int
attempt_rows_read(struct day_tables *tables, const struct attempt_owner *owner,
    struct arena *arena, struct attempt_record **attempts_r, size_t *count_r)
{
	struct statement *rows =
	    database_statement(tables->database, SQL_ATTEMPTS_READ);
	struct packed_reader reader;
	struct attempt_record *attempt;

	*attempts_r = NULL;
	*count_r = 0;
	bind_integer(rows, day_recipient_key(owner->row, 0));
	bind_integer(rows, day_recipient_key(owner->row + 1, 0));
	while (statement_step(rows) == 1) {
		attempt =
		    arena_append(arena, attempts_r, count_r, sizeof(*attempt));
		if (attempt == NULL)
			break;
		reader = (struct packed_reader){0};
		reader.data = column_bytes(rows, 0, &reader.size);
		unpack(tables, owner, &reader, arena, attempt);
	}
	statement_end(rows);
	if (arena_failed(arena))
		return -1;
	return database_check(tables->database, NULL);
}

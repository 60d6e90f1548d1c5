/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs and unpacks messages. Called by the writer on the ingest thread, by
 * readers on theirs.
 *
 * Stamps in a message's blob begin with MAIL FROM, relative to what the row
 * number tells; those in recipients' blobs are relative to MAIL FROM. MAIL FROM
 * and end of message, from which deliveries are measured, are kept to the
 * nanosecond.
 *
 * Of an id, the first six bytes are the milliseconds of MAIL FROM and are left
 * out where that is so.
 */
#include "store/message_row.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "proto/segment.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/hash.h"
#include "store/intern.h"
#include "store/packed_fields.h"

#define FIELD(kind, member, usual)                                             \
	{                                                                      \
		kind, offsetof(struct message_event, member), usual            \
	}

static const struct packed_field fields[] = {
    FIELD(FIELD_UINT64, session, 0),
    FIELD(FIELD_UINT64, declared_bytes, 0),
    FIELD(FIELD_HOST, client_name, 0),
    FIELD(FIELD_UINT32, client_port, 0),
    FIELD(FIELD_HOST, helo, 0),
    FIELD(FIELD_TEXT, daemon_name, 0),
    FIELD(FIELD_TEXT, tls_version, 0),
    FIELD(FIELD_TEXT, tls_cipher, 0),
    FIELD(FIELD_UINT32, sequence, 1),
    FIELD(FIELD_UINT32, ending, MESSAGE_ENDING_ACCEPTED),
    FIELD(FIELD_UINT32, phase, MESSAGE_PHASE_EOM),
    FIELD(FIELD_TEXT, run, 0),
    FIELD(FIELD_TEXT, sasl_method, 0),
    FIELD(FIELD_ADDRESS, sasl_user, 0),
    FIELD(FIELD_UINT32, forged_stamps, 0),
    FIELD(FIELD_UINT32, recipients_omitted, 0),
    FIELD(FIELD_UUID, previous, 0),
};

static const struct packed_table table = {
    fields, sizeof(fields) / sizeof(fields[0])};

_Static_assert(sizeof(enum message_ending) == sizeof(uint32_t) &&
		   sizeof(enum message_phase) == sizeof(uint32_t),
    "enums are packed as uint32_t");

#define STAMPS 7

/* In the order of the blob: MAIL FROM first, for message_row_brief(). */
static void
list_stamps(struct message_event *event, struct stamp *stamps_r[STAMPS])
{
	stamps_r[0] = &event->mail_at;
	stamps_r[1] = &event->helo_at;
	stamps_r[2] = &event->connect_at;
	stamps_r[3] = &event->data_at;
	stamps_r[4] = &event->content_at;
	stamps_r[5] = &event->eom_at;
	stamps_r[6] = &event->end_at;
}

/* A Message-ID <local@domain> as the number of its domain and its local part;
 * any other as 0 and itself. */
static int64_t
split_message_id(struct day_tables *tables, const char *message_id,
    const char **local_r, size_t *local_size_r)
{
	size_t size = message_id != NULL ? strlen(message_id) : 0;
	const char *at = size > 0 ? memrchr(message_id, '@', size) : NULL;

	*local_r = message_id;
	*local_size_r = size;
	if (at == NULL || message_id[0] != '<' || message_id[size - 1] != '>')
		return 0;
	*local_r = message_id + 1;
	*local_size_r = (size_t)(at - message_id) - 1;
	return intern_sized(tables->intern, INTERN_DOMAIN, at + 1,
	    size - (size_t)(at - message_id) - 2);
}

static char *
join_message_id(struct day_tables *tables, int64_t domain,
    struct statement *statement, int column, struct arena *arena)
{
	struct buffer text = {0};
	const char *domain_text;
	const void *local;
	char *message_id;
	size_t size;

	if (domain == 0)
		return column_string(statement, column, arena);
	domain_text = intern_read(tables->intern, INTERN_DOMAIN, domain, arena);
	local = column_bytes(statement, column, &size);
	buffer_append_string(&text, "<");
	if (size > 0)
		buffer_append(&text, local, size);
	buffer_append_string(&text, "@");
	buffer_append_string(&text, domain_text != NULL ? domain_text : "");
	buffer_append_string(&text, ">");
	message_id = arena_string_sized(arena, text.data, text.size);
	buffer_free(&text);
	return message_id;
}

static void
bind_hash(struct statement *statement, const char *text)
{
	if (text != NULL)
		bind_integer(statement, hash_for_index(text, strlen(text)));
	else
		bind_null(statement);
}

static void
pack(struct day_tables *tables, const struct message_event *event,
    struct stamp base, struct buffer *out)
{
	struct packed_writer writer = {.out = out, .last = base};
	struct message_event copy = *event;
	struct stamp *stamps[STAMPS];

	list_stamps(&copy, stamps);
	packed_put_stamps(&writer, (const struct stamp *const *)stamps, STAMPS);
	packed_put_rest(&writer, &event->mail_at);
	packed_put_rest(&writer, &event->eom_at);
	packed_put_fields(&writer, tables, &table, event);
}

/* As long as most of these blobs are once they have a size. */
#define LOG_BYTES 5

/* What becomes known later has a blob of its own, which an older version did
 * not have: evidence, and behind it the size and the recipients, the last ones
 * only where they are known. Where sizes follow, room is left for them, so that
 * rows do not grow and full pages need not be split. */
static void
pack_log(const struct day_tables *tables, const struct message_log *log,
    struct buffer *out)
{
	struct packed_writer writer = {.out = out};

	packed_put_unsigned(&writer, log->evidence);
	if (log->size_bytes != 0 || log->queue_recipients != 0)
		packed_put_unsigned(&writer, log->size_bytes);
	if (log->queue_recipients != 0)
		packed_put_unsigned(&writer, log->queue_recipients);
	while (tables->sizes_follow && out->size < LOG_BYTES && !out->failed)
		packed_put_unsigned(&writer, 0);
}

static void
get_log(struct day_tables *tables, struct statement *read, int column,
    struct message_record *record)
{
	struct packed_reader reader = {0};

	reader.data = column_bytes(read, column, &reader.size);
	if (reader.size > 0)
		record->evidence = (uint32_t)packed_unsigned(&reader);
	if (reader.size > 0)
		record->size_bytes = packed_unsigned(&reader);
	if (reader.size > 0)
		record->queue_recipients = (uint32_t)packed_unsigned(&reader);
	if (reader.failed)
		database_damaged(tables->database, "message");
}

static void
take_packed(
    struct buffer *packed, struct arena *arena, struct message_columns *columns)
{
	void *copy = arena_alloc(arena, packed->size);

	if (copy != NULL && packed->size > 0)
		memcpy(copy, packed->data, packed->size);
	columns->packed = copy;
	columns->packed_size = copy != NULL ? packed->size : 0;
}

void
message_row_make(struct day_tables *tables, const struct message_row *message,
    int64_t row, struct arena *arena, struct message_columns *columns_r)
{
	const struct message_event *event = message->event;
	const struct segment_header *segment = message->segment;
	struct intern *intern = tables->intern;
	const struct origin *origin = intern_origin(
	    intern, segment->instance, segment->boot_id, &event->mail_at);
	struct buffer packed = {0};

	*columns_r = (struct message_columns){
	    .brief = message_row_brief_of(event), .origin = origin->number};
	columns_r->brief.queue_id = arena_string(arena, event->queue_id);
	columns_r->brief.message_id = arena_string(arena, event->message_id);
	columns_r->brief.sender = arena_string(arena, event->sender);
	pack(tables, event, day_row_stamp(tables, row, origin->boot_ns),
	    &packed);
	take_packed(&packed, arena, columns_r);
	buffer_free(&packed);
	columns_r->message_id_domain = split_message_id(tables,
	    columns_r->brief.message_id, &columns_r->message_id_local,
	    &columns_r->message_id_local_size);
	columns_r->client =
	    intern_string(intern, INTERN_HOST, event->client_address);
	columns_r->sender =
	    intern_string(intern, INTERN_ADDRESS, event->sender);
}

void
message_row_insert(struct day_tables *tables, int64_t row,
    const struct message_columns *columns, const struct message_log *log)
{
	const struct message_brief *brief = &columns->brief;
	struct buffer packed = {0};
	struct statement *add;

	pack_log(tables, log, &packed);
	add = database_statement(tables->database, SQL_MESSAGE_ADD);
	bind_integer(add, row);
	day_bind_id(add, &brief->id, brief->mail_at.wall_ns);
	bind_hash(add, brief->queue_id);
	bind_string(add, brief->queue_id);
	bind_hash(add, brief->message_id);
	if (columns->message_id_domain != 0)
		bind_integer(add, columns->message_id_domain);
	else
		bind_null(add);
	bind_text(
	    add, columns->message_id_local, columns->message_id_local_size);
	bind_integer(add, columns->origin);
	bind_integer(add, columns->client);
	bind_integer(add, columns->sender);
	bind_blob(add, columns->packed, columns->packed_size);
	bind_blob(add, packed.data, packed.size);
	statement_run(add);
	buffer_free(&packed);
}

int64_t
message_row_newest(struct day_tables *tables)
{
	struct statement *read =
	    database_statement(tables->database, SQL_MESSAGE_LARGEST);
	int64_t row = 0;

	if (statement_step(read) == 1)
		row = column_integer(read, 0);
	statement_end(read);
	return row;
}

bool
message_row_is_there(struct day_tables *tables, int64_t row)
{
	struct statement *read =
	    database_statement(tables->database, SQL_MESSAGE_QUEUE_ID);
	bool found;

	bind_integer(read, row);
	found = statement_step(read) == 1;
	statement_end(read);
	return found;
}

/* Takes from the row what the change leaves as it is. */
static void
keep_log(struct day_tables *tables, int64_t row, struct message_log *change)
{
	struct message_record known = {.evidence = 0};
	struct statement *read =
	    database_statement(tables->database, SQL_MESSAGE_LOG);

	bind_integer(read, row);
	if (statement_step(read) == 1)
		get_log(tables, read, 0, &known);
	statement_end(read);
	if (change->size_bytes == 0)
		change->size_bytes = known.size_bytes;
	if (change->queue_recipients == 0)
		change->queue_recipients = known.queue_recipients;
}

bool
message_row_change(
    struct day_tables *tables, int64_t row, const struct message_log *log)
{
	struct message_log change = *log;
	struct buffer packed = {0};
	struct statement *statement;

	if (log->size_bytes != 0)
		tables->sizes_follow = true;
	if (log->size_bytes == 0 || log->queue_recipients == 0)
		keep_log(tables, row, &change);
	pack_log(tables, &change, &packed);
	statement =
	    database_statement(tables->database, SQL_MESSAGE_LOG_CHANGE);
	bind_blob(statement, packed.data, packed.size);
	bind_integer(statement, row);
	statement_run(statement);
	buffer_free(&packed);
	return database_changes(tables->database) > 0;
}

/* Columns of SQL_MESSAGE_READ. */
enum {
	COLUMN_ROW,
	COLUMN_ID,
	COLUMN_QUEUE_ID,
	COLUMN_MESSAGE_ID_DOMAIN,
	COLUMN_MESSAGE_ID_LOCAL,
	COLUMN_ORIGIN,
	COLUMN_CLIENT,
	COLUMN_SENDER,
	COLUMN_PACKED,
	COLUMN_LOG
};

static struct statement *
find_row(struct day_tables *tables, int64_t row, int *found_r)
{
	struct statement *read =
	    database_statement(tables->database, SQL_MESSAGE_READ);

	bind_integer(read, row);
	*found_r = statement_step(read);
	return read;
}

/* Without an arena no strings are read. */
static void
get_packed(struct day_tables *tables, struct statement *read, int64_t boot_ns,
    struct arena *arena, struct message_event *event)
{
	struct packed_reader reader = {0};
	struct stamp *stamps[STAMPS];

	reader.last =
	    day_row_stamp(tables, column_integer(read, COLUMN_ROW), boot_ns);
	reader.data = column_bytes(read, COLUMN_PACKED, &reader.size);
	list_stamps(event, stamps);
	packed_stamps(&reader, stamps, STAMPS);
	packed_rest(&reader, &event->mail_at);
	packed_rest(&reader, &event->eom_at);
	packed_get_fields(&reader, tables, &table, arena, event);
	if (reader.failed)
		database_damaged(tables->database, "message");
}

struct message_brief
message_row_brief_of(const struct message_event *event)
{
	return (struct message_brief){.id = event->id,
	    .mail_at = event->mail_at,
	    .queue_id = event->queue_id,
	    .message_id = event->message_id,
	    .sender = event->sender};
}

int
message_row_brief(struct day_tables *tables, int64_t row, struct arena *arena,
    struct message_brief *brief_r)
{
	struct message_event event = {0};
	struct intern *intern = tables->intern;
	struct statement *read;
	int64_t boot_ns;
	int found;

	memset(brief_r, 0, sizeof(*brief_r));
	read = find_row(tables, row, &found);
	if (found == 1) {
		boot_ns = intern_origin_boot(
		    intern, column_integer(read, COLUMN_ORIGIN));
		get_packed(tables, read, boot_ns, NULL, &event);
		brief_r->mail_at = event.mail_at;
		brief_r->id =
		    day_column_id(read, COLUMN_ID, event.mail_at.wall_ns);
		brief_r->queue_id = column_string(read, COLUMN_QUEUE_ID, arena);
		brief_r->message_id = join_message_id(tables,
		    column_integer(read, COLUMN_MESSAGE_ID_DOMAIN), read,
		    COLUMN_MESSAGE_ID_LOCAL, arena);
		brief_r->sender = intern_read(intern, INTERN_ADDRESS,
		    column_integer(read, COLUMN_SENDER), arena);
	}
	statement_end(read);
	return database_check(tables->database, NULL) != 0 ? -1 : found;
}

/* What both of the following read. Strings of the blob go to `strings`. */
static void
get_outline(struct day_tables *tables, struct statement *read,
    struct arena *arena, struct arena *strings, struct message_record *record)
{
	struct message_event *event = &record->event;
	const struct origin origin = intern_read_origin(
	    tables->intern, column_integer(read, COLUMN_ORIGIN), arena);

	record->instance = origin.instance;
	memcpy(record->boot_id, origin.boot_id, sizeof(record->boot_id));
	get_packed(tables, read, origin.boot_ns, strings, event);
	get_log(tables, read, COLUMN_LOG, record);
	event->id = day_column_id(read, COLUMN_ID, event->mail_at.wall_ns);
	event->queue_id = column_string(read, COLUMN_QUEUE_ID, arena);
}

int
message_row_outline(struct day_tables *tables, int64_t row, struct arena *arena,
    struct message_record *record_r)
{
	int found;
	struct statement *read = find_row(tables, row, &found);

	memset(record_r, 0, sizeof(*record_r));
	if (found == 1)
		get_outline(tables, read, arena, NULL, record_r);
	statement_end(read);
	return database_check(tables->database, NULL) != 0 ? -1 : found;
}

int
message_row_read(struct day_tables *tables, int64_t row, struct arena *arena,
    struct message_record *record_r)
{
	struct message_event *event = &record_r->event;
	struct intern *intern = tables->intern;
	struct statement *read;
	int found;

	memset(record_r, 0, sizeof(*record_r));
	read = find_row(tables, row, &found);
	if (found == 1) {
		get_outline(tables, read, arena, arena, record_r);
		event->message_id = join_message_id(tables,
		    column_integer(read, COLUMN_MESSAGE_ID_DOMAIN), read,
		    COLUMN_MESSAGE_ID_LOCAL, arena);
		event->client_address = intern_read(intern, INTERN_HOST,
		    column_integer(read, COLUMN_CLIENT), arena);
		event->sender = intern_read(intern, INTERN_ADDRESS,
		    column_integer(read, COLUMN_SENDER), arena);
	}
	statement_end(read);
	return database_check(tables->database, NULL) != 0 ? -1 : found;
}

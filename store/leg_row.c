/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of deliveries. Called by the writer on the ingest thread, by readers on
 * theirs.
 */
#include "store/leg_row.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "proto/segment.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/hash.h"
#include "store/intern.h"
#include "store/leg_pack.h"
#include "store/message_row.h"

/* Whether the index of the message's own `its` finds this leg too. */
static bool
is_found_by_message(const char *own, const char *its)
{
	return own == NULL || (its != NULL && strcmp(own, its) == 0);
}

static void
bind_own_hash(struct statement *statement, const char *own, const char *its)
{
	if (is_found_by_message(own, its))
		bind_null(statement);
	else
		bind_integer(statement, hash_for_index(own, strlen(own)));
}

static void
bind_message(struct statement *statement, int64_t row, int64_t message_row)
{
	if (message_row != 0)
		bind_integer(statement, row - message_row);
	else
		bind_null(statement);
}

static int
insert(struct day_tables *tables, const struct leg_row *leg, int64_t row,
    const struct origin *origin, struct buffer *packed)
{
	const struct delivery_event *event = leg->event;
	const struct message_brief *message = leg->message;
	const struct leg_context context = {.message = message,
	    .base = day_row_stamp(tables, row, origin->boot_ns)};
	struct statement *add;

	buffer_clear(packed);
	leg_pack(tables, event, &context, packed);
	add = database_statement(tables->database, SQL_LEG_ADD);
	bind_integer(add, row);
	day_bind_id(add, &event->id, event->mail_at.wall_ns);
	bind_integer(add, leg->state);
	bind_message(add, row, leg->message_row);
	bind_own_hash(
	    add, event->queue_id, message != NULL ? message->queue_id : NULL);
	bind_own_hash(add, event->message_id,
	    message != NULL ? message->message_id : NULL);
	bind_integer(add, origin->number);
	bind_blob(add, packed->data, packed->size);
	return statement_run(add);
}

int64_t
leg_row_add(struct day_tables *tables, const struct leg_row *leg,
    struct row_hint *hint, struct buffer *packed_r)
{
	const struct delivery_event *event = leg->event;
	int64_t first = day_first_row(hint, &event->id, event->mail_at.wall_ns);
	const struct origin *origin = intern_origin(tables->intern,
	    leg->segment->instance, leg->segment->boot_id, &event->mail_at);
	int64_t row = first;

	*packed_r = (struct buffer){0};
	while (insert(tables, leg, row, origin, packed_r) == 0 &&
	       database_changes(tables->database) == 0)
		row++;
	day_row_taken(hint, first, row);
	return row;
}

void
leg_row_add_part(
    struct day_tables *tables, const struct leg_row *leg, int64_t row)
{
	const struct leg_context context = {.base = tables->start};
	struct buffer packed = {0};
	struct statement *add;

	leg_pack(tables, leg->event, &context, &packed);
	add = database_statement(tables->database, SQL_LEG_PART_ADD);
	bind_integer(add, row);
	bind_integer(add, leg->event->part);
	bind_blob(add, packed.data, packed.size);
	statement_run(add);
	buffer_free(&packed);
}

void
leg_row_settle(struct day_tables *tables, int64_t row, enum leg_state state,
    int64_t message_row)
{
	struct statement *settle =
	    database_statement(tables->database, SQL_LEG_SETTLE);

	bind_integer(settle, state);
	bind_message(settle, row, message_row);
	bind_integer(settle, row);
	statement_run(settle);
}

/* Columns of SQL_LEG_READ. */
enum {
	COLUMN_ROW,
	COLUMN_ID,
	COLUMN_STATE,
	COLUMN_MESSAGE,
	COLUMN_ORIGIN,
	COLUMN_PACKED
};

static struct statement *
find_row(struct day_tables *tables, int64_t row, int *found_r)
{
	struct statement *read =
	    database_statement(tables->database, SQL_LEG_READ);

	bind_integer(read, row);
	*found_r = statement_step(read);
	return read;
}

int
leg_row_verdict(struct day_tables *tables, int64_t row, enum leg_state *state_r,
    int64_t *message_row_r)
{
	int found;
	struct statement *read = find_row(tables, row, &found);

	if (found == 1) {
		*state_r = (enum leg_state)column_integer(read, COLUMN_STATE);
		*message_row_r = column_integer(read, COLUMN_MESSAGE);
	}
	statement_end(read);
	return found;
}

static int
has_further_part(struct day_tables *tables, int64_t row, uint32_t part)
{
	struct statement *parts =
	    database_statement(tables->database, SQL_LEG_PARTS_READ);
	int more, found = 0;

	bind_integer(parts, row);
	while (found == 0 && (more = statement_step(parts)) == 1)
		found = column_integer(parts, 0) == part;
	statement_end(parts);
	return database_check(tables->database, NULL) != 0 ? -1 : found;
}

int
leg_row_has_part(struct day_tables *tables, int64_t row, uint32_t part)
{
	int found;
	struct statement *read = find_row(tables, row, &found);
	const void *packed;
	size_t size;
	bool is_first = false;

	if (found == 1) {
		packed = column_bytes(read, COLUMN_PACKED, &size);
		is_first = leg_unpack_part(packed, size) == part;
	}
	statement_end(read);
	if (found != 1 || is_first)
		return found;
	return has_further_part(tables, row, part);
}

/* A row that is packed anew, without its message. */
struct detached {
	struct delivery_event event;
	struct buffer packed;
};

static int
repack(struct day_tables *tables, struct statement *read,
    const struct message_brief *message, struct arena *arena,
    struct detached *detached)
{
	const struct leg_context alone = {
	    .base = day_row_stamp(tables, column_integer(read, COLUMN_ROW),
		intern_origin_boot(
		    tables->intern, column_integer(read, COLUMN_ORIGIN)))};
	struct leg_blob blob = {
	    .context = {.message = message, .base = alone.base}};

	blob.data = column_bytes(read, COLUMN_PACKED, &blob.size);
	if (leg_unpack(tables, &blob, arena, &detached->event) != 0)
		return -1;
	leg_pack(tables, &detached->event, &alone, &detached->packed);
	return detached->packed.failed ? -1 : 0;
}

int
leg_row_detach(struct day_tables *tables, int64_t row,
    const struct message_brief *message, struct arena *arena)
{
	int found;
	struct statement *read = find_row(tables, row, &found);
	struct detached leg = {.packed = {0}};
	struct statement *detach;

	if (found == 1 && repack(tables, read, message, arena, &leg) != 0)
		found = -1;
	statement_end(read);
	if (found == 1) {
		detach = database_statement(tables->database, SQL_LEG_DETACH);
		bind_integer(detach, LEG_FOREIGN);
		bind_own_hash(detach, leg.event.queue_id, NULL);
		bind_own_hash(detach, leg.event.message_id, NULL);
		bind_blob(detach, leg.packed.data, leg.packed.size);
		bind_integer(detach, row);
		statement_run(detach);
	}
	buffer_free(&leg.packed);
	return found == 1 ? database_check(tables->database, NULL) : -1;
}

/* Adds the recipients of `part` to those of the leg; of the rest, the later
 * part's members hold. */
static int
merge(struct leg_record *leg, const struct delivery_event *part,
    struct arena *arena)
{
	struct delivery_event *event = &leg->event;
	size_t before = event->recipient_count;
	size_t count = before + part->recipient_count;
	struct delivery_recipient *recipients =
	    arena_alloc(arena, count * sizeof(*recipients));
	struct uuid id = event->id;

	if (recipients == NULL)
		return -1;
	if (before > 0)
		memcpy(recipients, event->recipients,
		    before * sizeof(*recipients));
	if (part->recipient_count > 0)
		memcpy(recipients + before, part->recipients,
		    part->recipient_count * sizeof(*recipients));
	if (part->part > event->part)
		*event = *part;
	event->id = id;
	event->recipients = recipients;
	event->recipient_count = count;
	return 0;
}

static int
by_position(const void *left, const void *right)
{
	const struct delivery_recipient *a = left, *b = right;

	return (a->position > b->position) - (a->position < b->position);
}

static int
merge_parts(struct day_tables *tables, int64_t row,
    const struct message_brief *message, struct arena *arena,
    struct leg_record *leg)
{
	struct statement *parts =
	    database_statement(tables->database, SQL_LEG_PARTS_READ);
	struct leg_blob blob = {
	    .context = {.message = message, .base = tables->start}};
	struct delivery_event part;
	size_t count = 0;
	int result = 0;

	bind_integer(parts, row);
	while (result == 0 && statement_step(parts) == 1) {
		blob.data = column_bytes(parts, 1, &blob.size);
		result = leg_unpack(tables, &blob, arena, &part);
		if (result == 0)
			result = merge(leg, &part, arena);
		count++;
	}
	statement_end(parts);
	if (count > 0 && result == 0)
		qsort(leg->event.recipients, leg->event.recipient_count,
		    sizeof(*leg->event.recipients), by_position);
	return result;
}

int
leg_row_read(struct day_tables *tables, int64_t row,
    const struct message_brief *message, struct arena *arena,
    struct leg_record *leg_r)
{
	int found, result = -1;
	struct statement *read = find_row(tables, row, &found);
	struct leg_blob blob = {.context = {.message = message}};
	struct origin origin;

	memset(leg_r, 0, sizeof(*leg_r));
	if (found == 1) {
		origin = intern_read_origin(
		    tables->intern, column_integer(read, COLUMN_ORIGIN), arena);
		leg_r->row = row;
		leg_r->instance = origin.instance;
		memcpy(leg_r->boot_id, origin.boot_id, sizeof(leg_r->boot_id));
		blob.context.base = day_row_stamp(tables, row, origin.boot_ns);
		blob.data = column_bytes(read, COLUMN_PACKED, &blob.size);
		result = leg_unpack(tables, &blob, arena, &leg_r->event);
		leg_r->event.id = day_column_id(
		    read, COLUMN_ID, leg_r->event.mail_at.wall_ns);
		leg_r->state =
		    (enum leg_state)column_integer(read, COLUMN_STATE);
	}
	statement_end(read);
	if (found != 1)
		return found;
	if (result == 0)
		result = merge_parts(tables, row, message, arena, leg_r);
	if (result != 0 && !arena_failed(arena))
		database_damaged(tables->database, "leg");
	return result != 0 || database_check(tables->database, NULL) != 0 ? -1
									  : 1;
}

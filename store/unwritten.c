/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hash tables of messages, recipients and legs, whose entries lie in an arena
 * until all is written. Owned by the day file, on the ingest thread.
 */
#include "store/unwritten.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/message_row.h"
#include "store/recipient_row.h"

/* Some time before it is as much, it is written. */
#define ARENA_BYTES ((size_t)1 << 30)
#define FULL_MESSAGES 4000
#define FULL_RECIPIENTS 16000
#define FULL_BYTES ((size_t)8 << 20) /* of blobs and Message-IDs */
/* As SQL_LEG_PACKED reads. */
#define LEG_BYTES_MAX 65536

struct recipient_entry {
	int64_t key;
	struct recipient_columns columns;
	bool is_new;
	struct recipient_entry *next; /* of the same message */
	UT_hash_handle hh;
};

struct message_entry {
	int64_t row;
	bool is_new;
	struct message_columns columns; /* of a new one */
	bool is_changed;
	struct message_log log; /* but for the evidence, 0: as it was */
	struct recipient_entry *recipients;
	struct recipient_entry **recipients_end;
	UT_hash_handle hh;
};

struct leg_entry {
	int64_t row;
	struct buffer packed; /* in the arena */
	UT_hash_handle hh;
};

struct unwritten {
	struct arena *arena;
	struct leg_entry *legs;
	struct message_entry *messages;
	struct recipient_entry *recipients;
	size_t recipient_count;
	size_t bytes;
	/* No row in the file is larger; -1: not looked for yet. */
	int64_t newest_row;
	bool has_failed;
};

struct unwritten *
unwritten_new(void)
{
	struct unwritten *unwritten = memory_zeroed(1, sizeof(*unwritten));

	unwritten->arena = arena_new(ARENA_BYTES);
	unwritten->newest_row = -1;
	return unwritten;
}

static void
clear(struct unwritten *unwritten)
{
	HASH_CLEAR(hh, unwritten->messages);
	HASH_CLEAR(hh, unwritten->recipients);
	HASH_CLEAR(hh, unwritten->legs);
	unwritten->recipient_count = 0;
	unwritten->bytes = 0;
	arena_reset(unwritten->arena);
	unwritten->has_failed = false;
}

void
unwritten_discard(struct unwritten *unwritten)
{
	clear(unwritten);
	unwritten->newest_row = -1;
}

void
unwritten_free(struct unwritten **unwritten)
{
	if (*unwritten == NULL)
		return;
	clear(*unwritten);
	arena_free(&(*unwritten)->arena);
	free(*unwritten);
	*unwritten = NULL;
}

static struct message_entry *
find_message(const struct unwritten *unwritten, int64_t row)
{
	struct message_entry *entry;

	HASH_FIND(hh, unwritten->messages, &row, sizeof(row), entry);
	return entry;
}

/* Found or made. NULL: no memory, which sticks. */
static struct message_entry *
message_entry(struct unwritten *unwritten, int64_t row)
{
	struct message_entry *entry = find_message(unwritten, row);

	if (entry != NULL)
		return entry;
	entry = arena_alloc(unwritten->arena, sizeof(*entry));
	if (entry == NULL) {
		unwritten->has_failed = true;
		return NULL;
	}
	entry->row = row;
	entry->recipients_end = &entry->recipients;
	HASH_ADD(hh, unwritten->messages, row, sizeof(row), entry);
	return entry;
}

static struct recipient_entry *
find_recipient(
    const struct unwritten *unwritten, int64_t message_row, uint32_t number)
{
	int64_t key = day_recipient_key(message_row, number);
	struct recipient_entry *entry;

	HASH_FIND(hh, unwritten->recipients, &key, sizeof(key), entry);
	return entry;
}

static struct recipient_entry *
recipient_entry(
    struct unwritten *unwritten, int64_t message_row, uint32_t number)
{
	struct recipient_entry *entry =
	    find_recipient(unwritten, message_row, number);
	struct message_entry *message;

	if (entry != NULL)
		return entry;
	message = message_entry(unwritten, message_row);
	entry = arena_alloc(unwritten->arena, sizeof(*entry));
	if (message == NULL || entry == NULL) {
		unwritten->has_failed = true;
		return NULL;
	}
	entry->key = day_recipient_key(message_row, number);
	*message->recipients_end = entry;
	message->recipients_end = &entry->next;
	HASH_ADD(hh, unwritten->recipients, key, sizeof(entry->key), entry);
	unwritten->recipient_count++;
	return entry;
}

static bool
is_taken(struct unwritten *unwritten, struct day_tables *tables, int64_t row)
{
	const struct message_entry *entry = find_message(unwritten, row);

	if (entry != NULL)
		return true;
	if (unwritten->newest_row < 0)
		unwritten->newest_row = message_row_newest(tables);
	return row <= unwritten->newest_row &&
	       message_row_is_there(tables, row);
}

int64_t
unwritten_add_message(struct unwritten *unwritten, struct day_tables *tables,
    const struct message_row *message, struct row_hint *hint)
{
	const struct message_event *event = message->event;
	int64_t first = day_first_row(hint, &event->id, event->mail_at.wall_ns);
	struct message_entry *entry;
	int64_t row = first;

	while (is_taken(unwritten, tables, row))
		row++;
	day_row_taken(hint, first, row);
	entry = message_entry(unwritten, row);
	if (entry == NULL)
		return row;
	entry->is_new = true;
	entry->log.evidence = message->evidence;
	message_row_make(
	    tables, message, row, unwritten->arena, &entry->columns);
	unwritten->bytes +=
	    entry->columns.packed_size + entry->columns.message_id_local_size;
	return row;
}

void
unwritten_change_message(
    struct unwritten *unwritten, int64_t row, const struct message_log *change)
{
	struct message_entry *entry = message_entry(unwritten, row);

	if (entry == NULL)
		return;
	entry->is_changed = true;
	entry->log.evidence = change->evidence;
	if (change->size_bytes != 0)
		entry->log.size_bytes = change->size_bytes;
	if (change->queue_recipients != 0)
		entry->log.queue_recipients = change->queue_recipients;
}

void
unwritten_add_recipient(struct unwritten *unwritten, struct day_tables *tables,
    const struct recipient_owner *owner, const struct recipient_row *recipient)
{
	struct recipient_entry *entry =
	    recipient_entry(unwritten, owner->row, recipient->number);

	if (entry == NULL)
		return;
	entry->is_new = true;
	recipient_row_make(
	    tables, owner, recipient, unwritten->arena, &entry->columns);
}

void
unwritten_change_recipient(struct unwritten *unwritten,
    struct day_tables *tables, int64_t message_row,
    const struct recipient_row *recipient)
{
	struct recipient_entry *entry =
	    recipient_entry(unwritten, message_row, recipient->number);

	if (entry != NULL)
		recipient_row_alter(
		    tables, message_row, recipient, &entry->columns);
}

bool
unwritten_brief(const struct unwritten *unwritten, int64_t row,
    struct message_brief *brief_r)
{
	const struct message_entry *entry = find_message(unwritten, row);

	if (entry == NULL || !entry->is_new)
		return false;
	*brief_r = entry->columns.brief;
	return true;
}

bool
unwritten_leg(const struct unwritten *unwritten, int64_t message_row,
    uint32_t number, int64_t *leg_row_r)
{
	const struct recipient_entry *entry =
	    find_recipient(unwritten, message_row, number);

	if (entry == NULL)
		return false;
	*leg_row_r = recipient_columns_leg(&entry->columns, message_row);
	return true;
}

int64_t
unwritten_address(
    const struct unwritten *unwritten, int64_t message_row, uint32_t number)
{
	const struct recipient_entry *entry =
	    find_recipient(unwritten, message_row, number);

	return entry != NULL && entry->is_new ? entry->columns.address : 0;
}

void
unwritten_note_leg(
    struct unwritten *unwritten, int64_t leg_row, const struct buffer *packed)
{
	struct leg_entry *entry;

	if (packed->size == 0 || packed->size > LEG_BYTES_MAX ||
	    unwritten->bytes > FULL_BYTES)
		return;
	unwritten->bytes += packed->size;
	entry = arena_alloc(unwritten->arena, sizeof(*entry) + packed->size);
	if (entry == NULL)
		return;
	entry->row = leg_row;
	entry->packed.data = (unsigned char *)(entry + 1);
	entry->packed.size = packed->size;
	memcpy(entry->packed.data, packed->data, packed->size);
	HASH_ADD(hh, unwritten->legs, row, sizeof(entry->row), entry);
}

const struct buffer *
unwritten_leg_blob(const struct unwritten *unwritten, int64_t leg_row)
{
	struct leg_entry *entry;

	HASH_FIND(hh, unwritten->legs, &leg_row, sizeof(leg_row), entry);
	return entry != NULL ? &entry->packed : NULL;
}

void
unwritten_forget_legs(struct unwritten *unwritten)
{
	HASH_CLEAR(hh, unwritten->legs);
}

bool
unwritten_is_full(const struct unwritten *unwritten)
{
	return HASH_COUNT(unwritten->messages) >= FULL_MESSAGES ||
	       unwritten->bytes > FULL_BYTES ||
	       unwritten->recipient_count >= FULL_RECIPIENTS;
}

static bool
is_complete(const struct unwritten *unwritten)
{
	return !unwritten->has_failed && !arena_failed(unwritten->arena);
}

/* Returns whether the rows were there to be changed. */
static bool
write_recipients(struct unwritten *unwritten, struct day_tables *tables,
    bool forget, struct message_entry *message)
{
	struct recipient_entry *entry;
	bool were_there = true;

	for (entry = message->recipients; entry != NULL; entry = entry->next) {
		if (entry->is_new)
			recipient_row_insert(
			    tables, entry->key, &entry->columns);
		else
			were_there &= recipient_row_update(
			    tables, entry->key, &entry->columns);
		if (forget)
			HASH_DEL(unwritten->recipients, entry);
	}
	return were_there;
}

static bool
write_message(struct unwritten *unwritten, struct day_tables *tables,
    const struct message_entry *entry)
{
	if (entry->log.size_bytes != 0)
		tables->sizes_follow = true;
	if (entry->is_new) {
		message_row_insert(
		    tables, entry->row, &entry->columns, &entry->log);
		if (entry->row > unwritten->newest_row)
			unwritten->newest_row = entry->row;
		return true;
	}
	return !entry->is_changed ||
	       message_row_change(tables, entry->row, &entry->log);
}

int
unwritten_write_message(
    struct unwritten *unwritten, struct day_tables *tables, int64_t row)
{
	struct message_entry *entry = find_message(unwritten, row);
	bool were_there = is_complete(unwritten);

	if (entry == NULL)
		return were_there ? 0 : -1;
	were_there &= write_message(unwritten, tables, entry);
	were_there &= write_recipients(unwritten, tables, true, entry);
	HASH_DEL(unwritten->messages, entry);
	return were_there ? 0 : -1;
}

static int
by_row(const struct message_entry *left, const struct message_entry *right)
{
	return (left->row > right->row) - (left->row < right->row);
}

int
unwritten_write(struct unwritten *unwritten, struct day_tables *tables)
{
	bool were_there = is_complete(unwritten);
	struct message_entry *entry;

	HASH_SORT(unwritten->messages, by_row);
	for (entry = unwritten->messages; entry != NULL; entry = entry->hh.next)
		were_there &= write_message(unwritten, tables, entry);
	for (entry = unwritten->messages; entry != NULL; entry = entry->hh.next)
		were_there &= write_recipients(unwritten, tables, false, entry);
	clear(unwritten);
	return were_there ? 0 : -1;
}

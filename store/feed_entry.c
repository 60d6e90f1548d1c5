/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs and unpacks entries. Called by the writer on the ingest thread, by
 * readers on theirs.
 *
 * Of most, a byte says kind and state, and one or two more how many rows after
 * the entry before.
 */
#include "store/feed_entry.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "store/packed.h"

/* The first byte: `to` in the low bits, above it one of these. */
enum form {
	FORM_BEGUN,
	FORM_LEFT_FLIGHT, /* changed, from RECIPIENT_IN_FLIGHT */
	FORM_CHANGED,     /* `from` follows, as below */
	FORM_LEG,
	FORM_MOVED, /* and behind that its old place */
	FORMS
};

#define FORM_SHIFT 5
#define STATE_MASK ((1u << FORM_SHIFT) - 1)

_Static_assert(RECIPIENT_STATES <= STATE_MASK + 1, "a state fits");

static enum form
form_of(const struct feed_entry *entry)
{
	static const enum form forms[] = {
	    [FEED_BEGUN] = FORM_BEGUN,
	    [FEED_CHANGED] = FORM_CHANGED,
	    [FEED_LEG] = FORM_LEG,
	    [FEED_MOVED] = FORM_MOVED,
	};

	if (entry->kind == FEED_CHANGED && entry->from == RECIPIENT_IN_FLIGHT)
		return FORM_LEFT_FLIGHT;
	return forms[entry->kind];
}

/* A row relative to another, the lowest bit telling whether a number follows.
 */
static void
put_place(
    struct packed_writer *writer, int64_t base, int64_t row, uint32_t number)
{
	packed_put_signed(writer,
	    (int64_t)(((uint64_t)row - (uint64_t)base) * 2 + (number != 0)));
	if (number != 0)
		packed_put_unsigned(writer, number);
}

static int64_t
get_place(struct packed_reader *reader, int64_t base, uint32_t *number_r)
{
	int64_t word = packed_signed(reader);

	*number_r = (word & 1) != 0 ? (uint32_t)packed_unsigned(reader) : 0;
	return (int64_t)((uint64_t)base + (uint64_t)(word >> 1));
}

void
feed_entries_pack(
    const struct feed_entry *entries, size_t count, struct buffer *out)
{
	struct packed_writer writer = {.out = out};
	int64_t base = 0;

	for (size_t i = 0; i < count; i++) {
		const struct feed_entry *entry = &entries[i];
		enum form form = form_of(entry);

		packed_put_unsigned(&writer,
		    (unsigned)form << FORM_SHIFT | (unsigned)entry->to);
		put_place(&writer, base, entry->row, entry->number);
		base = entry->row;
		if (form == FORM_CHANGED || form == FORM_MOVED)
			packed_put_unsigned(&writer, entry->from);
		if (form == FORM_MOVED)
			put_place(
			    &writer, base, entry->old_row, entry->old_number);
	}
}

static enum recipient_state
get_state(struct packed_reader *reader, uint64_t state)
{
	if (state >= RECIPIENT_STATES)
		reader->failed = true;
	return state < RECIPIENT_STATES ? (enum recipient_state)state
					: RECIPIENT_IN_FLIGHT;
}

static void
get_entry(struct packed_reader *reader, int64_t base, struct feed_entry *entry)
{
	static const enum feed_kind kinds[FORMS] = {
	    [FORM_BEGUN] = FEED_BEGUN,
	    [FORM_LEFT_FLIGHT] = FEED_CHANGED,
	    [FORM_CHANGED] = FEED_CHANGED,
	    [FORM_LEG] = FEED_LEG,
	    [FORM_MOVED] = FEED_MOVED,
	};
	uint64_t word = packed_unsigned(reader);
	uint64_t form = word >> FORM_SHIFT;

	reader->failed = reader->failed || form >= FORMS;
	if (reader->failed)
		return;
	entry->kind = kinds[form];
	entry->to = get_state(reader, word & STATE_MASK);
	entry->row = get_place(reader, base, &entry->number);
	if (form == FORM_CHANGED || form == FORM_MOVED)
		entry->from = get_state(reader, packed_unsigned(reader));
	if (form == FORM_MOVED)
		entry->old_row =
		    get_place(reader, entry->row, &entry->old_number);
}

int
feed_entries_unpack(const void *data, size_t size, struct arena *arena,
    struct feed_entry **entries_r, size_t *count_r)
{
	struct packed_reader reader = {.data = data, .size = size};
	int64_t base = 0;

	*entries_r = NULL;
	*count_r = 0;
	while (reader.size > 0 && !reader.failed) {
		struct feed_entry *entry =
		    arena_append(arena, entries_r, count_r, sizeof(*entry));

		if (entry == NULL)
			return -1;
		get_entry(&reader, base, entry);
		base = entry->row;
	}
	return reader.failed ? -1 : 0;
}

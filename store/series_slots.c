/* SPDX-License-Identifier: BSD-2-Clause */
/* From labels to series. Called by day_totals on the ingest thread. */
#include "store/series_slots.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/totals.h"

/* A label that the file tells apart, by its text; the first one of each kind,
 * number 0, is SERIES_OTHER, and NO_LABEL none at all. */
struct label {
	char text[SERIES_LABEL_SIZE];
	uint64_t number;
	UT_hash_handle hh;
};

#define NO_LABEL 0xffff

struct labels {
	struct label *by_text;
	uint64_t count;
};

/* By histogram, host, kind and label. */
struct labelled {
	uint64_t key;
	unsigned slot;
	UT_hash_handle hh;
};

struct slot {
	char *name; /* NULL for the histograms' own */
	bool is_by_hour;
	int64_t number; /* 0: not looked up yet */
};

struct series_slots {
	const struct totals_names *names;
	struct slot *slots;
	size_t count, capacity;
	struct labelled *by_key;
	struct labels labels[SERIES_KINDS];
	bool is_loaded; /* with the labels that the file has */
};

static const uint64_t limits[SERIES_KINDS] = {
    [SERIES_HOST] = SERIES_HOSTS,
    [SERIES_RELAY] = SERIES_RELAYS,
    [SERIES_PROVIDER] = SERIES_PROVIDERS,
};

struct series_slots *
series_slots_new(const struct totals_names *names)
{
	struct series_slots *slots = memory_zeroed(1, sizeof(*slots));

	slots->names = names;
	slots->count = slots->capacity = names->histogram_count;
	slots->slots = memory_zeroed(slots->count, sizeof(*slots->slots));
	return slots;
}

static void
forget_labels(struct labels *labels)
{
	struct label *label, *next;

	HASH_ITER (hh, labels->by_text, label, next) {
		HASH_DEL(labels->by_text, label);
		free(label);
	}
	labels->count = 0;
}

void
series_slots_forget(struct series_slots *slots)
{
	struct labelled *labelled, *next;

	HASH_ITER (hh, slots->by_key, labelled, next) {
		HASH_DEL(slots->by_key, labelled);
		free(labelled);
	}
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		forget_labels(&slots->labels[i]);
	for (size_t i = 0; i < slots->count; i++)
		free(slots->slots[i].name);
	slots->count = slots->names->histogram_count;
	memset(slots->slots, 0, slots->count * sizeof(*slots->slots));
	slots->is_loaded = false;
}

void
series_slots_free(struct series_slots **slots)
{
	if (*slots == NULL)
		return;
	series_slots_forget(*slots);
	free((*slots)->slots);
	free(*slots);
	*slots = NULL;
}

static struct label *
add_label(struct labels *labels, const char *text)
{
	struct label *label = memory_zeroed(1, sizeof(*label));

	strcpy(label->text, text);
	label->number = labels->count++;
	HASH_ADD_STR(labels->by_text, text, label);
	return label;
}

/* One that was just read from a file may be there already. */
static void
load_label(struct labels *labels, const char *text, size_t size)
{
	struct label *label;

	if (size >= SERIES_LABEL_SIZE)
		return;
	HASH_FIND(hh, labels->by_text, text, size, label);
	if (label == NULL) {
		char copy[SERIES_LABEL_SIZE];

		memcpy(copy, text, size);
		copy[size] = '\0';
		add_label(labels, copy);
	}
}

static void
load_name(struct series_slots *slots, const void *bytes, size_t size)
{
	char *name = memory_zeroed(size + 1, 1);

	memcpy(name, bytes, size);
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		size_t label_size;
		const char *label = series_find_label(
		    name, (enum series_kind)i, &label_size);

		if (label != NULL)
			load_label(&slots->labels[i], label, label_size);
	}
	free(name);
}

static void
load(struct series_slots *slots, struct day_tables *tables)
{
	struct statement *rows =
	    database_statement(tables->database, SQL_SERIES_READ);

	for (unsigned i = 0; i < SERIES_KINDS; i++)
		add_label(&slots->labels[i], SERIES_OTHER);
	while (statement_step(rows) == 1) {
		size_t size;
		const void *name = column_bytes(rows, 1, &size);

		load_name(slots, name, size);
	}
	statement_end(rows);
	slots->is_loaded = true;
}

/* The label under which a text is kept, in *text_r, and its number. */
static uint64_t
find_label(struct series_slots *slots, enum series_kind kind, const char *text,
    const char **text_r)
{
	struct labels *labels = &slots->labels[kind];
	char wanted[SERIES_LABEL_SIZE];
	struct label *label;

	*text_r = NULL;
	if (text == NULL)
		return NO_LABEL;
	series_label(text, wanted);
	HASH_FIND_STR(labels->by_text, wanted, label);
	if (label == NULL && labels->count <= limits[kind])
		label = add_label(labels, wanted);
	if (label == NULL)
		HASH_FIND_STR(labels->by_text, SERIES_OTHER, label);
	*text_r = label->text;
	return label->number;
}

static struct labelled *
add_slot(struct series_slots *slots, const struct series_key *key,
    const struct series_labels *labels, uint64_t packed)
{
	struct labelled *labelled = memory_zeroed(1, sizeof(*labelled));
	struct buffer name = {0};
	struct slot *slot;

	if (slots->count == slots->capacity) {
		slots->capacity = 2 * slots->capacity + 16;
		slots->slots = memory_resize(
		    slots->slots, slots->capacity, sizeof(*slots->slots));
	}
	labelled->key = packed;
	labelled->slot = (unsigned)slots->count;
	slot = &slots->slots[slots->count++];
	series_name(slots->names->histograms[key->histogram], labels, &name);
	*slot = (struct slot){
	    .name = memory_format(
		"%.*s", (int)name.size, (const char *)name.data),
	    .is_by_hour = key->kind != SERIES_HOST};
	buffer_free(&name);
	HASH_ADD(hh, slots->by_key, key, sizeof(labelled->key), labelled);
	return labelled;
}

unsigned
series_slots_find(struct series_slots *slots, struct day_tables *tables,
    const struct series_key *key)
{
	struct series_labels labels = {NULL, NULL, NULL};
	const char *label = NULL;
	uint64_t packed = (uint64_t)key->histogram << 34;
	struct labelled *labelled;

	if (!slots->is_loaded)
		load(slots, tables);
	packed |= find_label(slots, SERIES_HOST, key->host, &labels.host) << 18;
	if (key->kind != SERIES_HOST)
		packed |= (uint64_t)key->kind << 16 |
			  find_label(slots, key->kind, key->label, &label);
	if (key->kind == SERIES_RELAY)
		labels.relay = label;
	else
		labels.provider = label;
	HASH_FIND(hh, slots->by_key, &packed, sizeof(packed), labelled);
	if (labelled == NULL)
		labelled = add_slot(slots, key, &labels, packed);
	return labelled->slot;
}

static const char *
name_of(const struct series_slots *slots, unsigned slot)
{
	return slot < slots->names->histogram_count
		   ? slots->names->histograms[slot]
		   : slots->slots[slot].name;
}

int64_t
series_slots_number(
    struct series_slots *slots, struct day_tables *tables, unsigned slot)
{
	int64_t *number = &slots->slots[slot].number;
	struct statement *add;

	if (*number != 0)
		return *number;
	add = database_statement(tables->database, SQL_SERIES_ADD);
	bind_string(add, name_of(slots, slot));
	if (statement_step(add) == 1)
		*number = column_integer(add, 0);
	statement_end(add);
	return *number;
}

bool
series_slots_is_by_hour(const struct series_slots *slots, unsigned slot)
{
	return slots->slots[slot].is_by_hour;
}

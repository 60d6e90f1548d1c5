/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A name and a number for each counter that is not zero, an empty name, then
 * the same for histograms. Called by store.c at start and with each commit.
 */
#include "store/totals_note.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "store/packed.h"
#include "store/totals_rows.h"
#include "store/totals_writer.h"

static void
put_name(struct packed_writer *writer, const char *name)
{
	packed_put_bytes(writer, name, strlen(name));
}

static void
put_histogram(struct packed_writer *writer, const char *name,
    const struct histogram_total *total)
{
	struct buffer buckets = {0};

	put_name(writer, name);
	packed_put_unsigned(writer, total->exponential.count);
	packed_put_signed(writer, total->exponential.sum_ns);
	totals_pack(total, &buckets);
	packed_put_bytes(writer, buckets.data, buckets.size);
	buffer_free(&buckets);
}

void
totals_note_write(struct totals *totals, struct buffer *note_r)
{
	const struct totals_names *names = totals_names(totals);
	const uint64_t *counters = totals_counters(totals);
	const struct histogram_total *histograms = totals_histograms(totals);
	struct packed_writer writer = {.out = note_r};

	buffer_clear(note_r);
	totals_begin(totals);
	for (size_t i = 0; i < names->counter_count; i++) {
		if (counters[i] == 0)
			continue;
		put_name(&writer, names->counters[i]);
		packed_put_unsigned(&writer, counters[i]);
	}
	put_name(&writer, "");
	for (size_t i = 0; i < names->histogram_count; i++)
		if (histograms[i].exponential.count > 0)
			put_histogram(
			    &writer, names->histograms[i], &histograms[i]);
	put_name(&writer, "");
	totals_end(totals);
}

/* The index of the next name among `names`, or `count`. Returns false behind
 * the last one. */
static bool
next_name(struct packed_reader *reader, const char *const *names, size_t count,
    size_t *index_r)
{
	size_t size;
	const char *name = packed_bytes(reader, &size);

	if (reader->failed || size == 0)
		return false;
	for (*index_r = 0; *index_r < count; ++*index_r)
		if (strlen(names[*index_r]) == size &&
		    memcmp(names[*index_r], name, size) == 0)
			break;
	return true;
}

static void
add_counters(struct totals *totals, struct packed_reader *reader)
{
	const struct totals_names *names = totals_names(totals);
	uint64_t *counters = totals_counters(totals);
	size_t i;

	while (next_name(reader, names->counters, names->counter_count, &i)) {
		uint64_t value = packed_unsigned(reader);

		if (i < names->counter_count)
			counters[i] += value;
	}
}

static void
add_histograms(struct totals *totals, struct packed_reader *reader)
{
	const struct totals_names *names = totals_names(totals);
	struct histogram_total *histograms = totals_histograms(totals);
	size_t i;

	while (
	    next_name(reader, names->histograms, names->histogram_count, &i)) {
		uint64_t count = packed_unsigned(reader);
		int64_t sum_ns = packed_signed(reader);
		struct histogram_total total;
		size_t size;
		const void *buckets = packed_bytes(reader, &size);

		if (reader->failed || i == names->histogram_count)
			continue;
		total = totals_unpack(count, sum_ns, buckets, size);
		histogram_total_add(&histograms[i], &total);
	}
}

void
totals_note_add(struct totals *totals, const struct buffer *note)
{
	struct packed_reader reader = {.data = note->data, .size = note->size};

	totals_begin(totals);
	add_counters(totals, &reader);
	add_histograms(totals, &reader);
	totals_end(totals);
}

static bool
carry_counters(
    struct totals *sums, struct totals *carried, struct totals *noted)
{
	size_t count = totals_names(sums)->counter_count;
	uint64_t *ours = totals_counters(sums);
	const uint64_t *theirs = totals_counters(noted);
	bool is_more = false;

	for (size_t i = 0; i < count; i++) {
		if (theirs[i] <= ours[i])
			continue;
		totals_counters(carried)[i] += theirs[i] - ours[i];
		ours[i] = theirs[i];
		is_more = true;
	}
	return is_more;
}

/* Of one that has become more since it was noted nothing can be told apart. */
static bool
carry_histograms(
    struct totals *sums, struct totals *carried, struct totals *noted)
{
	size_t count = totals_names(sums)->histogram_count;
	struct histogram_total *ours = totals_histograms(sums);
	struct histogram_total *theirs = totals_histograms(noted);
	bool is_more = false;

	for (size_t i = 0; i < count; i++) {
		if (theirs[i].exponential.count <= ours[i].exponential.count)
			continue;
		histogram_total_subtract(&theirs[i], &ours[i]);
		histogram_total_add(&totals_histograms(carried)[i], &theirs[i]);
		histogram_total_add(&ours[i], &theirs[i]);
		is_more = true;
	}
	return is_more;
}

bool
totals_carry(struct totals *sums, struct totals *carried, struct totals *noted)
{
	bool is_more;

	totals_begin(sums);
	is_more = carry_counters(sums, carried, noted);
	is_more |= carry_histograms(sums, carried, noted);
	totals_end(sums);
	return is_more;
}

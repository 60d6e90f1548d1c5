/* SPDX-License-Identifier: BSD-2-Clause */
/* Called for day files and the archive, by whoever writes them. */
#include "store/totals_rows.h"

#include <string.h>

#include "base/buffer.h"
#include "store/database.h"
#include "store/packed.h"
#include "store/totals_writer.h"

/* The index of column 0 among `count` names, or `count`. */
static size_t
find_name(struct statement *row, const char *const *names, size_t count)
{
	size_t size, i = 0;
	const void *text = column_bytes(row, 0, &size);

	while (i < count &&
	       (strlen(names[i]) != size || memcmp(names[i], text, size) != 0))
		i++;
	return i;
}

void
totals_rows_counters(struct statement *rows, const struct totals_names *names,
    uint64_t *counters)
{
	while (statement_step(rows) == 1) {
		size_t i =
		    find_name(rows, names->counters, names->counter_count);

		if (i < names->counter_count)
			counters[i] += (uint64_t)column_integer(rows, 1);
	}
	statement_end(rows);
}

static uint64_t
in_buckets(const struct histogram *histogram)
{
	uint64_t count = histogram->zero;

	for (int i = histogram->low; i <= histogram->high; i++)
		count += histogram->buckets[i];
	return count;
}

/* What the classic buckets say of the exponential ones: no value lies above its
 * bound. */
static void
spread(struct histogram_total *total)
{
	histogram_clear(&total->exponential);
	for (unsigned i = 0; i < TOTALS_BUCKETS; i++)
		histogram_observe_many(&total->exponential, totals_bounds_ns[i],
		    total->buckets[i]);
	histogram_observe_many(&total->exponential,
	    totals_bounds_ns[TOTALS_BUCKETS - 1] + 1,
	    total->buckets[TOTALS_BUCKETS]);
}

/* Rows of older versions have no exponential buckets. */
struct histogram_total
totals_unpack(uint64_t count, int64_t sum_ns, const void *data, size_t size)
{
	struct packed_reader reader = {.data = data, .size = size};
	struct histogram_total total = {.buckets = {0}};

	for (unsigned i = 0; i <= TOTALS_BUCKETS; i++)
		total.buckets[i] = packed_unsigned(&reader);
	if (histogram_decode(&total.exponential, reader.data, reader.size) !=
		0 ||
	    in_buckets(&total.exponential) != count)
		spread(&total);
	total.exponential.count = count;
	total.exponential.sum_ns = sum_ns;
	return total;
}

struct histogram_total
totals_row_histogram(struct statement *row)
{
	size_t size;
	const void *data = column_bytes(row, 3, &size);

	return totals_unpack((uint64_t)column_integer(row, 1),
	    column_integer(row, 2), data, size);
}

void
totals_pack(const struct histogram_total *total, struct buffer *buckets)
{
	struct packed_writer writer = {.out = buckets};

	for (unsigned i = 0; i <= TOTALS_BUCKETS; i++)
		packed_put_unsigned(&writer, total->buckets[i]);
	histogram_encode(&total->exponential, buckets);
}

void
totals_row_bind(struct statement *write, const struct histogram_total *total,
    struct buffer *buckets)
{
	totals_pack(total, buckets);
	bind_integer(write, (int64_t)total->exponential.count);
	bind_integer(write, total->exponential.sum_ns);
	bind_blob(write, buckets->data, buckets->size);
}

void
totals_rows_histograms(struct statement *rows, const struct totals_names *names,
    struct histogram_total *histograms)
{
	while (statement_step(rows) == 1) {
		size_t i =
		    find_name(rows, names->histograms, names->histogram_count);
		struct histogram_total of_row = totals_row_histogram(rows);

		if (i < names->histogram_count)
			histogram_total_add(&histograms[i], &of_row);
	}
	statement_end(rows);
}

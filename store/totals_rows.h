/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * totals_rows: counters and histograms as rows of a file, added up by name.
 *
 * Names that are not among `names` are passed over. Failures stick to the
 * connection.
 */
#ifndef STORE_TOTALS_ROWS_H
#define STORE_TOTALS_ROWS_H

#include "store/totals.h"

#include <stdint.h>

struct buffer;
struct statement;

/* Adds all rows of (name, value). */
void totals_rows_counters(struct statement *rows,
    const struct totals_names *names, uint64_t *counters);

/* Adds all rows of (name, count, sum_ns, buckets). */
void totals_rows_histograms(struct statement *rows,
    const struct totals_names *names, struct histogram_total *histograms);

/* What stands in `buckets`: the buckets of both kinds. */
void totals_pack(const struct histogram_total *total, struct buffer *buckets);
struct histogram_total totals_unpack(
    uint64_t count, int64_t sum_ns, const void *data, size_t size);

/* The histogram of a row whose columns from 1 on are count, sum_ns, buckets. */
struct histogram_total totals_row_histogram(struct statement *row);

/* Binds these three as the next parameters. `buckets` must be empty, and live
 * until the statement was run. */
void totals_row_bind(struct statement *write,
    const struct histogram_total *total, struct buffer *buckets);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * totals_writer: the store's side of totals: publishing what was committed.
 */
#ifndef STORE_TOTALS_WRITER_H
#define STORE_TOTALS_WRITER_H

#include "store/totals.h"

struct observation;

const struct totals_names *totals_names(const struct totals *totals);

/* Adds a file's increases, arrays with the counts of totals_names(). One scrape
 * sees all or nothing of what lies between begin and end. */
void totals_begin(struct totals *totals);
void totals_add(struct totals *totals, const uint64_t *counters,
    const struct histogram_total *histograms);
void totals_end(struct totals *totals);

/* The sums themselves, between begin and end. */
uint64_t *totals_counters(struct totals *totals);
struct histogram_total *totals_histograms(struct totals *totals);

/* Adds one duration, which must not be negative. */
void histogram_total_observe(
    struct histogram_total *total, const struct observation *observation);

/* Empties it; cheaper than to zero it. */
void histogram_total_clear(struct histogram_total *total);

void histogram_total_add(
    struct histogram_total *into, const struct histogram_total *from);

/* Takes away what `less` has, as far as it is there. */
void histogram_total_subtract(
    struct histogram_total *total, const struct histogram_total *less);

#endif

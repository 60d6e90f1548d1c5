/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * day_totals: a file's share of the counters and histograms: what the batch
 * adds to what it holds.
 *
 * Belongs to the ingest thread. Failures stick to the connection.
 */
#ifndef STORE_DAY_TOTALS_H
#define STORE_DAY_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

struct day_tables;
struct day_totals;
struct observation;
struct totals;
struct totals_names;

/* `names` must outlive it. */
struct day_totals *day_totals_new(const struct totals_names *names);
void day_totals_free(struct day_totals **totals);

/* Reads what the file holds, forgetting the batch. Unless `sums` is NULL, adds
 * it there. */
void day_totals_load(
    struct day_totals *totals, struct day_tables *tables, struct totals *sums);

void day_totals_count(
    struct day_totals *totals, unsigned counter, uint64_t increase);
void day_totals_observe(struct day_totals *totals, struct day_tables *tables,
    const struct observation *observation);

/* Whether the batch has a share. */
bool day_totals_is_dirty(const struct day_totals *totals);

/* Writes the batch's share, within the transaction. */
void day_totals_write(struct day_totals *totals, struct day_tables *tables);

/* After commit: adds the batch's share to the sums, between totals_begin() and
 * totals_end(), and begins a new one. */
void day_totals_publish(struct day_totals *totals, struct totals *sums);

/* After rollback: forgets the batch's share. */
void day_totals_discard(struct day_totals *totals);

#endif

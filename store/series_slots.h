/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * series_slots: the series of one file that durations are added to.
 *
 * Histograms are numbered as in totals_names; the first slots are theirs.
 * Others follow as labels come up. How many hosts, relays and providers a file
 * tells apart is bounded: those that come first have series of their own, the
 * rest share SERIES_OTHER. What the file has counts, so it is the same again
 * after a crash. Belongs to the ingest thread; failures stick to the
 * connection.
 */
#ifndef STORE_SERIES_SLOTS_H
#define STORE_SERIES_SLOTS_H

#include "store/series.h"

#include <stddef.h>
#include <stdint.h>

struct day_tables;
struct series_slots;
struct totals_names;

#define SERIES_HOSTS 16
#define SERIES_RELAYS 64
#define SERIES_PROVIDERS 64

/* `names` must outlive it. */
struct series_slots *series_slots_new(const struct totals_names *names);
void series_slots_free(struct series_slots **slots);

/* Forgets what the file has; all slots but the histograms' own are void. */
void series_slots_forget(struct series_slots *slots);

/* The slot for a histogram and, unless it is NULL, a host; with SERIES_RELAY or
 * SERIES_PROVIDER also for `label`. Both as they were written. */
struct series_key {
	unsigned histogram;
	const char *host;
	enum series_kind kind;
	const char *label;
};

unsigned series_slots_find(struct series_slots *slots,
    struct day_tables *tables, const struct series_key *key);

/* The number of a slot's series in the file, where it is added if need be. */
int64_t series_slots_number(
    struct series_slots *slots, struct day_tables *tables, unsigned slot);

/* Whether there are no minutes of it. */
bool series_slots_is_by_hour(const struct series_slots *slots, unsigned slot);

#endif

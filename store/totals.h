/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * totals: the sums over all day files, which /metrics shows.
 *
 * The owner says once which counters and histograms exist: in files they are
 * kept by name, in memory by index. Readers take a snapshot under a lock; the
 * store publishes after each commit, so that nothing uncommitted is ever seen
 * and no value ever sinks. Names in a file that the owner does not know stay in
 * the file untouched.
 */
#ifndef STORE_TOTALS_H
#define STORE_TOTALS_H

#include "base/uuid.h"
#include "store/histogram.h"

#include <stddef.h>
#include <stdint.h>

struct totals;

/* Histograms have classic buckets with these inclusive upper bounds, 1 ms to 5
 * days, and a last one above them, beside the exponential ones. */
#define TOTALS_BUCKETS 24
extern const int64_t totals_bounds_ns[TOTALS_BUCKETS];

/* A message that took so long. */
struct exemplar {
	struct uuid message; /* not set: there is none */
	int64_t value_ns;
	int64_t wall_ns; /* when that was complete */
};

/* Zeroed it is empty. */
struct histogram_total {
	struct histogram exponential;         /* with count and sum */
	uint64_t buckets[TOTALS_BUCKETS + 1]; /* classic; not cumulative */
	/* Of each bucket the last one since the program's start: in memory
	 * only. */
	struct exemplar exemplars[TOTALS_BUCKETS + 1];
};

struct totals_names {
	const char *const *counters;
	size_t counter_count;
	const char *const *histograms;
	size_t histogram_count;
};

/* `names` and what it points to must outlive the totals. */
struct totals *totals_new(const struct totals_names *names);
void totals_free(struct totals **totals);

/* Copies for one scrape; the arrays have the counts given at totals_new(). Any
 * thread. */
void totals_snapshot(struct totals *totals, uint64_t *counters_r,
    struct histogram_total *histograms_r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums over all day files, kept in memory. The ingest thread adds what it has
 * committed; any thread takes snapshots. What is in the sums is never
 * taken away.
 */
#include "store/totals.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "store/observation.h"
#include "store/totals_writer.h"

#define MS INT64_C(1000000)
#define SECOND CLOCK_NS_PER_SECOND
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

const int64_t totals_bounds_ns[TOTALS_BUCKETS] = {1 * MS, 2 * MS, 5 * MS,
    10 * MS, 25 * MS, 50 * MS, 100 * MS, 250 * MS, 500 * MS, 1 * SECOND,
    2500 * MS, 5 * SECOND, 10 * SECOND, 30 * SECOND, 1 * MINUTE, 5 * MINUTE,
    15 * MINUTE, 30 * MINUTE, 1 * HOUR, 4 * HOUR, 12 * HOUR, 1 * DAY, 2 * DAY,
    5 * DAY};

struct totals {
	const struct totals_names *names;
	pthread_mutex_t lock;
	uint64_t *counters;
	struct histogram_total *histograms;
};

struct totals *
totals_new(const struct totals_names *names)
{
	struct totals *totals = memory_zeroed(1, sizeof(*totals));

	totals->names = names;
	pthread_mutex_init(&totals->lock, NULL);
	totals->counters =
	    memory_zeroed(names->counter_count, sizeof(*totals->counters));
	totals->histograms =
	    memory_zeroed(names->histogram_count, sizeof(*totals->histograms));
	return totals;
}

void
totals_free(struct totals **totals)
{
	if (*totals == NULL)
		return;
	pthread_mutex_destroy(&(*totals)->lock);
	free((*totals)->counters);
	free((*totals)->histograms);
	free(*totals);
	*totals = NULL;
}

const struct totals_names *
totals_names(const struct totals *totals)
{
	return totals->names;
}

void
totals_snapshot(struct totals *totals, uint64_t *counters_r,
    struct histogram_total *histograms_r)
{
	const struct totals_names *names = totals->names;

	pthread_mutex_lock(&totals->lock);
	memcpy(counters_r, totals->counters,
	    names->counter_count * sizeof(*counters_r));
	memcpy(histograms_r, totals->histograms,
	    names->histogram_count * sizeof(*histograms_r));
	pthread_mutex_unlock(&totals->lock);
}

void
totals_begin(struct totals *totals)
{
	pthread_mutex_lock(&totals->lock);
}

void
totals_add(struct totals *totals, const uint64_t *counters,
    const struct histogram_total *histograms)
{
	const struct totals_names *names = totals->names;

	for (size_t i = 0; i < names->counter_count; i++)
		totals->counters[i] += counters[i];
	for (size_t i = 0; i < names->histogram_count; i++)
		histogram_total_add(&totals->histograms[i], &histograms[i]);
}

void
totals_end(struct totals *totals)
{
	pthread_mutex_unlock(&totals->lock);
}

uint64_t *
totals_counters(struct totals *totals)
{
	return totals->counters;
}

struct histogram_total *
totals_histograms(struct totals *totals)
{
	return totals->histograms;
}

static void
renew_exemplar(struct exemplar *exemplar, const struct exemplar *by)
{
	if (uuid_is_set(&by->message) && by->wall_ns >= exemplar->wall_ns)
		*exemplar = *by;
}

void
histogram_total_observe(
    struct histogram_total *total, const struct observation *observation)
{
	int64_t value_ns = observation->value_ns;
	unsigned bucket = 0;

	while (bucket < TOTALS_BUCKETS && value_ns > totals_bounds_ns[bucket])
		bucket++;
	histogram_observe(&total->exponential, value_ns);
	total->buckets[bucket]++;
	if (observation->message != NULL)
		renew_exemplar(&total->exemplars[bucket],
		    &(struct exemplar){
			*observation->message, value_ns, observation->wall_ns});
}

void
histogram_total_add(
    struct histogram_total *into, const struct histogram_total *from)
{
	histogram_merge(&into->exponential, &from->exponential);
	for (unsigned i = 0; i <= TOTALS_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
	for (unsigned i = 0; i <= TOTALS_BUCKETS; i++)
		renew_exemplar(&into->exemplars[i], &from->exemplars[i]);
}

void
histogram_total_subtract(
    struct histogram_total *total, const struct histogram_total *less)
{
	histogram_subtract(&total->exponential, &less->exponential);
	for (unsigned i = 0; i <= TOTALS_BUCKETS; i++)
		total->buckets[i] -= less->buckets[i] < total->buckets[i]
					 ? less->buckets[i]
					 : total->buckets[i];
}

void
histogram_total_clear(struct histogram_total *total)
{
	histogram_clear(&total->exponential);
	memset(total->buckets, 0, sizeof(total->buckets));
	memset(total->exemplars, 0, sizeof(total->exemplars));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by ingest on its thread. */
#include "exporter/batch_size.h"

#include <time.h>

#include "base/clock.h"
#include "store/store.h"

#define FIRST_EVENTS 2000
/* A commit that took longer was too large, one that took less than half of that
 * may have been larger: each writes most pages of the indexes anew. */
#define LONG_SPENT_NS (25 * CLOCK_NS_PER_SECOND / 1000)
#define LEAST_EVENTS 200
/* In all, with what the disk takes, and waiting for both beside others. A part
 * of it does not depend on how much there is to write: below some number
 * nothing is gained by asking a slow disk more often. */
#define LONG_TOOK_NS (25 * CLOCK_NS_PER_SECOND / 1000)
#define LEAST_TOOK_EVENTS 400

/* Of the processor's time. */
static int64_t
spent_ns(void)
{
	struct timespec spent;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
	return spent.tv_sec * CLOCK_NS_PER_SECOND + spent.tv_nsec;
}

static int64_t
clamp(int64_t value, int64_t least, int64_t most)
{
	if (value < least)
		value = least;
	return value < most ? value : most;
}

struct batch_size
batch_size_begin(int64_t most)
{
	return (struct batch_size){
	    .events = most < FIRST_EVENTS ? most : FIRST_EVENTS, .most = most};
}

void
batch_size_learn(struct batch_size *size, const struct batch_cost *cost)
{
	bool spent_long = cost->spent_ns > LONG_SPENT_NS;
	bool took_long = cost->took_ns > LONG_TOOK_NS;
	bool was_short = cost->spent_ns < LONG_SPENT_NS / 2 &&
			 cost->took_ns < LONG_TOOK_NS / 2;
	int64_t least = spent_long ? LEAST_EVENTS : LEAST_TOOK_EVENTS;
	int64_t events = size->events;

	if (spent_long || took_long)
		events = clamp(events / 2, least, events);
	else if (was_short)
		events += events / 4 + 1;
	size->events = events < size->most ? events : size->most;
}

bool
batch_size_is_reached(
    const struct batch_size *size, int64_t events, const struct store *store)
{
	return events >= size->events ||
	       (events > 0 && store_wants_commit(store));
}

int
batch_size_commit(struct batch_size *size, struct store *store,
    const struct source_position *positions, size_t count,
    struct reason *reason)
{
	int64_t start_ns = clock_stamp().monotonic_ns;
	int64_t spent_before_ns = spent_ns();
	struct batch_cost cost;

	if (store_commit(store, positions, count, reason) != 0)
		return -1;
	cost.spent_ns = spent_ns() - spent_before_ns;
	cost.took_ns = clock_stamp().monotonic_ns - start_ns;
	batch_size_learn(size, &cost);
	return 0;
}

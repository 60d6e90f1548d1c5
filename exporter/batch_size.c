/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by ingest on its thread. */
#include "exporter/batch_size.h"

#include "base/clock.h"
#include "base/processor_time.h"
#include "store/store.h"

#define FIRST_EVENTS 500
#define MS (CLOCK_NS_PER_SECOND / 1000)
/* A commit that took longer was too large, one that took less than half of that
 * may have been larger: each writes most pages of the indexes anew. Beside
 * others who needs the processor for longer waits for it longer. */
#define LONG_SPENT_NS (25 * MS)
#define LONG_QUEUED_NS (8 * MS)
#define LEAST_EVENTS 100
/* One quick commit beside busy others says little of the next: batches grow by
 * this part at a time. */
#define GROWTH 32
/* The part of the longest wait for the processor that a commit forgets. */
#define FORGOTTEN 64
/* A part of what the disk takes does not depend on how much there is to write:
 * below some number nothing is gained by asking a slow one more often. */
#define LONG_BLOCKED_NS (12 * MS)
#define LEAST_BLOCKED_EVENTS 400

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

static bool
is_long(const struct batch_cost *cost)
{
	return cost->spent_ns > LONG_SPENT_NS ||
	       cost->queued_ns > LONG_QUEUED_NS;
}

static bool
may_grow(const struct batch_size *size, const struct batch_cost *cost)
{
	return cost->events >= size->events &&
	       2 * cost->spent_ns <= LONG_SPENT_NS &&
	       2 * size->queued_ns <= LONG_QUEUED_NS &&
	       2 * cost->blocked_ns <= LONG_BLOCKED_NS;
}

static void
remember_queued(struct batch_size *size, int64_t queued_ns)
{
	size->queued_ns -= size->queued_ns / FORGOTTEN;
	if (queued_ns > size->queued_ns)
		size->queued_ns = queued_ns;
}

/* What was waited for many would be shorter for few. */
static void
resize(struct batch_size *size, int64_t events)
{
	if (events > size->most)
		events = size->most;
	size->queued_ns = size->queued_ns * events / size->events;
	size->events = events;
}

void
batch_size_learn(struct batch_size *size, const struct batch_cost *cost)
{
	int64_t events = size->events;

	remember_queued(size, cost->queued_ns);
	if (is_long(cost))
		events = clamp(events / 2, LEAST_EVENTS, events);
	else if (cost->blocked_ns > LONG_BLOCKED_NS)
		events = clamp(events / 2, LEAST_BLOCKED_EVENTS, events);
	else if (may_grow(size, cost))
		events += events / GROWTH + 1;
	resize(size, events);
}

bool
batch_size_is_reached(
    const struct batch_size *size, int64_t events, const struct store *store)
{
	return events >= size->events || events >= store_most_events(store);
}

int
batch_size_commit(struct batch_size *size, int64_t events, struct store *store,
    const struct source_position *positions, size_t count,
    struct reason *reason)
{
	const struct processor_time before = processor_time();
	int64_t start_ns = clock_stamp().monotonic_ns;
	struct batch_cost cost = {.events = events};
	struct processor_time after;

	if (store_commit(store, positions, count, reason) != 0)
		return -1;
	cost.blocked_ns = clock_stamp().monotonic_ns - start_ns;
	after = processor_time();
	cost.spent_ns = after.spent_ns - before.spent_ns;
	cost.queued_ns = after.queued_ns - before.queued_ns;
	cost.blocked_ns -= cost.spent_ns + cost.queued_ns;
	batch_size_learn(size, &cost);
	return 0;
}

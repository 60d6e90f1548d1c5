/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by ingest on its thread. */
#include "exporter/batch_size.h"

#include <time.h>

#include "base/clock.h"
#include "store/store.h"

#define FIRST_EVENTS 2000
#define LEAST_EVENTS 500
/* A commit that took longer was too large, one that took less than half of that
 * may have been larger: each writes most pages of the indexes anew. */
#define LONG_NS (25 * CLOCK_NS_PER_SECOND / 1000)

/* Of the processor's time: how long the disk takes does not depend on how much
 * there is to write. */
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
	if (value > most)
		return most;
	return value < least ? least : value;
}

struct batch_size
batch_size_begin(int64_t most)
{
	return (struct batch_size){
	    .events = most < FIRST_EVENTS ? most : FIRST_EVENTS, .most = most};
}

void
batch_size_learn(struct batch_size *size, int64_t took_ns)
{
	int64_t least = size->most < LEAST_EVENTS ? size->most : LEAST_EVENTS;
	int64_t events = size->events;

	if (took_ns > LONG_NS)
		events = events * 3 / 4;
	else if (took_ns < LONG_NS / 2)
		events += events / 4 + 1;
	size->events = clamp(events, least, size->most);
}

int
batch_size_commit(struct batch_size *size, struct store *store,
    const struct source_position *positions, size_t count,
    struct reason *reason)
{
	int64_t start_ns = spent_ns();

	if (store_commit(store, positions, count, reason) != 0)
		return -1;
	batch_size_learn(size, spent_ns() - start_ns);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two sets of atomic numbers: what was counted since start, and what of it no
 * heartbeat has told yet. Counted from any thread of a producer; taken and
 * given back by the journal's writer.
 */
#include "proto/producer_counter.h"

#include <stdatomic.h>

static _Atomic uint64_t totals[PRODUCER_COUNTERS];
static _Atomic uint64_t untold[PRODUCER_COUNTERS];

void
producer_count(enum producer_counter counter, uint64_t increase)
{
	atomic_fetch_add_explicit(
	    &totals[counter], increase, memory_order_relaxed);
	atomic_fetch_add_explicit(
	    &untold[counter], increase, memory_order_relaxed);
}

uint64_t
producer_counted(enum producer_counter counter)
{
	return atomic_load_explicit(&totals[counter], memory_order_relaxed);
}

void
producer_counters_take(uint64_t increases_r[PRODUCER_COUNTERS])
{
	for (unsigned i = 0; i < PRODUCER_COUNTERS; i++)
		increases_r[i] = atomic_exchange_explicit(
		    &untold[i], 0, memory_order_relaxed);
}

void
producer_counters_give_back(const uint64_t increases[PRODUCER_COUNTERS])
{
	for (unsigned i = 0; i < PRODUCER_COUNTERS; i++)
		atomic_fetch_add_explicit(
		    &untold[i], increases[i], memory_order_relaxed);
}

void
producer_counters_reset(void)
{
	for (unsigned i = 0; i < PRODUCER_COUNTERS; i++) {
		atomic_store(&totals[i], 0);
		atomic_store(&untold[i], 0);
	}
}

const char *
producer_counter_name(enum producer_counter counter)
{
	static const char *const names[PRODUCER_COUNTERS] = {
	    [PRODUCER_EVENTS_APPENDED] = "events_appended",
	    [PRODUCER_EVENTS_DROPPED_LIMIT] = "events_dropped_limit",
	    [PRODUCER_EVENTS_DROPPED_ERROR] = "events_dropped_error",
	    [PRODUCER_EVENTS_DROPPED_MEMORY] = "events_dropped_memory",
	    [PRODUCER_BYTES_APPENDED] = "bytes_appended",
	    [PRODUCER_SESSIONS] = "sessions",
	    [PRODUCER_ABORTS_CONNECT] = "aborts_connect",
	    [PRODUCER_ABORTS_HELO] = "aborts_helo",
	    [PRODUCER_ABORTS_MAIL] = "aborts_mail",
	    [PRODUCER_ABORTS_RCPT] = "aborts_rcpt",
	    [PRODUCER_ABORTS_DATA] = "aborts_data",
	    [PRODUCER_ABORTS_CONTENT] = "aborts_content",
	    [PRODUCER_UNSTAMPED_STOPPED] = "unstamped_stopped",
	    [PRODUCER_UNSTAMPED_DROPPED] = "unstamped_dropped",
	    [PRODUCER_UNSTAMPED_REFUSED] = "unstamped_refused",
	};

	return (unsigned)counter < PRODUCER_COUNTERS ? names[counter]
						     : "unknown";
}

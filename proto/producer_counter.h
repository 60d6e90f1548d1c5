/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * producer_counter: what a producer counts rather than records.
 *
 * One set for the process. Heartbeats carry the increase since the last one
 * that reached the journal, so that drops are known even though what was
 * dropped is not. Numbers on disk: append, never renumber.
 */
#ifndef PROTO_PRODUCER_COUNTER_H
#define PROTO_PRODUCER_COUNTER_H

#include <stdint.h>

enum producer_counter {
	/* Events and their bytes; heartbeats are not among them. */
	PRODUCER_EVENTS_APPENDED,
	PRODUCER_EVENTS_DROPPED_LIMIT, /* the journal's size limit */
	PRODUCER_EVENTS_DROPPED_ERROR, /* disk full, I/O error */
	PRODUCER_EVENTS_DROPPED_MEMORY,
	PRODUCER_BYTES_APPENDED,
	PRODUCER_SESSIONS,
	/* Transactions without an accepted recipient that were counted here
	 * instead of recorded, by the phase they reached. */
	PRODUCER_ABORTS_CONNECT,
	PRODUCER_ABORTS_HELO,
	PRODUCER_ABORTS_MAIL,
	PRODUCER_ABORTS_RCPT,
	PRODUCER_ABORTS_DATA,
	PRODUCER_ABORTS_CONTENT,
	/* Mail passed on without a stamp, by reason. */
	PRODUCER_UNSTAMPED_STOPPED, /* sessions open when the milter stopped */
	PRODUCER_UNSTAMPED_DROPPED, /* its event could not be recorded */
	PRODUCER_UNSTAMPED_REFUSED, /* smfi_insheader failed */
	PRODUCER_COUNTERS
};

/* Any thread. */
void producer_count(enum producer_counter counter, uint64_t increase);
uint64_t producer_counted(enum producer_counter counter);

/* What was counted since the last take, for one heartbeat; to be given back
 * when that heartbeat did not reach the journal. The journal writer's only. */
void producer_counters_take(uint64_t increases_r[PRODUCER_COUNTERS]);
void producer_counters_give_back(const uint64_t increases[PRODUCER_COUNTERS]);

/* Back to zero, for tests. */
void producer_counters_reset(void);

/* "events_dropped_limit", ...; "unknown" for what is not in the enum. */
const char *producer_counter_name(enum producer_counter counter);

#endif

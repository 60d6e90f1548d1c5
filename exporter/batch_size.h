/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * batch_size: how many events a batch may have, so that its commit is short
 * whatever the machine and the mail.
 *
 * For the ingest thread.
 */
#ifndef EXPORTER_BATCH_SIZE_H
#define EXPORTER_BATCH_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reason;
struct source_position;
struct store;

struct batch_size {
	int64_t events;
	int64_t most;
	int64_t queued_ns; /* the longest wait for the processor of late */
};

struct batch_size batch_size_begin(int64_t most);

/* What the commit of so many took of the processor's time, and for how long it
 * waited for that and for the disk. */
struct batch_cost {
	int64_t events;
	int64_t spent_ns;
	int64_t queued_ns;
	int64_t blocked_ns;
};

/* What follows from one. */
void batch_size_learn(struct batch_size *size, const struct batch_cost *cost);

/* Whether a batch of so many events is to be committed. */
bool batch_size_is_reached(
    const struct batch_size *size, int64_t events, const struct store *store);

/* store_commit() of so many events, from which the size of the next batch
 * follows. */
int batch_size_commit(struct batch_size *size, int64_t events,
    struct store *store, const struct source_position *positions, size_t count,
    struct reason *reason);

#endif

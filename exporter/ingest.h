/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ingest: the one thread that reads the journals and writes the store.
 *
 * Reads, joins, commits in batches, publishes, removes what was read. Sleeps
 * when there is nothing to read. While the store cannot be written it tries
 * again from time to time; nothing is lost by that, the journals wait.
 */
#ifndef EXPORTER_INGEST_H
#define EXPORTER_INGEST_H

#include "exporter/join/loss.h"
#include "exporter/logs.h"

#include <stdbool.h>
#include <stdint.h>

struct ingest;
struct privacy;
struct published;
struct queue_lookup;
struct reason;
struct store;

struct ingest_settings {
	const char *journal; /* directory of all journals */
	struct logs_settings logs;
	int64_t commit_interval_ns;
	int64_t commit_events;
	int64_t stamp_wait_ns;
	struct loss_settings loss;
	const struct privacy *privacy; /* what may be kept of addresses */
	struct queue_lookup *lookup; /* NULL: nobody may look into the queue */
	void (*close_gone)(bool waits); /* see upkeep.h */
};

/* Copies the settings; borrows what they point to, the store and the published
 * picture, which belong to the thread until ingest_stop(). NULL with a reason.
 */
struct ingest *ingest_start(const struct ingest_settings *settings,
    struct store *store, struct published *published, struct reason *reason);

/* Commits what was read, ends the thread and frees. NULL-safe. */
void ingest_stop(struct ingest **ingest);

#endif

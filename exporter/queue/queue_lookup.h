/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue_lookup: ask where a queue id is in the queue of its instance.
 *
 * By the queue helper where we may start one, else, and when it has died, by
 * postqueue(1). Questions are taken and answers come back later; nothing here
 * waits. Opened by the main thread, used by one.
 */
#ifndef EXPORTER_QUEUE_QUEUE_LOOKUP_H
#define EXPORTER_QUEUE_QUEUE_LOOKUP_H

#include "exporter/queue/queue_helper.h"

#include <stdint.h>

struct queue_lookup;
struct reason;

struct queue_lookup_settings {
	const char *directories; /* by instance; see instance_map.h */
	const char *config_directories;
	const char *hash_names;
	int64_t hash_depth;
	const char *user;
	const char *postqueue;
	int64_t postqueue_pause_ns;
};

/* Whether the lists of instances and directories are such. Returns 0, or -1. */
int queue_lookup_check(
    const struct queue_lookup_settings *settings, struct reason *reason);

/* To be called with the rights that the program was started with. Copies the
 * settings. *lookup_r is NULL when they name no instance. Returns 0, or -1. */
int queue_lookup_open(const struct queue_lookup_settings *settings,
    struct queue_lookup **lookup_r, struct reason *reason);
void queue_lookup_close(struct queue_lookup **lookup);

/* Whether somebody can be asked about this instance. */
bool queue_lookup_knows(
    const struct queue_lookup *lookup, const char *instance);

/* Returns 1 when an answer will come, 0 when there are too many questions now.
 * The instance must be known. */
int queue_lookup_ask(struct queue_lookup *lookup,
    const struct queue_ticket *ticket, const char *instance,
    const char *queue_id);

/* Returns 1 with an answer or 0. The questions that are open when the helper
 * dies are not answered. */
int queue_lookup_answer(struct queue_lookup *lookup, int64_t now_ns,
    struct queue_ticket *ticket_r, struct queue_finding *finding_r);

/* How many absences on end mean that it is not there. */
unsigned queue_lookup_absences(
    const struct queue_lookup *lookup, const char *instance);

/* Readable when queue_lookup_answer() may have one; -1 where there is none. */
#define QUEUE_LOOKUP_FDS 2
void queue_lookup_fds(
    const struct queue_lookup *lookup, int fds_r[QUEUE_LOOKUP_FDS]);

/* When queue_lookup_answer() is to be called whatever is readable; 0: never.
 * `now_ns` and this are CLOCK_MONOTONIC. */
int64_t queue_lookup_deadline(const struct queue_lookup *lookup);

#endif

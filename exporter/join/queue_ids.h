/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue_ids: which message in memory bears a queue id of an instance.
 *
 * Queue ids are used again: each claim on one has a time from which it counts,
 * until the next. Not thread-safe.
 */
#ifndef EXPORTER_JOIN_QUEUE_IDS_H
#define EXPORTER_JOIN_QUEUE_IDS_H

#include "store/store.h"

struct queue_ids;
struct tracked;

struct queue_ids *queue_ids_new(void);
void queue_ids_free(struct queue_ids **ids);

/* Adds claim `number` of a message: see tracked_claim(). Borrowed until it is
 * removed. */
void queue_ids_add(
    struct queue_ids *ids, struct tracked *tracked, uint32_t number);

void queue_ids_remove(
    struct queue_ids *ids, const struct tracked *tracked, uint32_t number);

/* Whether `tracked`, which claims the id since then, is one that is meant. */
typedef bool queue_id_fits(
    const void *context, const struct tracked *tracked, int64_t since_wall_ns);

/* Whose claim was the last not later than key->before_wall_ns, of those that
 * fit; all do when `fits` is NULL. NULL: nobody's here. */
struct tracked *queue_ids_find(const struct queue_ids *ids,
    const struct queue_id_key *key, queue_id_fits *fits, const void *context);

#endif

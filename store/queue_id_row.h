/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue_id_row: queue ids that a message got after its first: requeued, or
 * injected again.
 *
 * Failures stick to the connection. Called on the thread that has it.
 */
#ifndef STORE_QUEUE_ID_ROW_H
#define STORE_QUEUE_ID_ROW_H

#include "store/store_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct day_tables;

/* Adds one; what the message has already stays as it is. */
void queue_id_row_add(struct day_tables *tables, int64_t message_row,
    const struct queue_id_claim *claim);

/* Whether any message has one. */
bool queue_id_rows_are_there(struct day_tables *tables);

/* Those of a message, in `arena`, in the order they were claimed. Returns 0, or
 * -1 when the connection failed or the arena is full. */
int queue_id_rows_read(struct day_tables *tables, int64_t message_row,
    struct arena *arena, struct queue_id_claim **claims_r, size_t *count_r);

/* A claim and whose it is. */
struct queue_id_row {
	int64_t message_row;
	struct queue_id_claim claim;
};

/* Those that may be for a queue id, by its hash; compare. The same returns. */
int queue_id_rows_find(struct day_tables *tables, const char *queue_id,
    struct arena *arena, struct queue_id_row **rows_r, size_t *count_r);

#endif

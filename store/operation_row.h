/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * operation_row: what operators said of messages, as rows of a day file.
 *
 * Failures stick to the connection. Called on the thread that has it.
 */
#ifndef STORE_OPERATION_ROW_H
#define STORE_OPERATION_ROW_H

#include "store/record.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct day_tables;

/* Adds one; of one moment a message has one. */
void operation_row_add(struct day_tables *tables, int64_t message_row,
    const struct operation_event *operation);

/* Those of a message, in `arena`, in the order of time. Returns 0, or -1 when
 * the connection failed or the arena is full. */
int operation_rows_read(struct day_tables *tables, int64_t message_row,
    struct arena *arena, struct operation_record **operations_r,
    size_t *count_r);

#endif

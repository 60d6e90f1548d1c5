/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record_read: the rows of one message put together to a record.
 *
 * On the thread that has the connection.
 */
#ifndef STORE_RECORD_READ_H
#define STORE_RECORD_READ_H

#include "store/record.h"

#include <stdint.h>

struct arena;
struct day_tables;
struct delivery_recipient;

/* The message at `row` with recipients and legs, in `arena`. Returns 1, 0 when
 * there is no such row, or -1 when the connection failed or the arena is full.
 */
int record_read(struct day_tables *tables, int64_t row, struct arena *arena,
    struct message_record *record_r);

/* The leg at `row`, which has no message, as a record of its own. */
int record_read_leg(struct day_tables *tables, int64_t row, struct arena *arena,
    struct message_record *record_r);

/* What the replies to a recipient alone say of it. */
enum recipient_state record_state_by_reply(
    const struct delivery_recipient *recipient);

#endif

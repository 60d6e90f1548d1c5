/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leg_row: LMTP transactions as rows of a day file, and back.
 *
 * A leg's row holds the first of its parts that came; further ones lie in
 * leg_part. What a leg has in common with its message (ids, sender, the time of
 * MAIL FROM) is marked, not repeated. Failures stick to the connection. Called
 * on the thread that has it.
 */
#ifndef STORE_LEG_ROW_H
#define STORE_LEG_ROW_H

#include "store/record.h"

#include <stdint.h>

struct arena;
struct buffer;
struct day_tables;
struct message_brief;
struct row_hint;
struct segment_header;

struct leg_row {
	const struct delivery_event *event;
	const struct segment_header *segment;
	enum leg_state state;
	int64_t message_row;                 /* 0: none */
	const struct message_brief *message; /* NULL: none */
};

/* Adds the first part that came. Returns its row, and its blob, which is the
 * caller's. */
int64_t leg_row_add(struct day_tables *tables, const struct leg_row *leg,
    struct row_hint *hint, struct buffer *packed_r);

/* Adds another part to the leg at `row`; one that is there already is left as
 * it is. Nothing is marked as common with the message: it is rare. */
void leg_row_add_part(
    struct day_tables *tables, const struct leg_row *leg, int64_t row);

/* Says what a leg without a message is; one that has its message keeps it. */
void leg_row_settle(struct day_tables *tables, int64_t row,
    enum leg_state state, int64_t message_row);

/* Makes the leg at `row`, which belongs to `message`, a foreign one that
 * belongs to none. `arena` is used meanwhile. Returns 0 or -1. */
int leg_row_detach(struct day_tables *tables, int64_t row,
    const struct message_brief *message, struct arena *arena);

/* Whether the leg at `row` has this part. Returns 1, 0 or -1. */
int leg_row_has_part(struct day_tables *tables, int64_t row, uint32_t part);

/* What was said of the leg at `row`: its state, and its message's row, 0 for
 * none. Returns 1, 0 or -1. */
int leg_row_verdict(struct day_tables *tables, int64_t row,
    enum leg_state *state_r, int64_t *message_row_r);

/* The leg at `row`, all its parts together, in `arena`: the members of the last
 * part that came, recipients of all by their position. `message` must be the
 * message it belongs to, or NULL when it has none. Returns 1, 0 when there is
 * no such row, or -1 when the connection failed or the arena is full. */
int leg_row_read(struct day_tables *tables, int64_t row,
    const struct message_brief *message, struct arena *arena,
    struct leg_record *leg_r);

#endif

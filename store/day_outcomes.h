/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * day_outcomes: how many recipients of a file are in which state, by the minute
 * and the hour in which their messages began.
 *
 * A recipient counts where its message is in the order of time, whenever its
 * state changes: so the counts are those of the rows, in whatever order it was
 * told what became of them, and what became of the mail of an hour lies in the
 * one file of that hour's day. Belongs to the ingest thread; failures stick to
 * the connection.
 */
#ifndef STORE_DAY_OUTCOMES_H
#define STORE_DAY_OUTCOMES_H

#include "store/record.h"

#include <stdint.h>

struct day_outcomes;
struct day_tables;

struct day_outcomes *day_outcomes_new(void);
void day_outcomes_free(struct day_outcomes **outcomes);

/* A recipient of the message in `message_row` is added in a state, is removed,
 * or leaves one for another. */
void day_outcomes_add(struct day_outcomes *outcomes, int64_t message_row,
    enum recipient_state state);
void day_outcomes_remove(struct day_outcomes *outcomes, int64_t message_row,
    enum recipient_state state);
void day_outcomes_move(struct day_outcomes *outcomes, int64_t message_row,
    enum recipient_state from, enum recipient_state to);

/* Writes the batch's share, within the transaction, and begins a new one. */
void day_outcomes_write(
    struct day_outcomes *outcomes, struct day_tables *tables);

/* After rollback: forgets the batch's share. */
void day_outcomes_discard(struct day_outcomes *outcomes);

#endif

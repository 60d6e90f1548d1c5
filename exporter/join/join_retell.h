/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join_retell: tell anew what is known of a message.
 *
 * Sources lag: a message is made of what came first, and may turn out to be
 * another's or several. Then it is taken away, and what was known of it is told
 * again to those that it belongs to, as if it came now. So the end is the same
 * in whatever order things came. Included by join*.c only.
 */
#ifndef EXPORTER_JOIN_JOIN_RETELL_H
#define EXPORTER_JOIN_JOIN_RETELL_H

#include "exporter/join/join_state.h"

struct log_record;

/* Takes a message away, from memory and from the store, while there is a tally.
 * Everything else of it is in taken_r, which lives until
 * the scratch arena is reset. Returns 0, or -1. */
int join_take(struct join *join, struct tracked *tracked,
    struct taken_message *taken_r, struct reason *reason);

/* Tells `message`, in the same file, what the log said of what was taken: its
 * further queue ids, its lines, what became of it.
 * Returns 0, or -1. */
int join_retell_lines(struct join *join, struct tracked *message,
    const struct taken_message *taken, struct reason *reason);

/* The line, as far as it matters, that attempt `number` was made of. Returns 0,
 * or -1 without memory. */
int join_retold_line(struct arena *arena, const struct message_record *message,
    size_t number, struct log_record *record_r);

/* Finds the legs of what was taken their messages. Returns 0, or -1. */
int join_retell_legs(struct join *join, const struct message_key *key,
    const struct taken_message *taken, struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join_split: a message that seemed to continue another under a further queue
 * id, and is one of its own.
 *
 * Included by join*.c only.
 */
#ifndef EXPORTER_JOIN_JOIN_SPLIT_H
#define EXPORTER_JOIN_JOIN_SPLIT_H

#include "exporter/join/join_state.h"

/* Finds who has claimed the queue id of the milter's event as a further one of
 * its own. Returns 1, 0, or -1. */
int join_find_claimant(struct join *join, const struct message_event *event,
    const char *instance, struct tracked **claimant_r, struct reason *reason);

/* What there is of a claimant without the queue id and what followed it, and
 * what belongs to these. All legs are in `rest`: they find their message. */
struct join_split {
	struct taken_message rest, own;
};

/* Takes the claimant away and parts it. Returns 0, or -1. */
int join_split(struct join *join, struct tracked *claimant,
    const char *queue_id, struct join_split *split_r, struct reason *reason);

/* Adds what was taken again, to be told anew. Returns 0, or -1. */
int join_put_back(struct join *join, const struct taken_message *taken,
    struct day_file *file, struct tracked **message_r, struct reason *reason);

#endif

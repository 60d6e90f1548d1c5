/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join_finding: which message a delivery belongs to.
 *
 * A stamp joins only when its id exists and its queue id is the delivery's, or
 * a further one of the message; what else a stamp may be is never believed.
 * Included by join*.c only.
 */
#ifndef EXPORTER_JOIN_JOIN_FINDING_H
#define EXPORTER_JOIN_JOIN_FINDING_H

#include "exporter/join/join_state.h"

struct delivery_event;
struct segment_header;

struct join_finding {
	const struct delivery_event *delivery;
	const struct segment_header *segment;
	enum leg_state state;
	struct tracked *message; /* STAMPED and QUEUE_ID */
	struct day_file *file;   /* of the leg, if it has one */
};

/* Sets the finding's state, and its message where there is one. Returns 0, or
 * -1. */
int join_find_message(
    struct join *join, struct join_finding *finding, struct reason *reason);

/* The same for a delivery whose stamp is not waited for any more. */
int join_find_now(
    struct join *join, struct join_finding *finding, struct reason *reason);

/* By the queue id only: with a log, which will tell of the mail too, a message
 * is made where none is known. Returns 1, 0, or -1. */
int join_find_by_queue_id(
    struct join *join, struct join_finding *finding, struct reason *reason);

#endif

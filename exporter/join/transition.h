/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transition: count that a recipient goes from one state to another.
 *
 * The one place that counts outcomes. Each entry into a final state is counted,
 * and each time that one is left: counters never go back, the difference of
 * both is what is final now. For the ingest thread.
 */
#ifndef EXPORTER_JOIN_TRANSITION_H
#define EXPORTER_JOIN_TRANSITION_H

#include "exporter/join/fate.h"

struct day_file;

/* Counts in the message's file. A recipient begins IN_FLIGHT, ABORTED or
 * REJECTED, which is not counted. Leaving ABORTED means that it was accepted
 * after all: it is added to the balance. */
void transition(struct day_file *file, struct fate from, struct fate to);

/* The same without counting losses. */
void transition_of_state(
    struct day_file *file, enum recipient_state from, enum recipient_state to);

#endif

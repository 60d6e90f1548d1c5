/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * revision: which states are outcomes, and by which other state one that
 * turned out to be wrong may be replaced.
 *
 * Both are closed sets, label values of metrics. The second follows from the
 * rules of fate.c: evidence of more weight may come later. No state; any
 * thread.
 */
#ifndef EXPORTER_METRICS_REVISION_H
#define EXPORTER_METRICS_REVISION_H

#include "store/record.h"

/* How many there are of each. */
#define OUTCOMES 12
#define REVISIONS 111
#define OPEN_STATES 3

/* Final states are numbered from 0. Returns OUTCOMES for any other. */
unsigned outcome_number(enum recipient_state state);
enum recipient_state outcome_state(unsigned number);

/* Likewise those that are not final: see fate_is_open(). */
unsigned open_state_number(enum recipient_state state);
enum recipient_state open_state(unsigned number);

/* Likewise pairs of states; REVISIONS for a pair that is none. */
unsigned revision_number(enum recipient_state from, enum recipient_state to);
enum recipient_state revision_from(unsigned number);
enum recipient_state revision_to(unsigned number);

#endif

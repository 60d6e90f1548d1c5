/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * balance: how many recipients are in each final state now.
 *
 * Counters count entries into a state and never go back; what has left a state
 * is counted as a revision. Their difference is what is there. Any thread.
 */
#ifndef EXPORTER_SERVE_BALANCE_H
#define EXPORTER_SERVE_BALANCE_H

struct picture;

/* Sets the gauges that follow from the picture's counters. */
void balance_fill(struct picture *picture);

#endif

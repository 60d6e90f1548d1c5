/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally: count what telling messages anew has changed, as a whole.
 *
 * On the way recipients are taken away and come back; only the difference is
 * counted, so that nobody seems to have left a state who is in it still. For
 * the ingest thread.
 */
#ifndef EXPORTER_JOIN_TALLY_H
#define EXPORTER_JOIN_TALLY_H

#include "exporter/join/fate.h"
#include "exporter/metrics/metric_labels.h"

#include <stdint.h>

struct day_file;

/* Begins as zero. By how many there are more. */
struct tally {
	int64_t states[RECIPIENT_STATES];
	int64_t added[ADDITIONS];
	int64_t ghosts; /* messages */
	int64_t losses; /* acknowledged or not */
};

/* A recipient is taken away, or begins. */
void tally_remove(struct tally *tally, struct fate fate);
void tally_begin(struct tally *tally, struct fate fate);

/* As transition(). */
void tally_transition(struct tally *tally, struct fate from, struct fate to);

/* Counts the difference in the messages' file. */
void tally_count(const struct tally *tally, struct day_file *file);

#endif

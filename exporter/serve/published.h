/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * published: what the ingest thread shows to the threads that serve HTTP.
 *
 * One consistent picture, swapped as a whole: the store's totals after a
 * commit, the values of that moment that belong to them, and whether the
 * exporter is up to date. It is prepared after the commit, and shown when the
 * disk has that: so nothing is in it that a crash or power cut could take back.
 */
#ifndef EXPORTER_SERVE_PUBLISHED_H
#define EXPORTER_SERVE_PUBLISHED_H

#include "store/record.h"
#include "store/totals.h"

#include <stdbool.h>
#include <stdint.h>

#define PICTURE_TROUBLE_SIZE 512 /* a struct reason fits */

struct published;

struct picture {
	uint64_t *counters;                 /* by metric_index() */
	struct histogram_total *histograms; /* likewise */
	int64_t *live;                      /* likewise */
	bool caught_up; /* everything was read once since start */
	char trouble[PICTURE_TROUBLE_SIZE]; /* why nothing can be stored now;
					       empty: it can */
};

/* Memory for a picture, all zero, with every metric's place. */
void picture_init(struct picture *picture);
void picture_free(struct picture *picture);

struct published *published_new(struct totals *totals);
void published_free(struct published **published);

/* Takes the totals as committed last together with the live values, caught_up
 * and trouble of `own` (its counters and histograms are not used), to be shown
 * next. */
void published_prepare(struct published *published, const struct picture *own);

/* Shows what was prepared last. */
void published_show(struct published *published);

/* Changes live values, caught_up and trouble of what is shown now to those of
 * `own`, which has them from published_recall() but for a few. */
void published_tell(struct published *published, const struct picture *own);
void published_recall(struct published *published, struct picture *own_r);

/* How many recipients are in a final state by all that was committed. */
int64_t published_committed(
    struct published *published, enum recipient_state state);

/* Copies the picture of now. Any thread. */
void published_copy(struct published *published, struct picture *picture_r);

/* The same without the numbers: returns whether the exporter is up to date and
 * able to store, else why not. Any thread. */
bool published_ready(
    struct published *published, char trouble_r[PICTURE_TROUBLE_SIZE]);

#endif

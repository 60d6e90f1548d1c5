/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * published: what the ingest thread shows to the threads that serve HTTP.
 *
 * One consistent picture, swapped as a whole after each commit: the store's
 * totals, the values of this moment that belong to them, and whether the
 * exporter is up to date. Nothing uncommitted is ever in it.
 */
#ifndef EXPORTER_SERVE_PUBLISHED_H
#define EXPORTER_SERVE_PUBLISHED_H

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
 * and trouble of `own` (its counters and histograms are not used). */
void published_swap(struct published *published, const struct picture *own);

/* Copies the picture of now. Any thread. */
void published_copy(struct published *published, struct picture *picture_r);

/* One live value of it, by metric_index(). Any thread. */
int64_t published_live(struct published *published, unsigned index);

/* The same without the numbers: returns whether the exporter is up to date and
 * able to store, else why not. Any thread. */
bool published_ready(
    struct published *published, char trouble_r[PICTURE_TROUBLE_SIZE]);

#endif

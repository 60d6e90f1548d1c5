/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * effect: count and observe, by the names of metrics.h, in a day file.
 *
 * What is counted becomes part of the totals when the batch is committed. For
 * the ingest thread.
 */
#ifndef EXPORTER_METRICS_EFFECT_H
#define EXPORTER_METRICS_EFFECT_H

#include "exporter/metrics/metrics.h"
#include "proto/phase.h"
#include "store/series.h"

#include <stdint.h>

struct day_file;
struct uuid;

void effect_count(
    struct day_file *file, enum metric metric, unsigned set, uint64_t increase);

/* Whose a duration is, of which message, and when it was complete. */
struct effect_of {
	struct series_labels labels;
	const struct uuid *message;
	int64_t wall_ns;
};

/* Observes a known duration; counts a skewed one; does nothing about an unknown
 * one. */
void effect_observe(struct day_file *file, unsigned histogram,
    const struct effect_of *of, struct duration duration);

#endif

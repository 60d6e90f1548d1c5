/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The join's words for counting, turned into the store's. Called while an event
 * is applied, on the ingest thread.
 */
#include "exporter/metrics/effect.h"

#include "store/observation.h"
#include "store/store.h"

void
effect_count(
    struct day_file *file, enum metric metric, unsigned set, uint64_t increase)
{
	if (increase > 0)
		day_file_count(file, metric_index(metric, set), increase);
}

void
effect_observe(struct day_file *file, unsigned histogram,
    const struct effect_of *of, struct duration duration)
{
	const struct observation observation = {
	    .histogram = histogram,
	    .labels = of->labels,
	    .message = of->message,
	    .wall_ns = of->wall_ns,
	    .value_ns = duration.ns,
	};

	if (duration.state == DURATION_KNOWN)
		day_file_observe_labelled(file, &observation);
	else if (duration.state == DURATION_SKEWED)
		effect_count(file, METRIC_CLOCK_SKEW, 0, 1);
}

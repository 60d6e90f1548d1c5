/* SPDX-License-Identifier: BSD-2-Clause */
/* Hands on what is counted. Called by the exporter on the ingest thread. */
#include "store/store.h"

#include "store/day_file.h"
#include "store/day_totals.h"
#include "store/observation.h"

void
day_file_count(struct day_file *file, unsigned counter, uint64_t increase)
{
	day_totals_count(file->totals, counter, increase);
}

void
day_file_observe_labelled(
    struct day_file *file, const struct observation *observation)
{
	day_totals_observe(file->totals, &file->tables, observation);
}

void
day_file_observe(struct day_file *file, unsigned histogram, int64_t wall_ns,
    int64_t value_ns)
{
	const struct observation observation = {
	    .histogram = histogram, .wall_ns = wall_ns, .value_ns = value_ns};

	day_file_observe_labelled(file, &observation);
}

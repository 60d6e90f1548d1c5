/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by ingest when it publishes. */
#include "exporter/gauges.h"

#include "base/clock.h"
#include "exporter/join/join.h"
#include "exporter/loss_note.h"
#include "exporter/metrics/metrics.h"
#include "exporter/read/sources.h"
#include "exporter/upkeep.h"

static void
set(int64_t *live, enum metric metric, int64_t value)
{
	live[metric_index(metric, 0)] = value;
}

static void
fill_losses(struct gauges *gauges, int64_t *live)
{
	enum loss_detection now =
	    loss_detection(gauges->loss, clock_stamp().wall_ns);

	for (unsigned i = 0; i < LOSS_DETECTIONS; i++)
		live[metric_index(METRIC_LOSS_DETECTION, i)] = i == now;
	loss_note(gauges->store, now, &gauges->noted_detection);
	for (unsigned i = 0; i < QUEUE_PLACES; i++)
		live[metric_index(METRIC_QUEUE_LOOKUPS, i)] =
		    (int64_t)loss_answers(gauges->loss)[i];
}

static void
fill_join(const struct gauges *gauges, int64_t *live)
{
	struct join_figures join;

	join_figures(gauges->join, &join);
	for (unsigned i = 0; i < OPEN_STATES; i++)
		live[metric_index(METRIC_RECIPIENTS, i)] =
		    (int64_t)join.recipients[i];
	set(live, METRIC_MESSAGES_IN_FLIGHT, (int64_t)join.messages);
	set(live, METRIC_OLDEST_IN_FLIGHT, join.oldest_wall_ns);
	set(live, METRIC_DELIVERIES_WAITING, (int64_t)join.waiting);
	set(live, METRIC_FILINGS_WAITING, (int64_t)join.sessions_waiting);
}

void
gauges_fill_in_trouble(struct gauges *gauges, bool at_end, int64_t *live)
{
	sources_gauges(gauges->sources, live);
	pace_look(&gauges->pace, clock_stamp().monotonic_ns, at_end, live,
	    gauges->store);
	upkeep_gauges(gauges->upkeep, live);
}

void
gauges_fill(struct gauges *gauges, bool at_end, int64_t *live)
{
	gauges_fill_in_trouble(gauges, at_end, live);
	fill_losses(gauges, live);
	fill_join(gauges, live);
	set(live, METRIC_BUILD_INFO, 1);
}

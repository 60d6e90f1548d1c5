/* SPDX-License-Identifier: BSD-2-Clause */
/* Called when a picture is published, and so once a commit. */
#include "exporter/serve/balance.h"

#include "exporter/metrics/metrics.h"
#include "exporter/metrics/revision.h"
#include "exporter/serve/published.h"

static int64_t *
gauge(struct picture *picture, enum recipient_state state)
{
	unsigned number = outcome_number(state);

	if (number == OUTCOMES)
		return NULL;
	return &picture->live[metric_index(
	    METRIC_RECIPIENTS, OPEN_STATES + number)];
}

void
balance_fill(struct picture *picture)
{
	for (unsigned i = 0; i < OUTCOMES; i++)
		*gauge(picture, outcome_state(i)) =
		    (int64_t)picture
			->counters[metric_index(METRIC_RECIPIENT_OUTCOMES, i)];
	for (unsigned i = 0; i < REVISIONS; i++) {
		int64_t *from = gauge(picture, revision_from(i));

		if (from != NULL)
			*from -= (int64_t)picture->counters[metric_index(
			    METRIC_OUTCOME_REVISIONS, i)];
	}
}

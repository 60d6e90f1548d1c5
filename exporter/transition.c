/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts transitions. Called by evidence.c, on the ingest thread. */
#include "exporter/transition.h"

#include "exporter/effect.h"
#include "exporter/revision.h"

static void
count_revision(
    struct day_file *file, enum recipient_state from, enum recipient_state to)
{
	unsigned number = revision_number(from, to);

	if (number < REVISIONS)
		effect_count(file, METRIC_OUTCOME_REVISIONS, number, 1);
}

void
transition(
    struct day_file *file, enum recipient_state from, enum recipient_state to)
{
	if (from == to)
		return;
	if (from == RECIPIENT_ABORTED) {
		effect_count(file, METRIC_RECIPIENTS_ADDED, ADDED_ABORTED, 1);
		count_revision(file, from, RECIPIENT_IN_FLIGHT);
	} else
		count_revision(file, from, to);
	if (outcome_number(to) < OUTCOMES)
		effect_count(
		    file, METRIC_RECIPIENT_OUTCOMES, outcome_number(to), 1);
}

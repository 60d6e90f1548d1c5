/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts transitions. Called by evidence.c, on the ingest thread. */
#include "exporter/join/transition.h"

#include <stdbool.h>

#include "exporter/metrics/effect.h"
#include "exporter/metrics/revision.h"

static void
count_revision(
    struct day_file *file, enum recipient_state from, enum recipient_state to)
{
	unsigned number = revision_number(from, to);

	if (number < REVISIONS)
		effect_count(file, METRIC_OUTCOME_REVISIONS, number, 1);
}

/* What is said to be unknown or deleted has not come back. */
static bool
is_recovered(enum recipient_state to)
{
	return to != RECIPIENT_UNKNOWN && to != RECIPIENT_DELETED &&
	       to != RECIPIENT_GHOST;
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
	if (from == RECIPIENT_LOST && is_recovered(to))
		effect_count(file, METRIC_RECIPIENTS_RECOVERED, 0, 1);
	if (to == RECIPIENT_LOST)
		effect_count(file, METRIC_RECIPIENTS_LOST, 0, 1);
	if (outcome_number(to) < OUTCOMES)
		effect_count(
		    file, METRIC_RECIPIENT_OUTCOMES, outcome_number(to), 1);
}

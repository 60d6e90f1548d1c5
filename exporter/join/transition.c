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

/* A loss that an operator acknowledges is still one. */
static void
count_loss(struct day_file *file, struct fate from, struct fate to)
{
	if (!fate_is_loss(from) && fate_is_loss(to))
		effect_count(file, METRIC_RECIPIENTS_LOST, 0, 1);
	if (fate_is_loss(from) && !fate_is_loss(to) && is_recovered(to.state))
		effect_count(file, METRIC_RECIPIENTS_RECOVERED, 0, 1);
}

void
transition_of_state(
    struct day_file *file, enum recipient_state from, enum recipient_state to)
{
	if (from == RECIPIENT_ABORTED) {
		effect_count(file, METRIC_RECIPIENTS_ADDED, ADDED_ABORTED, 1);
		count_revision(file, from, RECIPIENT_IN_FLIGHT);
	} else
		count_revision(file, from, to);
	if (outcome_number(to) < OUTCOMES)
		effect_count(
		    file, METRIC_RECIPIENT_OUTCOMES, outcome_number(to), 1);
}

void
transition(struct day_file *file, struct fate from, struct fate to)
{
	if (from.state != to.state)
		transition_of_state(file, from.state, to.state);
	count_loss(file, from, to);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums and their difference. Called by join*.c and evidence.c, on the ingest
 * thread. */
#include "exporter/join/tally.h"

#include "exporter/join/transition.h"
#include "exporter/metrics/effect.h"
#include "exporter/metrics/revision.h"

void
tally_remove(struct tally *tally, struct fate fate)
{
	tally->states[fate.state]--;
	tally->losses -= fate_is_loss(fate);
}

void
tally_begin(struct tally *tally, struct fate fate)
{
	tally->states[fate.state]++;
	tally->losses += fate_is_loss(fate);
}

void
tally_transition(struct tally *tally, struct fate from, struct fate to)
{
	if (from.state == RECIPIENT_ABORTED && to.state != RECIPIENT_ABORTED)
		tally->added[ADDED_ABORTED]++;
	tally_remove(tally, from);
	tally_begin(tally, to);
}

/* The state that one which has fewer now may have been left for. */
static enum recipient_state
successor(const struct tally *left, enum recipient_state from)
{
	for (unsigned i = 0; i < OUTCOMES; i++)
		if (left->states[outcome_state(i)] > 0 &&
		    revision_number(from, outcome_state(i)) < REVISIONS)
			return outcome_state(i);
	return RECIPIENT_IN_FLIGHT;
}

static void
count_states(struct tally *left, struct day_file *file)
{
	for (unsigned i = 0; i < OUTCOMES; i++) {
		enum recipient_state from = outcome_state(i);

		while (left->states[from] < 0) {
			enum recipient_state to = successor(left, from);

			transition_of_state(file, from, to);
			left->states[from]++;
			left->states[to]--;
		}
	}
	for (unsigned i = 0; i < OUTCOMES; i++)
		for (; left->states[outcome_state(i)] > 0;
		     left->states[outcome_state(i)]--)
			transition_of_state(
			    file, RECIPIENT_IN_FLIGHT, outcome_state(i));
}

static void
count_difference(struct day_file *file, enum metric more, enum metric less,
    unsigned set, int64_t difference)
{
	if (difference > 0)
		effect_count(file, more, set, (uint64_t)difference);
	else
		effect_count(file, less, set, (uint64_t)-difference);
}

void
tally_count(const struct tally *tally, struct day_file *file)
{
	struct tally left = *tally;

	for (unsigned i = 0; i < ADDITIONS; i++)
		count_difference(file, METRIC_RECIPIENTS_ADDED,
		    METRIC_RECIPIENTS_RECOGNIZED, i, tally->added[i]);
	count_states(&left, file);
	count_difference(file, METRIC_RECIPIENTS_LOST,
	    METRIC_RECIPIENTS_RECOVERED, 0, tally->losses);
	if (tally->ghosts > 0)
		effect_count(
		    file, METRIC_MESSAGES_GHOST, 0, (uint64_t)tally->ghosts);
}

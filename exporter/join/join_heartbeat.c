/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heartbeats: what producers count rather than record becomes ours, in the file
 * of the heartbeat's day. Called by the join on the ingest thread.
 */
#include "exporter/join/join_state.h"
#include "exporter/metrics/effect.h"
#include "proto/producer_counter.h"
#include "store/store.h"

/* A counter's metric and label set. Where a family has the label "source" the
 * set is moved on by the source's number times `sets_per_source`. */
struct counted {
	enum metric metric;
	unsigned set;
	unsigned sets_per_source;
};

static const struct counted counted[PRODUCER_COUNTERS] = {
    [PRODUCER_EVENTS_APPENDED] = {METRIC_JOURNAL_EVENTS_APPENDED, 0, 1},
    [PRODUCER_EVENTS_DROPPED_LIMIT] = {METRIC_JOURNAL_EVENTS_DROPPED,
	DROPPED_LIMIT, DROPPED_REASONS},
    [PRODUCER_EVENTS_DROPPED_ERROR] = {METRIC_JOURNAL_EVENTS_DROPPED,
	DROPPED_ERROR, DROPPED_REASONS},
    [PRODUCER_EVENTS_DROPPED_MEMORY] = {METRIC_JOURNAL_EVENTS_DROPPED,
	DROPPED_MEMORY, DROPPED_REASONS},
    [PRODUCER_BYTES_APPENDED] = {METRIC_JOURNAL_BYTES_APPENDED, 0, 1},
    [PRODUCER_SESSIONS] = {METRIC_SESSIONS, 0, 1},
    [PRODUCER_ABORTS_CONNECT] = {METRIC_SMTP_ABORTS,
	MESSAGE_PHASE_CONNECT - MESSAGE_PHASE_CONNECT, 0},
    [PRODUCER_ABORTS_HELO] = {METRIC_SMTP_ABORTS,
	MESSAGE_PHASE_HELO - MESSAGE_PHASE_CONNECT, 0},
    [PRODUCER_ABORTS_MAIL] = {METRIC_SMTP_ABORTS,
	MESSAGE_PHASE_MAIL - MESSAGE_PHASE_CONNECT, 0},
    [PRODUCER_ABORTS_RCPT] = {METRIC_SMTP_ABORTS,
	MESSAGE_PHASE_RCPT - MESSAGE_PHASE_CONNECT, 0},
    [PRODUCER_ABORTS_DATA] = {METRIC_SMTP_ABORTS,
	MESSAGE_PHASE_DATA - MESSAGE_PHASE_CONNECT, 0},
    [PRODUCER_ABORTS_CONTENT] = {METRIC_SMTP_ABORTS,
	MESSAGE_PHASE_CONTENT - MESSAGE_PHASE_CONNECT, 0},
    [PRODUCER_UNSTAMPED_STOPPED] = {METRIC_MILTER_UNSTAMPED,
	MILTER_UNSTAMPED_STOPPED, 0},
    [PRODUCER_UNSTAMPED_DROPPED] = {METRIC_MILTER_UNSTAMPED,
	MILTER_UNSTAMPED_DROPPED, 0},
    [PRODUCER_UNSTAMPED_REFUSED] = {METRIC_MILTER_UNSTAMPED,
	MILTER_UNSTAMPED_REFUSED, 0},
};

static bool
is_empty(const struct heartbeat_event *heartbeat)
{
	for (unsigned i = 0; i < PRODUCER_COUNTERS; i++)
		if (heartbeat->increases[i] > 0)
			return false;
	return true;
}

int
join_heartbeat(
    struct join *join, const struct join_input *input, struct reason *reason)
{
	const struct heartbeat_event *heartbeat =
	    &input->record->event.heartbeat;
	unsigned source = metric_source(input->source);
	struct day_file *file;

	if (is_empty(heartbeat))
		return 0;
	file = store_file(join->store, heartbeat->at.wall_ns, reason);
	if (file == NULL)
		return -1;
	if (day_file_has(file, input->source, input->record->position))
		return 0;
	for (unsigned i = 0; i < PRODUCER_COUNTERS; i++)
		effect_count(file, counted[i].metric,
		    counted[i].set + source * counted[i].sets_per_source,
		    heartbeat->increases[i]);
	return 0;
}

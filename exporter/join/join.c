/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The join's memory, its rebuilding, and what is common to all events. Called
 * by ingest on its thread.
 */
#include "exporter/join/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"
#include "exporter/join/evidence.h"
#include "exporter/join/join_state.h"
#include "exporter/join/lmtp_sessions.h"
#include "exporter/join/log_boundary.h"
#include "exporter/join/log_context.h"
#include "exporter/join/open_messages.h"
#include "exporter/metrics/effect.h"

#define SCRATCH_BYTES (64u << 20)
/* Messages of which all is known, kept because somebody may say it again. */
#define KEPT_MAX 10000

struct join *
join_new(struct store *store, int64_t stamp_wait_ns)
{
	struct join *join = memory_zeroed(1, sizeof(*join));

	join->store = store;
	join->messages = open_messages_new(KEPT_MAX);
	join->waiting = waiting_new();
	join->stamp_wait_ns = stamp_wait_ns;
	join->counted_by_log_wall_ns = LOG_BOUNDARY_NEVER;
	join->contexts = log_contexts_new();
	join->sessions = lmtp_sessions_new();
	join->scratch = arena_new(SCRATCH_BYTES);
	return join;
}

void
join_free(struct join **join)
{
	if (*join == NULL)
		return;
	open_messages_free(&(*join)->messages);
	waiting_free(&(*join)->waiting);
	log_contexts_free(&(*join)->contexts);
	lmtp_sessions_free(&(*join)->sessions);
	arena_free(&(*join)->scratch);
	free(*join);
	*join = NULL;
}

void
join_read_logs(
    struct join *join, struct log_instances *instances, int64_t counted_wall_ns)
{
	join->instances = instances;
	join->counted_by_log_wall_ns = counted_wall_ns;
	join_read_dovecot(join);
}

void
join_read_dovecot(struct join *join)
{
	join->reads_sessions = true;
}

struct lmtp_sessions *
join_sessions(struct join *join)
{
	return join->reads_sessions ? join->sessions : NULL;
}

void
join_trust_logs(struct join *join, struct log_trust *trust)
{
	join->trust = trust;
}

struct open_messages *
join_messages(struct join *join)
{
	return join->messages;
}

static int
remember_open(void *context, const struct open_message *message)
{
	struct join *join = context;
	struct open_message complete = *message;

	evidence_complete(&complete);
	open_messages_add(join->messages, &complete);
	return 0;
}

struct rebuilding {
	struct join *join;
	int64_t deadline_ns;
};

static int
remember_waiting(void *context, const struct waiting_leg *leg)
{
	struct rebuilding *rebuilding = context;
	const struct waiting_origin origin = {leg->instance, leg->boot_id};
	/* All parts come as one event. */
	struct delivery_event event = leg->event;

	event.part = 0;
	waiting_add(rebuilding->join->waiting, &leg->key, &event, &origin,
	    rebuilding->deadline_ns);
	return 0;
}

int
join_rebuild(struct join *join, int64_t now_ns, struct reason *reason)
{
	struct rebuilding rebuilding = {join, now_ns + join->stamp_wait_ns};

	open_messages_clear(join->messages);
	waiting_clear(join->waiting);
	log_contexts_clear(join->contexts);
	lmtp_sessions_clear(join->sessions);
	if (store_newest(join->store, &join->stored_until_wall_ns, reason) != 0)
		return -1;
	if (store_each_open(join->store, remember_open, join, reason) != 0)
		return -1;
	return store_each_waiting(
	    join->store, remember_waiting, &rebuilding, reason);
}

bool
join_is_ready(struct join *join, const struct journal_record *record)
{
	const struct delivery_event *delivery = &record->event.delivery;
	const struct tracked *message;

	if (record->event.type != EVENT_DELIVERY)
		return true;
	message = open_messages_find(join->messages, &delivery->stamp_id);
	return message != NULL &&
	       join_belongs(message, delivery, record->segment->instance);
}

static int
apply(struct join *join, const struct join_input *input, struct reason *reason)
{
	const struct event *event = &input->record->event;

	switch (event->type) {
	case EVENT_MESSAGE:
		if (uuid_is_set(&event->message.id))
			return join_message(join, input, reason);
		break;
	case EVENT_DELIVERY:
		if (uuid_is_set(&event->delivery.id))
			return join_delivery(join, input, reason);
		break;
	case EVENT_HEARTBEAT:
		return join_heartbeat(join, input, reason);
	case EVENT_OPERATION:
		return join_operation(join, input, reason);
	case EVENT_NONE:
		break;
	}
	log_warn(
	    "source=%s reason=\"an event without type or id\"", input->source);
	return 0;
}

int
join_apply(struct join *join, const char *source,
    const struct journal_record *record, int64_t now_ns, struct reason *reason)
{
	const struct join_input input = {source, record, now_ns};
	int result = apply(join, &input, reason);

	arena_reset(join->scratch);
	return result;
}

/* A segment's number is the microsecond in which it was begun. */
static int64_t
segment_wall_ns(uint64_t segment)
{
	return segment < INT64_MAX / 1000 ? (int64_t)segment * 1000 : INT64_MAX;
}

int
join_damage(struct join *join, const char *source,
    struct journal_position position, const struct journal_damage *damage,
    struct reason *reason)
{
	unsigned set = metric_source(source);
	struct day_file *file =
	    store_file(join->store, segment_wall_ns(position.segment), reason);

	if (file == NULL)
		return -1;
	if (day_file_has(file, source, position))
		return 0;
	effect_count(
	    file, METRIC_JOURNAL_DAMAGED_RECORDS, set, damage->records);
	effect_count(file, METRIC_JOURNAL_DAMAGED_BYTES, set, damage->bytes);
	effect_count(file, METRIC_JOURNAL_TORN_RECORDS, set, damage->torn);
	effect_count(
	    file, METRIC_JOURNAL_UNREADABLE_SEGMENTS, set, damage->segments);
	return 0;
}

int
join_expire(struct join *join, int64_t now_ns, struct reason *reason)
{
	const struct waiting_entry *entry;
	int result = 0;

	while (result == 0 && (entry = waiting_oldest(join->waiting)) != NULL &&
	       entry->deadline_ns <= now_ns) {
		result = join_settle(join, entry, NULL, reason);
		arena_reset(join->scratch);
	}
	if (result == 0)
		result = join_log_expire(join, now_ns, reason);
	if (result == 0)
		result = join_dovecot_expire(join, now_ns, reason);
	arena_reset(join->scratch);
	return result;
}

/* Of two deadlines; 0: none. */
static int64_t
sooner(int64_t left_ns, int64_t right_ns)
{
	if (left_ns == 0 || (right_ns != 0 && right_ns < left_ns))
		return right_ns;
	return left_ns;
}

int64_t
join_deadline(const struct join *join)
{
	const struct waiting_entry *entry = waiting_oldest(join->waiting);
	int64_t deadline_ns = entry != NULL ? entry->deadline_ns : 0;

	deadline_ns = sooner(deadline_ns, join_log_deadline(join));
	return sooner(deadline_ns, join_dovecot_deadline(join));
}

void
join_figures(struct join *join, struct join_figures *figures_r)
{
	const struct open_messages_figures open =
	    open_messages_figures(join->messages);

	*figures_r = (struct join_figures){
	    .messages = open.messages,
	    .waiting = waiting_count(join->waiting),
	    .sessions_waiting = lmtp_sessions_waiting(join->sessions),
	    .oldest_wall_ns = open.oldest_wall_ns,
	};
	memcpy(figures_r->recipients, open.recipients,
	    sizeof(figures_r->recipients));
}

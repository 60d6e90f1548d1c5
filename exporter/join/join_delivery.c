/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Delivery events: a leg for each, what is counted of it, and its replies for
 * the message that it belongs to. Called by the join on the ingest thread.
 */
#include <string.h>

#include "base/arena.h"
#include "exporter/join/evidence.h"
#include "exporter/join/join_finding.h"
#include "exporter/join/open_messages.h"
#include "exporter/join/outcome.h"
#include "exporter/metrics/effect.h"

/* Beyond this many, the one that waits longest is taken as foreign. */
#define WAITING_MAX 10000

static int
find_by_row(struct join *join, struct join_finding *finding,
    const struct message_key *key, struct reason *reason)
{
	struct open_message found;

	if (store_read_message(key, join->scratch, &found, reason) != 1)
		return -1;
	finding->message = join_hold(join, &found);
	return 0;
}

/* A further part belongs where the first one does. Returns 1, 0 when no part
 * is known, or -1. */
static int
follow_first_part(
    struct join *join, struct join_finding *finding, struct reason *reason)
{
	struct found_leg leg;
	struct message_key key;
	int known =
	    store_find_leg(join->store, &finding->delivery->id, &leg, reason);

	if (known != 1)
		return known;
	finding->file = leg.key.file;
	finding->state = leg.state;
	if (leg.state != LEG_STAMPED && leg.state != LEG_QUEUE_ID)
		return 1;
	key = (struct message_key){leg.key.file, leg.message_row};
	return find_by_row(join, finding, &key, reason) == 0 ? 1 : -1;
}

static int
choose_file(
    struct join *join, struct join_finding *finding, struct reason *reason)
{
	const struct uuid *id = finding->state == LEG_WAITING
				    ? &finding->delivery->stamp_id
				    : &finding->delivery->id;

	if (finding->message != NULL)
		finding->file = tracked_message(finding->message)->key.file;
	else if (finding->file == NULL)
		finding->file =
		    store_file(join->store, uuid_wall_ns(id), reason);
	return finding->file != NULL ? 0 : -1;
}

/* Sets the finding's state, file, and message where there is one. */
static int
find_out(struct join *join, struct join_finding *finding, struct reason *reason)
{
	int known = finding->delivery->part > 0
			? follow_first_part(join, finding, reason)
			: 0;

	if (known != 0)
		return known > 0 ? 0 : -1;
	if (join_find_message(join, finding, reason) != 0)
		return -1;
	return choose_file(join, finding, reason);
}

/* Mail that the milter did not see is counted as unstamped once a message. */
static bool
is_counted(const struct tracked *message)
{
	return message != NULL &&
	       tracked_message(message)->ending == MESSAGE_ENDING_LOGGED;
}

/* Once a delivery: its stamps, unless they are believed or may yet be. */
static void
count_stamps(const struct outcome_leg *leg, const struct tracked *message,
    enum leg_state state)
{
	static const enum metric_unstamped reasons[LEG_STATES] = {
	    [LEG_QUEUE_ID] = UNSTAMPED_NO_STAMP,
	    [LEG_UNSTAMPED] = UNSTAMPED_NO_MESSAGE,
	    [LEG_FOREIGN] = UNSTAMPED_FOREIGN,
	};
	const struct delivery_event *delivery = leg->event;

	if (state == LEG_STAMPED || state == LEG_WAITING || delivery->part > 0)
		return;
	effect_count(leg->file, METRIC_FORGED_STAMPS, 0, delivery->stamps_seen);
	/* Without its content nobody knows whether it had a stamp. */
	if (delivery->phase == DELIVERY_PHASE_CONTENT_END &&
	    !is_counted(message))
		effect_count(leg->file, METRIC_UNSTAMPED, reasons[state], 1);
}

static int
apply_leg(struct join *join, struct tracked *message,
    const struct outcome_leg *leg, enum leg_state state, struct reason *reason)
{
	count_stamps(leg, message, state);
	if (message == NULL)
		return outcome_of_unjoined(leg, reason);
	return outcome_apply(
	    join->messages, message, leg, join->scratch, reason);
}

/* The message of a leg whose stamp turned out to be foreign, where a log is
 * read that tells of it too. A leg stays in its file, so that only a message
 * there can have it. */
static int
find_foreign(struct join *join, const struct waiting_entry *entry,
    const struct delivery_event *event, struct tracked **message_r,
    struct reason *reason)
{
	const struct segment_header segment = {.instance = entry->instance};
	struct join_finding finding = {
	    .delivery = event, .segment = &segment, .file = entry->leg.file};
	int found = 0;

	*message_r = NULL;
	if (join->instances == NULL)
		return 0;
	found = join_find_by_queue_id(join, &finding, reason);
	*message_r = finding.message;
	if (finding.message != NULL &&
	    tracked_message(finding.message)->key.file != entry->leg.file) {
		open_messages_settle(join->messages, finding.message);
		*message_r = NULL;
	}
	return found;
}

int
join_settle(struct join *join, const struct waiting_entry *entry,
    struct tracked *message, struct reason *reason)
{
	struct leg_verdict verdict = {.state = LEG_FOREIGN};
	struct delivery_event event;
	const struct outcome_leg leg = {
	    .event = &event,
	    .boot_id = entry->boot_id,
	    .file = entry->leg.file,
	    .row = entry->leg.row,
	    .sessions = join_sessions(join),
	    .counted_by_log_wall_ns = join->counted_by_log_wall_ns,
	};
	int found = 0;

	if (waiting_event(entry, join->scratch, &event, reason) != 0)
		return -1;
	if (message != NULL && join_belongs(message, &event, entry->instance))
		verdict.state = LEG_STAMPED;
	else
		found = find_foreign(join, entry, &event, &message, reason);
	if (found < 0)
		return -1;
	if (message != NULL)
		verdict.message = &tracked_message(message)->key;
	if (message != NULL && found == 1)
		verdict.state = LEG_QUEUE_ID;
	if (store_settle_leg(leg.file, leg.row, &verdict, reason) != 0)
		return -1;
	/* What the log tells of a message in another file is enough. */
	if (message == NULL && found == 1)
		count_stamps(&leg, NULL, verdict.state);
	else if (apply_leg(join, message, &leg, verdict.state, reason) != 0)
		return -1;
	if (verdict.state == LEG_QUEUE_ID)
		open_messages_settle(join->messages, message);
	waiting_remove(join->waiting, entry);
	return 0;
}

/* Without a log nothing will tell that a stamp is the delivery's after all. */
static int
settle_one(struct join *join, const struct waiting_entry *entry,
    struct tracked *tracked, struct reason *reason)
{
	struct delivery_event event;

	if (entry->leg.file != tracked_message(tracked)->key.file)
		return join_settle(join, entry, NULL, reason);
	if (waiting_event(entry, join->scratch, &event, reason) != 0)
		return -1;
	if (join->instances != NULL &&
	    !join_belongs(tracked, &event, entry->instance))
		return 0;
	return join_settle(join, entry, tracked, reason);
}

int
join_settle_waiting(
    struct join *join, struct tracked *tracked, struct reason *reason)
{
	const struct waiting_entry *entry, *next;

	entry = waiting_for(join->waiting, &tracked_message(tracked)->id);
	for (; entry != NULL; entry = next) {
		next = waiting_next(entry);
		if (settle_one(join, entry, tracked, reason) != 0)
			return -1;
	}
	return 0;
}

static int
wait_for_message(struct join *join, const struct join_finding *finding,
    int64_t row, int64_t now_ns, struct reason *reason)
{
	const struct message_key leg = {finding->file, row};
	const struct waiting_origin origin = {
	    finding->segment->instance, finding->segment->boot_id};

	waiting_add(join->waiting, &leg, finding->delivery, &origin,
	    now_ns + join->stamp_wait_ns);
	if (waiting_count(join->waiting) <= WAITING_MAX)
		return 0;
	return join_settle(join, waiting_oldest(join->waiting), NULL, reason);
}

static int
add_leg(struct join *join, const struct join_finding *finding, int64_t now_ns,
    struct reason *reason)
{
	struct leg_verdict verdict = {.state = finding->state};
	struct outcome_leg leg = {
	    .event = finding->delivery,
	    .boot_id = finding->segment->boot_id,
	    .file = finding->file,
	    .sessions = join_sessions(join),
	    .counted_by_log_wall_ns = join->counted_by_log_wall_ns,
	};

	if (finding->message != NULL)
		verdict.message = &tracked_message(finding->message)->key;
	if (store_add_leg(finding->file, finding->delivery, finding->segment,
		&verdict, &leg.row, reason) != 0)
		return -1;
	if (finding->state == LEG_WAITING)
		return wait_for_message(join, finding, leg.row, now_ns, reason);
	return apply_leg(join, finding->message, &leg, finding->state, reason);
}

int
join_delivery(
    struct join *join, const struct join_input *input, struct reason *reason)
{
	const struct journal_record *record = input->record;
	struct join_finding finding = {
	    .delivery = &record->event.delivery,
	    .segment = record->segment,
	};
	int result = 0;

	if (store_is_replay(join->store, input->source, record->position))
		result = store_has_leg(join->store, &finding.delivery->id,
		    finding.delivery->part, NULL, reason);
	if (result != 0)
		return result > 0 ? 0 : -1;
	result = find_out(join, &finding, reason);
	if (result == 0)
		result = add_leg(join, &finding, input->now_ns, reason);
	if (finding.message != NULL)
		open_messages_settle(join->messages, finding.message);
	return result;
}

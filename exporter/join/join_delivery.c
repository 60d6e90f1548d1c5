/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Delivery events: which message a delivery belongs to, and whether its stamp
 * is believed. A stamp joins only when its id exists and its queue id is the
 * delivery's; what else a stamp may be is counted and never believed. Called by
 * the join on the ingest thread.
 */
#include <string.h>

#include "base/arena.h"
#include "exporter/join/evidence.h"
#include "exporter/join/join_state.h"
#include "exporter/join/open_messages.h"
#include "exporter/join/outcome.h"
#include "exporter/maillog/log_instances.h"
#include "exporter/metrics/effect.h"

/* Beyond this many, the one that waits longest is taken as foreign. */
#define WAITING_MAX 10000

/* What was found out about a delivery. */
struct finding {
	const struct delivery_event *delivery;
	const struct segment_header *segment;
	enum leg_state state;
	struct tracked *message; /* STAMPED and QUEUE_ID */
	struct day_file *file;
};

static bool
is_empty(const char *text)
{
	return text == NULL || *text == '\0';
}

static bool
has_stamp(const struct delivery_event *delivery)
{
	return uuid_is_set(&delivery->stamp_id);
}

static bool
is_claim(const struct queue_id_claim *claim, const char *instance,
    const char *queue_id)
{
	return strcmp(claim->instance, instance) == 0 &&
	       strcmp(claim->queue_id, queue_id) == 0;
}

bool
join_belongs(const struct tracked *tracked,
    const struct delivery_event *delivery, const char *instance)
{
	const struct open_message *message = tracked_message(tracked);

	if (is_empty(delivery->queue_id))
		return strcmp(message->instance, instance) == 0;
	for (size_t i = 0; i < message->queue_id_count; i++)
		if (is_claim(
			&message->queue_ids[i], instance, delivery->queue_id))
			return true;
	if (strcmp(message->instance, instance) != 0)
		return false;
	return is_empty(message->queue_id) ||
	       strcmp(delivery->queue_id, message->queue_id) == 0;
}

/* Returns 1 with finding->message, 0, or -1. */
static int
find_by_stamp(struct join *join, struct finding *finding, struct reason *reason)
{
	return join_find(
	    join, &finding->delivery->stamp_id, &finding->message, reason);
}

static int
find_by_queue_id(
    struct join *join, struct finding *finding, struct reason *reason)
{
	const struct delivery_event *delivery = finding->delivery;
	const struct queue_id_key key = {
	    .instance = finding->segment->instance,
	    .queue_id = delivery->queue_id,
	    .before_wall_ns = delivery->mail_at.wall_ns,
	};
	int result = 1;

	if (is_empty(delivery->queue_id))
		return 0;
	finding->message =
	    open_messages_find_queue_id(join->messages, &key, NULL, NULL);
	if (finding->message == NULL)
		result =
		    join_find_stored(join, &key, &finding->message, reason);
	if (result == 1)
		finding->state = LEG_QUEUE_ID;
	return result;
}

/* With a log, which will tell of the mail too, it is a message. */
static int
add_unseen(struct join *join, struct finding *finding, struct reason *reason)
{
	const struct delivery_event *delivery = finding->delivery;
	struct unseen_message unseen = {
	    .event =
		{
		    .queue_id = delivery->queue_id,
		    .message_id = delivery->message_id,
		    .sender = delivery->sender,
		    .mail_at = {delivery->mail_at.wall_ns, 0},
		},
	    .instance = finding->segment->instance,
	    .file = finding->file,
	};
	int found;

	if (join->instances == NULL || is_empty(delivery->queue_id) ||
	    log_instances_find_instance(
		join->instances, finding->segment->instance) == NULL)
		return 0;
	finding->state = LEG_QUEUE_ID;
	found = join_log_find_unseen(join, &unseen, &finding->message, reason);
	if (found != 0)
		return found < 0 ? -1 : 0;
	return join_add_unseen(join, &unseen, &finding->message, reason);
}

/* What an unknown id's own queue id says: whether it may be this mail's, of
 * which the message is still to come. */
enum stamp_claim { CLAIM_OTHER_MAIL, CLAIM_NOTHING, CLAIM_THIS_MAIL };

static enum stamp_claim
stamp_claim(const struct delivery_event *delivery)
{
	if (is_empty(delivery->stamp_queue_id))
		return CLAIM_NOTHING;
	if (is_empty(delivery->queue_id) ||
	    strcmp(delivery->stamp_queue_id, delivery->queue_id) == 0)
		return CLAIM_THIS_MAIL;
	return CLAIM_OTHER_MAIL;
}

/* Sets the finding's state, and its message where there is one. */
static int
resolve(struct join *join, struct finding *finding, struct reason *reason)
{
	const struct delivery_event *delivery = finding->delivery;
	enum leg_state otherwise = LEG_UNSTAMPED;
	int found =
	    has_stamp(delivery) ? find_by_stamp(join, finding, reason) : 0;

	if (found < 0)
		return -1;
	if (found == 1) {
		finding->state = LEG_STAMPED;
		if (join_belongs(
			finding->message, delivery, finding->segment->instance))
			return 0;
		open_messages_settle(join->messages, finding->message);
		finding->message = NULL;
		otherwise = LEG_FOREIGN;
	} else if (has_stamp(delivery)) {
		otherwise = LEG_WAITING;
		if (stamp_claim(delivery) == CLAIM_OTHER_MAIL)
			otherwise = LEG_FOREIGN;
	}
	finding->state = otherwise;
	if (otherwise == LEG_WAITING &&
	    stamp_claim(delivery) == CLAIM_THIS_MAIL)
		return 0;
	found = find_by_queue_id(join, finding, reason);
	return found != 0 ? (found < 0 ? -1 : 0)
			  : add_unseen(join, finding, reason);
}

static int
find_by_row(struct join *join, struct finding *finding,
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
    struct join *join, struct finding *finding, struct reason *reason)
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
choose_file(struct join *join, struct finding *finding, struct reason *reason)
{
	const struct uuid *id = finding->state == LEG_WAITING
				    ? &finding->delivery->stamp_id
				    : &finding->delivery->id;

	if (finding->message != NULL)
		finding->file = tracked_message(finding->message)->key.file;
	else
		finding->file =
		    store_file(join->store, uuid_wall_ns(id), reason);
	return finding->file != NULL ? 0 : -1;
}

/* Sets the finding's state, file, and message where there is one. */
static int
find_out(struct join *join, struct finding *finding, struct reason *reason)
{
	int known = finding->delivery->part > 0
			? follow_first_part(join, finding, reason)
			: 0;

	if (known != 0)
		return known > 0 ? 0 : -1;
	if (resolve(join, finding, reason) != 0)
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
	if (message == NULL) {
		outcome_count_unjoined(leg);
		return 0;
	}
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
	struct finding finding = {
	    .delivery = event, .segment = &segment, .file = entry->leg.file};
	int found = 0;

	*message_r = NULL;
	if (join->instances == NULL)
		return 0;
	found = find_by_queue_id(join, &finding, reason);
	if (found == 0) {
		found = add_unseen(join, &finding, reason);
		found = found == 0 ? finding.message != NULL : -1;
	}
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

static int
wait_for_message(struct join *join, const struct finding *finding, int64_t row,
    int64_t now_ns, struct reason *reason)
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
add_leg(struct join *join, const struct finding *finding, int64_t now_ns,
    struct reason *reason)
{
	struct leg_verdict verdict = {.state = finding->state};
	struct outcome_leg leg = {
	    .event = finding->delivery,
	    .boot_id = finding->segment->boot_id,
	    .file = finding->file,
	    .sessions = join_sessions(join),
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
	struct finding finding = {
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

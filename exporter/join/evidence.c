/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From evidence to states, in memory and in the store. Called by the parts of
 * the join that read one source each, on the ingest thread.
 */
#include "exporter/join/evidence.h"

#include "exporter/join/departure.h"
#include "exporter/join/open_messages.h"
#include "exporter/join/tally.h"
#include "exporter/join/transition.h"
#include "exporter/metrics/effect.h"

/* Bits that are not worth a write of their own: evidence_complete() finds them
 * again. */
#define NOT_STORED (MESSAGE_ACCEPTED | MESSAGE_SEEN_BY_HOOK)

#define GAP_AND_REMOVED (MESSAGE_LOG_GAP | MESSAGE_REMOVED)

/* What ends a recipient in the queue file. */
#define TOLD_END                                                               \
	(EVIDENCE_HOOK_DELIVERED | EVIDENCE_LOG_DELIVERED |                    \
	    EVIDENCE_LOG_RELAYED | EVIDENCE_LOG_HANDED_OFF |                   \
	    EVIDENCE_LOG_DISCARDED | EVIDENCE_LOG_BOUNCED)

#define BY_HOOK                                                                \
	(EVIDENCE_HOOK_DELIVERED | EVIDENCE_HOOK_REFUSED |                     \
	    EVIDENCE_HOOK_DEFERRED)

uint32_t
evidence_by_ending(enum message_ending ending)
{
	return ending == MESSAGE_ENDING_ACCEPTED ? MESSAGE_ACCEPTED : 0;
}

uint32_t
evidence_by_envelope(bool rejected)
{
	return rejected ? EVIDENCE_REFUSED : EVIDENCE_NAMED;
}

/* Rows of the first version have states only. */
static uint32_t
evidence_by_state(const struct open_recipient *recipient)
{
	uint32_t bits = 0;

	if (recipient->expected)
		bits |= evidence_by_envelope(
		    recipient->state == RECIPIENT_REJECTED);
	if (recipient->leg_row != 0 && (recipient->evidence & BY_HOOK) == 0)
		bits |= recipient->state == RECIPIENT_BOUNCED
			    ? EVIDENCE_HOOK_REFUSED
			    : EVIDENCE_HOOK_DELIVERED;
	return bits;
}

void
evidence_complete(struct open_message *message)
{
	message->evidence |= evidence_by_ending(message->ending);
	for (size_t i = 0; i < message->recipient_count; i++) {
		struct open_recipient *recipient = &message->recipients[i];

		recipient->evidence |= evidence_by_state(recipient);
		if (recipient->evidence & BY_HOOK)
			message->evidence |= MESSAGE_SEEN_BY_HOOK;
	}
}

static const struct open_message *
message_of(const struct subject *subject)
{
	return tracked_message(subject->tracked);
}

/* Whether a removed queue file had no recipient but those of whose end somebody
 * told: then a gap in the log hid none. */
static bool
is_told_of_all(const struct open_message *message)
{
	uint32_t told = 0;

	if (message->queue_recipients == 0 || message->queue_id_count > 0)
		return false;
	for (size_t i = 0; i < message->recipient_count; i++)
		told += (message->recipients[i].evidence & TOLD_END) != 0;
	return told == message->queue_recipients;
}

/* The message's evidence, as far as it matters. */
static uint32_t
weigh(const struct open_message *message)
{
	if ((message->evidence & GAP_AND_REMOVED) != GAP_AND_REMOVED ||
	    !is_told_of_all(message))
		return message->evidence;
	return message->evidence & ~(uint32_t)MESSAGE_LOG_GAP;
}

/* What a recipient is now and would be by what is known of it. */
static struct recipient_change
change_of(uint32_t message, const struct open_recipient *recipient,
    const struct recipient_news *news)
{
	uint32_t evidence = recipient->evidence | news->set;
	struct fate fate = fate_of(message, evidence);
	struct recipient_change change = {
	    .former = recipient->state,
	    .state = fate.state,
	    .reason = fate.reason,
	    .evidence = evidence,
	    .attempts = recipient->attempts + news->attempts,
	    .leg_row = recipient->leg_row,
	    .leg_position = recipient->leg_position,
	    .original = news->original,
	};

	if (news->leg_row != 0) {
		change.leg_row = news->leg_row;
		change.leg_position = news->leg_position;
	}
	change.has_one_leg =
	    recipient->leg_row == 0 || recipient->leg_row == change.leg_row;
	return change;
}

static bool
is_new(const struct open_recipient *recipient,
    const struct recipient_change *change)
{
	return recipient->state != change->state ||
	       recipient->reason != change->reason ||
	       recipient->evidence != change->evidence ||
	       recipient->attempts != change->attempts ||
	       recipient->leg_row != change->leg_row ||
	       (change->original != NULL && recipient->original == NULL);
}

bool
evidence_has_ghost(const struct open_message *message)
{
	for (size_t i = 0; i < message->recipient_count; i++)
		if (message->recipients[i].state == RECIPIENT_GHOST)
			return true;
	return false;
}

static void
count_ghost(const struct subject *subject)
{
	struct tally *tally = open_messages_tally(subject->messages);

	if (tally != NULL)
		tally->ghosts++;
	else
		effect_count(
		    message_of(subject)->key.file, METRIC_MESSAGES_GHOST, 0, 1);
}

static void
count_added(const struct subject *subject, enum metric_added reason)
{
	struct tally *tally = open_messages_tally(subject->messages);

	if (tally != NULL) {
		tally->added[reason]++;
		tally_begin(tally, (struct fate){RECIPIENT_IN_FLIGHT, 0});
	} else
		effect_count(message_of(subject)->key.file,
		    METRIC_RECIPIENTS_ADDED, reason, 1);
}

static void
count_transition(
    const struct subject *subject, struct fate from, struct fate to)
{
	struct tally *tally = open_messages_tally(subject->messages);

	if (tally != NULL)
		tally_transition(tally, from, to);
	else
		transition(message_of(subject)->key.file, from, to);
}

/* `weighed` is the message's evidence. */
static int
change_recipient(const struct subject *subject, uint32_t number,
    uint32_t weighed, const struct recipient_news *news, struct reason *reason)
{
	const struct open_message *message = message_of(subject);
	const struct open_recipient *recipient = &message->recipients[number];
	struct recipient_change change = change_of(weighed, recipient, news);

	change.number = number;
	if (!is_new(recipient, &change))
		return 0;
	if (store_change_recipient(&message->key, &change, reason) != 0)
		return -1;
	if (open_messages_tally(subject->messages) == NULL &&
	    departure_note(
		message, number, change.state, news->wall_ns, reason) != 0)
		return -1;
	if (change.state == RECIPIENT_GHOST && !evidence_has_ghost(message))
		count_ghost(subject);
	count_transition(subject,
	    (struct fate){recipient->state, recipient->reason},
	    (struct fate){change.state, change.reason});
	tracked_set_recipient(
	    subject->messages, subject->tracked, NULL, &change);
	return 0;
}

static int
reconsider_all(
    const struct subject *subject, int64_t wall_ns, struct reason *reason)
{
	const struct open_message *message = message_of(subject);
	const struct recipient_news nothing = {.wall_ns = wall_ns};
	uint32_t weighed = weigh(message);

	for (size_t i = 0; i < message->recipient_count; i++)
		if (change_recipient(
			subject, (uint32_t)i, weighed, &nothing, reason) != 0)
			return -1;
	return 0;
}

/* What is said of one recipient says something of the others only where it may
 * have been the last that a gap in the log hid. */
static int
reconsider_gap(const struct subject *subject, const struct recipient_news *news,
    struct reason *reason)
{
	if ((news->set & TOLD_END) == 0 ||
	    (message_of(subject)->evidence & GAP_AND_REMOVED) !=
		GAP_AND_REMOVED)
		return 0;
	return reconsider_all(subject, news->wall_ns, reason);
}

int
evidence_of_recipient(const struct subject *subject, uint32_t number,
    const struct recipient_news *news, struct reason *reason)
{
	uint32_t weighed = weigh(message_of(subject));

	if (change_recipient(subject, number, weighed, news, reason) != 0)
		return -1;
	return reconsider_gap(subject, news, reason);
}

int
evidence_new_recipient(const struct subject *subject, const char *address,
    const struct recipient_news *news, struct reason *reason)
{
	static const struct open_recipient unknown = {
	    .state = RECIPIENT_IN_FLIGHT};
	const struct open_message *message = message_of(subject);
	struct recipient_change change =
	    change_of(weigh(message), &unknown, news);
	bool is_unstamped = message->ending == MESSAGE_ENDING_LOGGED;

	change.number = message->recipient_count;
	if (store_add_recipient(&message->key, address, &change, reason) != 0)
		return -1;
	count_added(subject, is_unstamped ? ADDED_UNSTAMPED : ADDED_EXPANDED);
	count_transition(subject, (struct fate){RECIPIENT_IN_FLIGHT, 0},
	    (struct fate){change.state, change.reason});
	tracked_set_recipient(
	    subject->messages, subject->tracked, address, &change);
	return reconsider_gap(subject, news, reason);
}

static int
change_message(const struct subject *subject,
    const struct message_change *change, struct reason *reason)
{
	const struct open_message *message = message_of(subject);
	uint32_t differs = message->evidence ^ change->evidence;

	if (change->size_bytes != message->size_bytes ||
	    change->queue_recipients != message->queue_recipients ||
	    (differs & ~(uint32_t)NOT_STORED) != 0) {
		if (store_change_message(&message->key, change, reason) != 0)
			return -1;
	}
	tracked_set_evidence(subject->messages, subject->tracked, change);
	return 0;
}

/* Who could not be counted once never can. */
static uint32_t
queue_recipients(uint32_t known, const struct message_news *news)
{
	return news->queue_recipients != 0 && known != RECORD_UNCOUNTED
		   ? news->queue_recipients
		   : known;
}

int
evidence_of_message(const struct subject *subject,
    const struct message_news *news, struct reason *reason)
{
	const struct open_message *message = message_of(subject);
	const struct message_change change = {
	    .evidence = (message->evidence | news->set) & ~news->clear,
	    .size_bytes =
		news->size_bytes != 0 ? news->size_bytes : message->size_bytes,
	    .queue_recipients =
		queue_recipients(message->queue_recipients, news)};

	if (change.evidence == message->evidence &&
	    change.size_bytes == message->size_bytes &&
	    change.queue_recipients == message->queue_recipients)
		return 0;
	if (change_message(subject, &change, reason) != 0)
		return -1;
	return reconsider_all(subject, news->wall_ns, reason);
}

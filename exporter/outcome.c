/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From replies to states, counts and latencies. Called by the join for each
 * part of a delivery, on the ingest thread.
 */
#include "exporter/outcome.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/reason.h"
#include "exporter/effect.h"
#include "exporter/open_messages.h"

struct outcome {
	struct open_messages *messages;
	struct tracked *tracked;
	const struct open_message *message;
	const struct outcome_leg *leg;
	bool *used; /* recipients of the message that this part named already */
	struct reason *reason;
};

static enum metric_result
reply_result(const struct delivery_recipient *recipient)
{
	uint32_t final = recipient->final.code / 100;
	uint32_t envelope = recipient->envelope.code / 100;

	if (final == 2)
		return RESULT_DELIVERED;
	if (final == 5 || (final == 0 && envelope == 5))
		return RESULT_BOUNCED;
	if (final == 4 || (final == 0 && envelope == 4))
		return RESULT_DEFERRED;
	return RESULT_UNANSWERED;
}

enum likeness { LIKE_NOT, LIKE_FOLDED, LIKE_EXACTLY };

static enum likeness
address_likeness(const char *left, const char *right)
{
	const char *left_domain = strrchr(left, '@');
	const char *right_domain = strrchr(right, '@');
	size_t local =
	    left_domain != NULL ? (size_t)(left_domain - left) : strlen(left);

	if (strcasecmp(left, right) != 0)
		return LIKE_NOT;
	if ((left_domain == NULL) != (right_domain == NULL))
		return LIKE_NOT;
	return memcmp(left, right, local) == 0 ? LIKE_EXACTLY : LIKE_FOLDED;
}

/* How well a recipient of the message answers to an address that the leg
 * names; 0: not at all. One whose outcome is open is meant rather than one that
 * has its outcome; one that this leg decided was named by it before. */
static int
match_rank(const struct outcome *outcome, size_t number, const char *address)
{
	const struct open_recipient *recipient =
	    &outcome->message->recipients[number];
	enum likeness likeness;

	if (outcome->used[number] || recipient->state == RECIPIENT_REJECTED ||
	    recipient->leg_row == outcome->leg->row)
		return 0;
	likeness = address_likeness(recipient->address, address);
	if (likeness == LIKE_NOT)
		return 0;
	return 1 + 2 * (likeness == LIKE_EXACTLY) +
	       (recipient->state == RECIPIENT_IN_FLIGHT ||
		   recipient->state == RECIPIENT_ABORTED);
}

/* The number of the recipient that is meant, or the number a new one gets. */
static size_t
match(const struct outcome *outcome, size_t known, const char *address)
{
	size_t best = outcome->message->recipient_count;
	int best_rank = 0;

	for (size_t i = 0; i < known; i++) {
		int rank = match_rank(outcome, i, address);

		if (rank > best_rank) {
			best = i;
			best_rank = rank;
		}
	}
	return best;
}

/* Once a newly delivered recipient. */
static void
observe(
    const struct outcome *outcome, const struct delivery_recipient *recipient)
{
	const struct message_event event = {
	    .mail_at = outcome->message->mail_at,
	    .eom_at = outcome->message->eom_at,
	};
	const struct phase_view view = {
	    .message = &event,
	    .message_boot_id = outcome->message->boot_id,
	    .delivery = outcome->leg->event,
	    .delivery_boot_id = outcome->leg->boot_id,
	    .recipient = recipient,
	};
	struct day_file *file = outcome->leg->file;
	int64_t wall_ns = recipient->final.at.wall_ns;

	effect_observe(file, metric_index(METRIC_DELIVERY_LATENCY, 0), wall_ns,
	    delivery_latency(&view));
	for (unsigned i = PHASE_QUEUE; i < PHASES; i++)
		effect_observe(file, metric_index(METRIC_PHASE, i), wall_ns,
		    phase_duration((enum phase)i, &view));
}

static enum recipient_state
delivered(const struct outcome *outcome, enum recipient_state from,
    const struct delivery_recipient *recipient)
{
	struct day_file *file = outcome->leg->file;

	if (from == RECIPIENT_DELIVERED) {
		effect_count(file, METRIC_DUPLICATES, 0, 1);
		return from;
	}
	if (from == RECIPIENT_BOUNCED)
		effect_count(file, METRIC_OUTCOME_REVISIONS,
		    REVISION_BOUNCED_DELIVERED, 1);
	effect_count(file, METRIC_RECIPIENT_OUTCOMES, OUTCOME_DELIVERED, 1);
	observe(outcome, recipient);
	return RECIPIENT_DELIVERED;
}

static enum recipient_state
next_state(const struct outcome *outcome, enum recipient_state from,
    const struct delivery_recipient *recipient)
{
	struct day_file *file = outcome->leg->file;
	enum metric_result result = reply_result(recipient);

	effect_count(file, METRIC_DELIVERY_ATTEMPTS, result, 1);
	/* Mail of a transaction that seemed aborted was accepted after all. */
	if (from == RECIPIENT_ABORTED) {
		effect_count(file, METRIC_OUTCOME_REVISIONS,
		    REVISION_ABORTED_IN_FLIGHT, 1);
		effect_count(file, METRIC_RECIPIENTS_ADDED, ADDED_ABORTED, 1);
		from = RECIPIENT_IN_FLIGHT;
	}
	if (result == RESULT_DELIVERED)
		return delivered(outcome, from, recipient);
	if (result != RESULT_BOUNCED || from != RECIPIENT_IN_FLIGHT)
		return from;
	effect_count(file, METRIC_RECIPIENT_OUTCOMES, OUTCOME_BOUNCED, 1);
	return RECIPIENT_BOUNCED;
}

/* What `from` becomes by one recipient's replies. */
static struct recipient_change
change_of(const struct outcome *outcome, const struct open_recipient *from,
    const struct delivery_recipient *recipient)
{
	struct recipient_change change = {
	    .state = next_state(outcome, from->state, recipient),
	    .attempts = from->attempts + 1,
	    .leg_row = from->leg_row,
	    .leg_position = from->leg_position,
	};

	if (change.state != from->state &&
	    change.state != RECIPIENT_IN_FLIGHT) {
		change.leg_row = outcome->leg->row;
		change.leg_position = recipient->position;
	}
	return change;
}

static int
change_recipient(struct outcome *outcome, size_t number,
    const struct delivery_recipient *recipient)
{
	struct recipient_change change = change_of(
	    outcome, &outcome->message->recipients[number], recipient);

	change.number = (uint32_t)number;
	outcome->used[number] = true;
	if (store_change_recipient(
		&outcome->message->key, &change, outcome->reason) != 0)
		return -1;
	tracked_set_recipient(
	    outcome->messages, outcome->tracked, NULL, &change);
	return 0;
}

static int
add_recipient(
    struct outcome *outcome, const struct delivery_recipient *recipient)
{
	static const struct open_recipient unknown = {
	    .state = RECIPIENT_IN_FLIGHT};
	struct recipient_change change =
	    change_of(outcome, &unknown, recipient);

	change.number = (uint32_t)outcome->message->recipient_count;
	effect_count(
	    outcome->leg->file, METRIC_RECIPIENTS_ADDED, ADDED_EXPANDED, 1);
	if (store_add_recipient(&outcome->message->key, recipient->address,
		&change, outcome->reason) != 0)
		return -1;
	tracked_set_recipient(
	    outcome->messages, outcome->tracked, recipient->address, &change);
	return 0;
}

int
outcome_apply(struct open_messages *messages, struct tracked *message,
    const struct outcome_leg *leg, struct arena *scratch, struct reason *reason)
{
	struct outcome outcome = {
	    .messages = messages,
	    .tracked = message,
	    .message = tracked_message(message),
	    .leg = leg,
	    .reason = reason,
	};
	size_t known = outcome.message->recipient_count;

	outcome.used = arena_alloc(scratch, known);
	if (outcome.used == NULL)
		return reason_set(reason, "too many recipients");
	for (size_t i = 0; i < leg->event->recipient_count; i++) {
		const struct delivery_recipient *recipient =
		    &leg->event->recipients[i];
		size_t number = match(&outcome, known, recipient->address);
		int result = number < known
				 ? change_recipient(&outcome, number, recipient)
				 : add_recipient(&outcome, recipient);

		if (result != 0)
			return -1;
	}
	return 0;
}

void
outcome_count_unjoined(const struct outcome_leg *leg)
{
	for (size_t i = 0; i < leg->event->recipient_count; i++) {
		enum metric_result result =
		    reply_result(&leg->event->recipients[i]);

		effect_count(leg->file, METRIC_DELIVERY_ATTEMPTS, result, 1);
		if (result != RESULT_DELIVERED && result != RESULT_BOUNCED)
			continue;
		effect_count(
		    leg->file, METRIC_RECIPIENTS_ADDED, ADDED_UNJOINED, 1);
		effect_count(leg->file, METRIC_RECIPIENT_OUTCOMES,
		    result == RESULT_DELIVERED ? OUTCOME_DELIVERED
					       : OUTCOME_BOUNCED,
		    1);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From replies to states, counts and latencies. Called by the join for each
 * part of a delivery, on the ingest thread.
 */
#include "exporter/join/outcome.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/reason.h"
#include "exporter/join/address.h"
#include "exporter/join/deferral.h"
#include "exporter/join/evidence.h"
#include "exporter/join/filing.h"
#include "exporter/join/open_messages.h"
#include "exporter/join/transition.h"
#include "exporter/maillog/maillog_record.h"
#include "exporter/metrics/effect.h"
#include "store/route.h"

struct outcome {
	struct subject subject;
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

static void
count_attempt(const struct outcome_leg *leg,
    const struct delivery_recipient *recipient, enum metric_result result)
{
	const struct delivery_reply *last = recipient->final.code != 0
						? &recipient->final
						: &recipient->envelope;

	effect_count(leg->file, METRIC_DELIVERY_ATTEMPTS, result, 1);
	if (result == RESULT_DEFERRED &&
	    last->at.wall_ns < leg->counted_by_log_wall_ns)
		deferral_count(leg->file, maillog_view_of(last->enhanced));
}

#define DECIDED_BY_HOOK (EVIDENCE_HOOK_DELIVERED | EVIDENCE_HOOK_REFUSED)

/* How well a recipient of the message answers to an address that the leg
 * names; 0: not at all. One of which no delivery had the last word yet is meant
 * rather than another; one that this leg decided was named by it before. */
static int
match_rank(const struct outcome *outcome, size_t number, const char *address)
{
	const struct open_recipient *recipient =
	    &outcome->message->recipients[number];
	enum likeness likeness;

	if (outcome->used[number] || (recipient->evidence & EVIDENCE_REFUSED) ||
	    recipient->leg_row == outcome->leg->row)
		return 0;
	likeness = address_likeness(recipient->address, address);
	if (likeness == LIKE_NOT)
		return 0;
	return 1 + 2 * (likeness == LIKE_EXACTLY) +
	       ((recipient->evidence & DECIDED_BY_HOOK) == 0);
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
	static const struct stamp never;
	const struct message_event event = {
	    .mail_at = outcome->message->mail_at,
	    .eom_at = outcome->message->ending == MESSAGE_ENDING_ACCEPTED
			  ? outcome->message->ended_at
			  : never,
	};
	const struct phase_view view = {
	    .message = &event,
	    .message_boot_id = outcome->message->boot_id,
	    .delivery = outcome->leg->event,
	    .delivery_boot_id = outcome->leg->boot_id,
	    .recipient = recipient,
	};
	struct day_file *file = outcome->leg->file;
	struct effect_of of = {
	    .labels.host = outcome->message->instance,
	    .message = &outcome->message->id,
	    .wall_ns = recipient->final.at.wall_ns,
	};

	/* Of other mail no precise beginning is known. */
	if (outcome->message->ending == MESSAGE_ENDING_LOGGED ||
	    outcome->leg->is_observed)
		return;
	for (unsigned i = PHASE_QUEUE; i < PHASES; i++)
		effect_observe(file, metric_index(METRIC_PHASE, i), &of,
		    phase_duration((enum phase)i, &view));
	of.labels.relay = outcome->leg->event->backend;
	of.labels.provider = address_domain(recipient->address);
	effect_observe(file,
	    metric_index(METRIC_DELIVERY_LATENCY,
		route_of((outcome->message->evidence & MESSAGE_SUBMITTED) != 0,
		    RECIPIENT_DELIVERED)),
	    &of, delivery_latency(&view));
}

static void
count_reply(const struct outcome *outcome, uint32_t evidence,
    const struct delivery_recipient *recipient)
{
	enum metric_result result = reply_result(recipient);

	if (!outcome->leg->is_retold)
		count_attempt(outcome->leg, recipient, result);
	if (result != RESULT_DELIVERED)
		return;
	if ((evidence & EVIDENCE_HOOK_DELIVERED) == 0)
		observe(outcome, recipient);
	else if (!outcome->leg->is_retold)
		effect_count(outcome->leg->file, METRIC_DUPLICATES, 0, 1);
}

struct maillog_view
outcome_session(const struct delivery_recipient *recipient)
{
	const char *text = recipient->final.text;

	if (recipient->final.code / 100 != 2 || text == NULL)
		return (struct maillog_view){0};
	return maillog_reply_session(maillog_view_of(text));
}

/* What one recipient's replies add to what is known of it. */
static struct recipient_news
news_of(const struct outcome *outcome, uint32_t evidence,
    const struct delivery_recipient *recipient)
{
	static const uint32_t bits[RESULTS] = {
	    [RESULT_DELIVERED] = EVIDENCE_HOOK_DELIVERED,
	    [RESULT_BOUNCED] = EVIDENCE_HOOK_REFUSED,
	    [RESULT_DEFERRED] = EVIDENCE_HOOK_DEFERRED,
	    [RESULT_UNANSWERED] = EVIDENCE_HOOK_DEFERRED,
	};
	struct recipient_news news = {.set = bits[reply_result(recipient)],
	    .attempts = 1,
	    .wall_ns = recipient->final.code != 0
			   ? recipient->final.at.wall_ns
			   : recipient->envelope.at.wall_ns};
	/* A delivery outweighs a refusal. */
	bool is_first = news.set == EVIDENCE_HOOK_DELIVERED
			    ? (evidence & EVIDENCE_HOOK_DELIVERED) == 0
			    : (evidence & DECIDED_BY_HOOK) == 0;

	if (is_first && (news.set & DECIDED_BY_HOOK)) {
		news.leg_row = outcome->leg->row;
		news.leg_position = recipient->position;
	}
	news.set |=
	    filing_evidence(outcome->leg->sessions, outcome_session(recipient));
	return news;
}

static int
apply_reply(struct outcome *outcome, size_t number,
    const struct delivery_recipient *recipient)
{
	uint32_t evidence = outcome->message->recipients[number].evidence;
	const struct recipient_news news =
	    news_of(outcome, evidence, recipient);

	count_reply(outcome, evidence, recipient);
	outcome->used[number] = true;
	if (evidence_of_recipient(&outcome->subject, (uint32_t)number, &news,
		outcome->reason) != 0)
		return -1;
	return filing_reply(outcome->leg->sessions, &outcome->subject,
	    (uint32_t)number, outcome_session(recipient), outcome->reason);
}

static int
add_recipient(
    struct outcome *outcome, const struct delivery_recipient *recipient)
{
	const struct recipient_news news = news_of(outcome, 0, recipient);

	count_reply(outcome, 0, recipient);
	if (evidence_new_recipient(&outcome->subject, recipient->address, &news,
		outcome->reason) != 0)
		return -1;
	return filing_reply(outcome->leg->sessions, &outcome->subject,
	    outcome->message->recipient_count - 1, outcome_session(recipient),
	    outcome->reason);
}

int
outcome_apply(struct open_messages *messages, struct tracked *message,
    const struct outcome_leg *leg, struct arena *scratch, struct reason *reason)
{
	static const struct message_news begun = {.set = MESSAGE_SEEN_BY_HOOK};
	struct outcome outcome = {
	    .subject = {messages, message},
	    .message = tracked_message(message),
	    .leg = leg,
	    .reason = reason,
	};
	size_t known = outcome.message->recipient_count;
	int result = evidence_of_message(&outcome.subject, &begun, reason);

	outcome.used = arena_alloc(scratch, known);
	if (outcome.used == NULL)
		return reason_set(reason, "too many recipients");
	for (size_t i = 0; i < leg->event->recipient_count && result == 0;
	     i++) {
		const struct delivery_recipient *recipient =
		    &leg->event->recipients[i];
		size_t number = match(&outcome, known, recipient->address);

		result = number < known
			     ? apply_reply(&outcome, number, recipient)
			     : add_recipient(&outcome, recipient);
	}
	return result;
}

int
outcome_of_unjoined(const struct outcome_leg *leg, struct reason *reason)
{
	for (size_t i = 0; i < leg->event->recipient_count; i++) {
		const struct delivery_recipient *recipient =
		    &leg->event->recipients[i];
		enum metric_result result = reply_result(recipient);

		count_attempt(leg, recipient, result);
		if (result != RESULT_DELIVERED && result != RESULT_BOUNCED)
			continue;
		effect_count(
		    leg->file, METRIC_RECIPIENTS_ADDED, ADDED_UNJOINED, 1);
		transition(leg->file, (struct fate){RECIPIENT_IN_FLIGHT, 0},
		    (struct fate){result == RESULT_DELIVERED
				      ? RECIPIENT_DELIVERED
				      : RECIPIENT_BOUNCED,
			0});
	}
	return store_tell_leg(leg->file, leg->row, leg->event, reason);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Delivery agents' lines: which recipient is meant, what became of it, and
 * under which queue id its mail goes on. Called by join_log_line.c, on the
 * ingest thread.
 */
#include <string.h>

#include "exporter/join/address.h"
#include "exporter/join/deferral.h"
#include "exporter/join/filing.h"
#include "exporter/join/join_log_state.h"
#include "exporter/join/log_verdict.h"
#include "exporter/join/open_messages.h"
#include "exporter/metrics/effect.h"
#include "store/route.h"

/* A latency's end is at least as exact. */
#define PRECISE_NS INT64_C(1000000)

struct delivery {
	struct subject subject;
	const struct open_message *message;
	const struct log_input *input;
	const char *to;
	const char *original; /* NULL: the same */
	struct log_delivery verdict;
};

/* An original address may stand without its domain. */
static bool
is_original(const char *original, const char *address)
{
	size_t size = strlen(original);

	if (address_likeness(original, address) != LIKE_NOT)
		return true;
	return strchr(original, '@') == NULL &&
	       strncmp(original, address, size) == 0 && address[size] == '@';
}

/* A line without an original address was about the recipient. */
#define BY_LINE                                                                \
	(EVIDENCE_LOG_DELIVERED | EVIDENCE_LOG_RELAYED |                       \
	    EVIDENCE_LOG_HANDED_OFF | EVIDENCE_LOG_DISCARDED |                 \
	    EVIDENCE_LOG_BOUNCED | EVIDENCE_LOG_DEFERRED |                     \
	    EVIDENCE_LOG_EXPANDED)

/* How well a recipient of the message fits; 0: not at all. The same mailbox may
 * be reached from several addresses, each of which is a recipient. */
static int
match_rank(
    const struct delivery *delivery, const struct open_recipient *recipient)
{
	bool is_named = (recipient->evidence & EVIDENCE_NAMED) != 0;
	enum likeness likeness =
	    address_likeness(recipient->address, delivery->to);

	if (likeness == LIKE_NOT || (recipient->evidence & EVIDENCE_REFUSED))
		return 0;
	if (recipient->original != NULL)
		return delivery->original != NULL &&
			       address_likeness(recipient->original,
				   delivery->original) != LIKE_NOT
			   ? 8 + (int)likeness
			   : 0;
	if (delivery->original == NULL)
		return is_named ? 8 + (int)likeness : 4 + (int)likeness;
	return is_named || (recipient->evidence & BY_LINE) != 0
		   ? 0
		   : 4 + (int)likeness;
}

/* The number of the recipient that is meant, or the number a new one gets. */
static size_t
match(const struct delivery *delivery)
{
	const struct open_message *message = delivery->message;
	size_t best = message->recipient_count;
	int best_rank = 0;

	for (size_t i = 0; i < message->recipient_count; i++) {
		int rank = match_rank(delivery, &message->recipients[i]);

		if (rank > best_rank) {
			best = i;
			best_rank = rank;
		}
	}
	return best;
}

static int
tell_recipient(const struct delivery *delivery, size_t number,
    uint32_t evidence, struct reason *reason)
{
	const struct recipient_news news = {.set = evidence,
	    .original = delivery->original,
	    .wall_ns = delivery->input->wall_ns};

	if (number < delivery->message->recipient_count)
		return evidence_of_recipient(
		    &delivery->subject, (uint32_t)number, &news, reason);
	return evidence_new_recipient(
	    &delivery->subject, delivery->to, &news, reason);
}

/* Whoever was named by RCPT TO is continued by the recipient of the line. */
static int
tell_original(
    const struct delivery *delivery, size_t number, struct reason *reason)
{
	static const struct recipient_news expanded = {
	    .set = EVIDENCE_LOG_EXPANDED};
	const struct open_message *message = delivery->message;

	for (size_t i = 0;
	     delivery->original != NULL && i < message->recipient_count; i++) {
		const struct open_recipient *recipient =
		    &message->recipients[i];

		if (i == number ||
		    (recipient->evidence & EVIDENCE_NAMED) == 0 ||
		    !is_original(delivery->original, recipient->address))
			continue;
		if (evidence_of_recipient(&delivery->subject, (uint32_t)i,
			&expanded, reason) != 0)
			return -1;
	}
	return 0;
}

/* A server's reply, of which the hook told when no log was read. */
static bool
is_counted_by_hook(const struct join *join, const struct log_input *input)
{
	static const struct maillog_view said = MAILLOG_LITERAL(" said: ");
	const struct maillog_record *record = &input->record->record;

	return input->wall_ns < join->counted_by_log_wall_ns &&
	       record->program == MAILLOG_PROGRAM_LMTP &&
	       maillog_view_find(record->fields[MAILLOG_TEXT], said) !=
		   SIZE_MAX;
}

static void
count_deferral(const struct join *join, const struct delivery *delivery)
{
	const struct log_input *input = delivery->input;

	if (delivery->verdict.evidence == EVIDENCE_LOG_DEFERRED &&
	    !input->is_retold && !is_counted_by_hook(join, input))
		deferral_count(delivery->message->key.file,
		    input->record->record.fields[MAILLOG_DSN]);
}

static int
add_attempt(struct join *join, const struct delivery *delivery, size_t number,
    struct reason *reason)
{
	const struct maillog_record *record = &delivery->input->record->record;
	const struct maillog_view *fields = record->fields;
	const char *queue_id = join_log_string(join, record->queue_id);
	const struct open_recipient *recipient =
	    &delivery->message->recipients[number];
	const struct attempt_subject subject = {
	    recipient->address, recipient->leg_row};
	const char *own = delivery->message->queue_id;
	const struct attempt_record attempt = {
	    .wall_ns = delivery->input->wall_ns,
	    .recipient = (uint32_t)number,
	    .queue_id =
		own != NULL && queue_id != NULL && strcmp(own, queue_id) == 0
		    ? NULL
		    : queue_id,
	    .agent =
		join_log_string(join, delivery->input->record->line.program),
	    .relay = join_log_string(join, fields[MAILLOG_RELAY]),
	    .dsn = join_log_string(join, fields[MAILLOG_DSN]),
	    .status = join_log_string(join, fields[MAILLOG_STATUS]),
	    .text = join_log_string(join, fields[MAILLOG_TEXT]),
	};

	return store_add_attempt(
	    &delivery->message->key, &attempt, &subject, reason);
}

/* What is known of the message that goes on. */
enum course { COURSE_UNKNOWN, COURSE_OTHER, COURSE_SAME, COURSE_FAILED };

/* The copy is known by its context: unless it is another's already, it is this
 * message under a further queue id. */
static enum course
take_over(struct join *join, const struct delivery *delivery,
    struct log_context *copy, struct reason *reason)
{
	struct tracked *own = delivery->subject.tracked, *other;
	int found;

	if (copy->is_busy)
		return COURSE_SAME;
	found = join_log_resolve(join, delivery->input, copy, &other, reason);
	if (found == 0) {
		other = own;
		found = join_log_continue(join, copy, own, reason);
	}
	if (found < 0 ||
	    join_log_bind(join, delivery->input, copy, other, reason) != 0)
		return COURSE_FAILED;
	if (other == own)
		return COURSE_SAME;
	open_messages_settle(join->messages, other);
	return COURSE_OTHER;
}

/* Another instance is another host, even with the same log. */
static enum course
find_course(
    struct join *join, const struct delivery *delivery, struct reason *reason)
{
	const struct log_input *input = delivery->input;
	struct maillog_view id =
	    input->record->record.fields[MAILLOG_NEW_QUEUE_ID];
	struct log_context *copy;
	struct tracked *other;
	int found;

	if (!delivery->verdict.goes_on)
		return COURSE_UNKNOWN;
	copy = input->is_retold
		   ? NULL
		   : log_contexts_find(join->contexts, input->instance, id);
	if (copy != NULL)
		return take_over(join, delivery, copy, reason);
	found = join_log_find(join, input, id, &other, reason);
	if (found <= 0)
		return found < 0 ? COURSE_FAILED : COURSE_UNKNOWN;
	if (other == delivery->subject.tracked)
		return COURSE_SAME;
	open_messages_settle(join->messages, other);
	return COURSE_OTHER;
}

/* What the line says of its recipient, seen what is known of the copy. */
static uint32_t
evidence_for(const struct delivery *delivery, enum course course)
{
	if (course == COURSE_UNKNOWN)
		return delivery->verdict.evidence;
	if (course == COURSE_OTHER)
		return EVIDENCE_LOG_HANDED_OFF;
	return delivery->verdict.is_forward ? EVIDENCE_LOG_EXPANDED : 0;
}

/* Once a recipient that another host has taken. A date with whole seconds
 * would be wrong by more than most of it takes. */
static void
observe_relayed(struct join *join, const struct delivery *delivery,
    size_t number, bool is_known)
{
	const struct open_message *message = delivery->message;
	const struct log_input *input = delivery->input;
	const struct moment from = {.at = {message->mail_at.wall_ns, 0}};
	const struct moment to = {.at = {input->wall_ns, 0}};
	bool is_submitted = (message->evidence & MESSAGE_SUBMITTED) != 0;
	const struct effect_of of = {
	    .labels.host = message->instance,
	    .labels.relay = join_log_string(
		join, input->record->record.fields[MAILLOG_RELAY]),
	    .labels.provider = address_domain(delivery->to),
	    .message = &message->id,
	    .wall_ns = input->wall_ns,
	};

	if (is_known || delivery->verdict.goes_on ||
	    message->ending == MESSAGE_ENDING_LOGGED ||
	    input->precision_ns > PRECISE_NS ||
	    message->recipients[number].state != RECIPIENT_RELAYED)
		return;
	effect_observe(message->key.file,
	    metric_index(METRIC_DELIVERY_LATENCY,
		route_of(is_submitted, RECIPIENT_RELAYED)),
	    &of, duration_between(from, to));
}

/* Whether another host was known to have it before this line. */
static bool
is_relayed(const struct delivery *delivery, size_t number)
{
	return number < delivery->message->recipient_count &&
	       (delivery->message->recipients[number].evidence &
		   EVIDENCE_LOG_RELAYED) != 0;
}

static int
tell_message(const struct delivery *delivery, struct reason *reason)
{
	struct message_news news = {.set = MESSAGE_QUEUED};

	if (delivery->input->record->record.program == MAILLOG_PROGRAM_LOCAL)
		news.queue_recipients = RECORD_UNCOUNTED;
	return evidence_of_message(&delivery->subject, &news, reason);
}

int
join_log_delivery(struct join *join, const struct log_input *input,
    struct tracked *message, struct reason *reason)
{
	const struct maillog_record *record = &input->record->record;
	struct delivery delivery = {
	    .subject = {join->messages, message},
	    .message = tracked_message(message),
	    .input = input,
	    .to = join_log_string(join, record->fields[MAILLOG_TO]),
	    .original = join_log_string(join, record->fields[MAILLOG_ORIG_TO]),
	    .verdict = log_verdict_delivery(record),
	};
	const struct maillog_view session = record->fields[MAILLOG_SESSION];
	enum course course;
	uint32_t evidence;
	size_t number;
	bool was_relayed;

	if (delivery.to == NULL)
		return 0;
	if (tell_message(&delivery, reason) != 0)
		return -1;
	course = find_course(join, &delivery, reason);
	number = match(&delivery);
	was_relayed = is_relayed(&delivery, number);
	evidence = evidence_for(&delivery, course) |
		   filing_evidence(join_sessions(join), session);
	if (course == COURSE_FAILED ||
	    tell_recipient(&delivery, number, evidence, reason) != 0 ||
	    filing_reply(join_sessions(join), &delivery.subject,
		(uint32_t)number, session, reason) != 0 ||
	    add_attempt(join, &delivery, number, reason) != 0)
		return -1;
	count_deferral(join, &delivery);
	observe_relayed(join, &delivery, number, was_relayed);
	return tell_original(&delivery, number, reason);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One message becomes two. Called by join_message.c, on the ingest thread.
 */
#include "exporter/join/join_split.h"

#include <string.h>

#include "base/arena.h"
#include "base/reason.h"
#include "exporter/join/evidence.h"
#include "exporter/join/join_adopt.h"
#include "exporter/join/join_log_state.h"
#include "exporter/join/join_retell.h"
#include "exporter/join/open_messages.h"
#include "exporter/join/tally.h"

/* What befalls a queue file that is still there. */
#define LATER                                                                  \
	(MESSAGE_DELETED | MESSAGE_EXPIRED | MESSAGE_HELD | MESSAGE_CORRUPT |  \
	    MESSAGE_SEEN_HELD | MESSAGE_SEEN_CORRUPT)

/* Which of the claims go. */
struct parting {
	const struct taken_message *taken;
	bool *goes; /* one a claim */
};

static size_t
claim_number(const struct taken_message *taken, struct maillog_view queue_id)
{
	size_t number = 0;

	while (number < taken->claim_count &&
	       !maillog_view_equal(
		   queue_id, maillog_view_of(taken->claims[number].queue_id)))
		number++;
	return number;
}

static bool
goes(const struct parting *parting, struct maillog_view queue_id)
{
	size_t number = claim_number(parting->taken, queue_id);

	return number < parting->taken->claim_count && parting->goes[number];
}

/* What goes takes along what it is said to go on as. Returns 1 when that is
 * something new, 0, or -1. */
static int
take_along(struct join *join, struct parting *parting)
{
	const struct message_record *record = &parting->taken->record;
	int found = 0;

	for (size_t i = 0; i < record->attempt_count; i++) {
		struct log_record line;
		size_t number;

		if (join_retold_line(join->scratch, record, i, &line) != 0)
			return -1;
		number = claim_number(
		    parting->taken, line.record.fields[MAILLOG_NEW_QUEUE_ID]);
		if (!goes(parting, line.record.queue_id) ||
		    number == parting->taken->claim_count ||
		    parting->goes[number])
			continue;
		parting->goes[number] = true;
		found = 1;
	}
	return found;
}

static void
part_claims(
    const struct parting *parting, const char *own, struct join_split *split)
{
	const struct taken_message *taken = parting->taken;

	split->rest.claim_count = split->own.claim_count = 0;
	for (size_t i = 0; i < taken->claim_count; i++) {
		const struct queue_id_claim *claim = &taken->claims[i];

		if (!parting->goes[i])
			split->rest.claims[split->rest.claim_count++] = *claim;
		else if (strcmp(claim->queue_id, own) != 0)
			split->own.claims[split->own.claim_count++] = *claim;
	}
}

static void
part_attempts(const struct parting *parting, struct join_split *split)
{
	const struct message_record *record = &parting->taken->record;
	struct message_record *rest = &split->rest.record;
	struct message_record *own = &split->own.record;

	rest->attempt_count = own->attempt_count = 0;
	for (size_t i = 0; i < record->attempt_count; i++) {
		const struct attempt_record *attempt = &record->attempts[i];

		if (goes(parting, maillog_view_of(attempt->queue_id)))
			own->attempts[own->attempt_count++] = *attempt;
		else
			rest->attempts[rest->attempt_count++] = *attempt;
	}
}

/* The bits that say which queue ids are gone, of those that go or stay, in
 * their new order; *all_r: whether all of them are. `number` counts as claims
 * do; the first is that of the message's own queue id. */
static uint32_t
part_gone(
    const struct parting *parting, const char *own, bool going, bool *all_r)
{
	const struct taken_message *taken = parting->taken;
	uint32_t evidence = taken->record.evidence, gone = 0;
	unsigned number = 1;

	*all_r = true;
	if (!going) {
		gone = evidence & join_log_gone_bit(0);
		*all_r = gone != 0;
	}
	for (size_t i = 0; i < taken->claim_count; i++) {
		bool is_own = strcmp(taken->claims[i].queue_id, own) == 0;
		bool is_gone =
		    (evidence & join_log_gone_bit((unsigned)i + 1)) != 0;

		if (parting->goes[i] != going)
			continue;
		*all_r = *all_r && is_gone;
		if (is_gone)
			gone |= join_log_gone_bit(is_own ? 0 : number);
		number += !is_own;
	}
	return gone;
}

static void
part_evidence(const struct parting *parting, const char *queue_id,
    struct join_split *split)
{
	const uint32_t all_gone = MESSAGE_REMOVED | JOIN_LOG_GONE_BITS;
	uint32_t evidence = parting->taken->record.evidence;
	uint32_t common = evidence & ~(all_gone | LATER);
	uint32_t *rest = &split->rest.record.evidence;
	uint32_t *own = &split->own.record.evidence;
	bool rest_is_gone, own_is_gone;

	*rest = common | part_gone(parting, queue_id, false, &rest_is_gone);
	*own = common | part_gone(parting, queue_id, true, &own_is_gone);
	*own &= ~(
	    uint32_t)(MESSAGE_DISCARDED | MESSAGE_REFUSED | MESSAGE_REDIRECTED);
	if (rest_is_gone) {
		*rest |= MESSAGE_REMOVED;
		*own |= evidence & LATER;
	} else
		*rest |= evidence & LATER;
	if (own_is_gone && (*own & MESSAGE_DELETED) == 0)
		*own |= MESSAGE_REMOVED;
}

/* Arrays of their own to be filled. */
static int
copy_arrays(struct arena *arena, struct taken_message *taken)
{
	taken->claims =
	    arena_alloc(arena, taken->claim_count * sizeof(*taken->claims));
	taken->record.attempts = arena_alloc(arena,
	    taken->record.attempt_count * sizeof(*taken->record.attempts));
	return taken->claims != NULL && taken->record.attempts != NULL ? 0 : -1;
}

int
join_split(struct join *join, struct tracked *claimant, const char *queue_id,
    struct join_split *split_r, struct reason *reason)
{
	struct taken_message taken;
	struct parting parting = {.taken = &taken};
	size_t number;
	int more = 1;

	if (join_take(join, claimant, &taken, reason) != 0)
		return -1;
	split_r->rest = split_r->own = taken;
	parting.goes = arena_alloc(join->scratch, taken.claim_count);
	if (parting.goes == NULL ||
	    copy_arrays(join->scratch, &split_r->rest) != 0 ||
	    copy_arrays(join->scratch, &split_r->own) != 0)
		return reason_set(reason, "too many attempts");
	number = claim_number(&taken, maillog_view_of(queue_id));
	if (number < taken.claim_count)
		parting.goes[number] = true;
	while (more == 1)
		more = take_along(join, &parting);
	if (more < 0)
		return reason_set(reason, "too many attempts");
	part_claims(&parting, queue_id, split_r);
	part_attempts(&parting, split_r);
	part_evidence(&parting, queue_id, split_r);
	split_r->own.record.leg_count = 0;
	split_r->own.record.operation_count = 0;
	split_r->own.record.size_bytes = 0;
	split_r->own.record.queue_recipients = 0;
	return 0;
}

/* The event's recipients, with the verdicts of the beginning. */
static int
restore_envelope(struct arena *arena, const struct message_record *record,
    struct message_event *event, struct recipient_verdict **verdicts_r)
{
	size_t count = 0;

	*verdicts_r =
	    arena_alloc(arena, record->recipient_count * sizeof(**verdicts_r));
	event->recipients = arena_alloc(
	    arena, record->recipient_count * sizeof(*event->recipients));
	if (event->recipients == NULL || *verdicts_r == NULL)
		return -1;
	for (size_t i = 0; i < record->recipient_count; i++) {
		const struct recipient_record *from = &record->recipients[i];
		bool rejected = from->state == RECIPIENT_REJECTED;
		uint32_t evidence = evidence_by_envelope(rejected);

		if (!from->expected)
			continue;
		(*verdicts_r)[count] = (struct recipient_verdict){
		    .state =
			fate_of(evidence_by_ending(event->ending), evidence)
			    .state,
		    .evidence = evidence};
		event->recipients[count++] =
		    (struct message_recipient){.address = from->address,
			.rejected = rejected,
			.rcpt_at = from->rcpt_at,
			.reject_dsn = from->reject_dsn,
			.reject_text = from->reject_text};
	}
	event->recipient_count = count;
	return 0;
}

int
join_put_back(struct join *join, const struct taken_message *taken,
    struct day_file *file, struct tracked **message_r, struct reason *reason)
{
	struct message_event event = taken->record.event;
	struct segment_header segment = {.instance = taken->record.instance};
	struct message_verdict verdict = {
	    .evidence = evidence_by_ending(event.ending) |
			(taken->record.evidence & MESSAGES_OWN)};
	struct recipient_verdict *verdicts;

	memcpy(segment.boot_id, taken->record.boot_id, sizeof(segment.boot_id));
	if (restore_envelope(
		join->scratch, &taken->record, &event, &verdicts) != 0)
		return reason_set(reason, "too many recipients");
	verdict.recipients = verdicts;
	for (size_t i = 0; i < event.recipient_count; i++)
		if (!event.recipients[i].rejected)
			tally_begin(open_messages_tally(join->messages),
			    (struct fate){verdicts[i].state, 0});
	return join_add_message(join, file,
	    &(struct join_addition){&event, &segment, &verdict}, message_r,
	    reason);
}

/* Whoever is continued by a queue id that was claimed then. */
struct continued {
	const char *queue_id;
	int64_t from_wall_ns, to_wall_ns;
};

static bool
is_continued(
    const void *context, const struct tracked *tracked, int64_t since_wall_ns)
{
	const struct continued *continued = context;
	const struct open_message *message = tracked_message(tracked);

	return since_wall_ns >= continued->from_wall_ns &&
	       since_wall_ns <= continued->to_wall_ns &&
	       (message->queue_id == NULL ||
		   strcmp(message->queue_id, continued->queue_id) != 0);
}

int
join_find_claimant(struct join *join, const struct message_event *event,
    const char *instance, struct tracked **claimant_r, struct reason *reason)
{
	const struct continued continued = {event->queue_id,
	    event->mail_at.wall_ns - JOIN_BEFORE_NS,
	    join_end_ns(event) + CLOCKS_DIFFER_NS};
	const struct queue_id_key key = {
	    instance, event->queue_id, continued.to_wall_ns};
	int found = 0;

	*claimant_r = open_messages_find_queue_id(
	    join->messages, &key, is_continued, &continued);
	if (*claimant_r != NULL)
		return 1;
	if (join_may_be_stored(join, continued.from_wall_ns))
		found = join_find_stored(join, &key, claimant_r, reason);
	if (found != 1)
		return found;
	if (is_continued(&continued, *claimant_r,
		join_claimed_since(
		    tracked_message(*claimant_r), event->queue_id)))
		return 1;
	open_messages_settle(join->messages, *claimant_r);
	*claimant_r = NULL;
	return 0;
}

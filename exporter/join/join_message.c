/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Message events: which become rows, what is counted of them, and which
 * deliveries were waiting for them. Called by the join on the ingest thread.
 */
#include <ctype.h>
#include <string.h>

#include <uthash.h>

#include "base/arena.h"
#include "base/reason.h"
#include "exporter/join/evidence.h"
#include "exporter/join/join_state.h"
#include "exporter/join/open_messages.h"
#include "exporter/join/refusal.h"
#include "exporter/metrics/effect.h"
#include "exporter/read/log_trust.h"
#include "store/route.h"

/* An event whose recipients are those that Postfix will deliver to. */
struct folded {
	struct message_event event;
	uint32_t evidence;                  /* of the message */
	struct recipient_verdict *verdicts; /* one a recipient */
	size_t accepted;
};

/* An accepted address, its domain in lower case. */
struct seen {
	char *address;
	UT_hash_handle hh;
};

static bool
is_accepted(const struct message_event *event)
{
	return event->ending == MESSAGE_ENDING_ACCEPTED;
}

static char *
fold_domain(struct arena *arena, const char *address)
{
	char *copy = arena_string(arena, address);
	char *domain = copy != NULL ? strrchr(copy, '@') : NULL;

	for (; domain != NULL && *domain != '\0'; domain++)
		*domain = (char)tolower((unsigned char)*domain);
	return copy;
}

/* Returns 1 when the address was seen before, 0 when it is new, -1 without
 * memory. */
static int
see(struct seen **table, struct arena *arena, const char *address)
{
	struct seen *seen = arena_alloc(arena, sizeof(*seen));
	struct seen *known;

	if (seen == NULL)
		return -1;
	seen->address = fold_domain(arena, address);
	if (seen->address == NULL)
		return -1;
	HASH_FIND_STR(*table, seen->address, known);
	if (known != NULL)
		return 1;
	HASH_ADD_KEYPTR(hh, *table, seen->address, strlen(seen->address), seen);
	return 0;
}

static void
keep(struct folded *folded, const struct message_recipient *recipient)
{
	size_t number = folded->event.recipient_count++;
	struct recipient_verdict *verdict = &folded->verdicts[number];

	folded->event.recipients[number] = *recipient;
	verdict->evidence = evidence_by_envelope(recipient->rejected);
	verdict->state =
	    fate_of(evidence_by_ending(folded->event.ending), verdict->evidence)
		.state;
	if (!recipient->rejected)
		folded->accepted++;
}

/* cleanup(8) delivers once to an address that RCPT TO named twice: the first
 * one counts. */
static int
fold(const struct message_event *event, struct arena *arena,
    struct folded *folded_r)
{
	size_t count = event->recipient_count;
	struct seen *table = NULL;
	int again = 0;

	*folded_r = (struct folded){
	    .event = *event, .evidence = evidence_by_ending(event->ending)};
	folded_r->event.recipient_count = 0;
	folded_r->event.recipients =
	    arena_alloc(arena, count * sizeof(*event->recipients));
	folded_r->verdicts =
	    arena_alloc(arena, count * sizeof(*folded_r->verdicts));
	for (size_t i = 0; i < count && !arena_failed(arena); i++) {
		const struct message_recipient *recipient =
		    &event->recipients[i];

		again = recipient->rejected
			    ? 0
			    : see(&table, arena, recipient->address);
		if (again == 0)
			keep(folded_r, recipient);
	}
	HASH_CLEAR(hh, table);
	return arena_failed(arena) ? -1 : 0;
}

static void
count_recipients(
    const struct join *join, struct day_file *file, const struct folded *folded)
{
	const struct message_event *event = &folded->event;

	for (size_t i = 0; i < event->recipient_count; i++)
		if (event->recipients[i].rejected)
			refusal_of_recipient(join, file, &event->recipients[i]);
	effect_count(
	    file, METRIC_RECIPIENTS_OMITTED, 0, event->recipients_omitted);
	if (is_accepted(event))
		effect_count(
		    file, METRIC_RECIPIENTS_ACCEPTED, 0, folded->accepted);
}

static void
observe_phases(struct day_file *file, const struct message_event *event,
    const struct segment_header *segment)
{
	const struct phase_view view = {
	    .message = event,
	    .message_boot_id = segment->boot_id,
	};

	for (unsigned i = 0; i <= PHASE_CONTENT_TO_EOM; i++)
		effect_observe(file, metric_index(METRIC_PHASE, i),
		    event->eom_at.wall_ns,
		    phase_duration((enum phase)i, &view));
}

static void
count_message(const struct join *join, struct day_file *file,
    const struct folded *folded, const struct segment_header *segment)
{
	const struct message_event *event = &folded->event;
	unsigned phase = event->phase > MESSAGE_PHASE_CONNECT
			     ? event->phase - MESSAGE_PHASE_CONNECT
			     : 0;

	effect_count(file, METRIC_FORGED_STAMPS, 0, event->forged_stamps);
	count_recipients(join, file, folded);
	if (is_accepted(event)) {
		effect_count(file, METRIC_MESSAGES_ACCEPTED, 0, 1);
		effect_count(
		    file, METRIC_ODD_MESSAGES, 0, day_file_is_odd(file));
		observe_phases(file, event, segment);
	} else
		effect_count(file, METRIC_SMTP_ABORTS, phase, 1);
}

static struct open_recipient *
open_recipients(struct arena *arena, const struct folded *folded)
{
	size_t count = folded->event.recipient_count;
	struct open_recipient *recipients =
	    arena_alloc(arena, count * sizeof(*recipients));

	for (size_t i = 0; recipients != NULL && i < count; i++)
		recipients[i] = (struct open_recipient){
		    .address = folded->event.recipients[i].address,
		    .state = folded->verdicts[i].state,
		    .evidence = folded->verdicts[i].evidence,
		};
	return recipients;
}

/* NULL without memory. */
static struct tracked *
track(struct join *join, const struct folded *folded,
    const struct segment_header *segment, const struct message_key *key)
{
	const struct message_event *event = &folded->event;
	struct open_message message = {
	    .key = *key,
	    .id = event->id,
	    .instance = segment->instance,
	    .queue_id = event->queue_id,
	    .ending = event->ending,
	    .evidence = folded->evidence,
	    .mail_at = event->mail_at,
	    .eom_at = event->eom_at,
	    .recipients = open_recipients(join->scratch, folded),
	    .recipient_count = event->recipient_count,
	};

	memcpy(message.boot_id, segment->boot_id, CLOCK_BOOT_ID_BYTES);
	return message.recipients != NULL
		   ? open_messages_add(join->messages, &message)
		   : NULL;
}

/* Deliveries that were read before their message. */
static int
settle_waiting(
    struct join *join, struct tracked *tracked, struct reason *reason)
{
	const struct uuid *id = &tracked_message(tracked)->id;
	const struct waiting_entry *entry;

	while ((entry = waiting_for(join->waiting, id)) != NULL)
		if (join_settle(join, entry, tracked, reason) != 0)
			return -1;
	return 0;
}

/* Mail that comes back is what it was before. */
static int
find_submission(struct join *join, struct folded *folded, struct reason *reason)
{
	const struct uuid *previous = &folded->event.previous;
	const struct tracked *held;
	struct open_message found = {.evidence = 0};
	int result = 0;

	if (route_is_submitted(&folded->event))
		found.evidence = MESSAGE_SUBMITTED;
	else if (uuid_is_set(previous)) {
		held = open_messages_find(join->messages, previous);
		if (held != NULL)
			found.evidence = tracked_message(held)->evidence;
		else
			result = store_find_message(join->store, previous,
			    join->scratch, &found, reason);
	}
	folded->evidence |= found.evidence & MESSAGE_SUBMITTED;
	return result < 0 ? -1 : 0;
}

static int
add_message(struct join *join, const struct folded *folded,
    const struct join_input *input, struct day_file *file,
    struct reason *reason)
{
	const struct message_verdict verdict = {
	    .evidence = folded->evidence,
	    .recipients = folded->verdicts,
	};
	const struct segment_header *segment = input->record->segment;
	struct message_key key;
	struct tracked *tracked;
	int result;

	if (store_add_message(
		file, &folded->event, segment, &verdict, &key, reason) != 0)
		return -1;
	tracked = track(join, folded, segment, &key);
	if (tracked == NULL)
		return reason_set(reason, "too many recipients");
	result = settle_waiting(join, tracked, reason);
	join_log_message_came(join, tracked, input->now_ns);
	open_messages_settle(join->messages, tracked);
	return result;
}

/* A leg that waits is in its message's file already. */
static struct day_file *
file_for(struct join *join, const struct uuid *id, struct reason *reason)
{
	const struct waiting_entry *entry = waiting_for(join->waiting, id);

	return entry != NULL
		   ? entry->leg.file
		   : store_file(join->store, uuid_wall_ns(id), reason);
}

/* Returns 1 when the message is in the store, 0, or -1. */
static int
is_known(
    struct join *join, const struct join_input *input, struct reason *reason)
{
	const struct uuid *id = &input->record->event.message.id;
	struct open_message message;

	if (!store_is_replay(
		join->store, input->source, input->record->position))
		return 0;
	return store_find_message(
	    join->store, id, join->scratch, &message, reason);
}

int
join_message(
    struct join *join, const struct join_input *input, struct reason *reason)
{
	const struct journal_record *record = input->record;
	struct folded folded;
	struct day_file *file;
	int known = is_known(join, input, reason);

	if (join->trust != NULL && is_accepted(&record->event.message))
		log_trust_expect(join->trust, record->segment->instance,
		    record->event.message.eom_at.wall_ns);
	if (known != 0)
		return known > 0 ? 0 : -1;
	if (fold(&record->event.message, join->scratch, &folded) != 0)
		return reason_set(reason, "too many recipients");
	file = file_for(join, &folded.event.id, reason);
	if (file == NULL)
		return -1;
	if (!is_accepted(&folded.event) && folded.accepted == 0) {
		if (!day_file_has(file, input->source, record->position))
			count_message(join, file, &folded, record->segment);
		return 0;
	}
	if (find_submission(join, &folded, reason) != 0)
		return -1;
	count_message(join, file, &folded, record->segment);
	return add_message(join, &folded, input, file, reason);
}

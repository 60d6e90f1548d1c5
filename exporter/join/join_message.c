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
#include "exporter/join/join_adopt.h"
#include "exporter/join/join_retell.h"
#include "exporter/join/join_split.h"
#include "exporter/join/join_state.h"
#include "exporter/join/open_messages.h"
#include "exporter/join/refusal.h"
#include "exporter/join/tally.h"
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

/* Where a message goes. */
struct message_place {
	struct day_file *file;
	/* In that file; NULL: there is none. */
	struct tracked *told;     /* what others have told of it */
	struct tracked *claimant; /* whom they took it for */
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
	const struct effect_of of = {
	    .labels.host = segment->instance,
	    .message = &event->id,
	    .wall_ns = event->eom_at.wall_ns,
	};

	for (unsigned i = 0; i <= PHASE_CONTENT_TO_EOM; i++)
		effect_observe(file, metric_index(METRIC_PHASE, i), &of,
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

/* What was told of it, or of another one, before it was known. */
static int
tell_anew(struct join *join, const struct join_addition *addition,
    const struct message_place *place, struct tracked **message_r,
    struct reason *reason)
{
	struct message_key key = {.file = place->file};
	struct join_split split = {.own = {.claims = NULL}};
	struct tracked *rest = NULL;

	if (place->claimant != NULL &&
	    join_split(join, place->claimant, addition->event->queue_id, &split,
		reason) != 0)
		return -1;
	if (place->told != NULL &&
	    join_take(join, place->told, &split.own, reason) != 0)
		return -1;
	if (join_add_message(join, place->file, addition, message_r, reason) !=
	    0)
		return -1;
	if (place->claimant != NULL &&
	    (join_put_back(join, &split.rest, place->file, &rest, reason) !=
		    0 ||
		join_retell_lines(join, rest, &split.rest, reason) != 0))
		return -1;
	if (join_retell_lines(join, *message_r, &split.own, reason) != 0 ||
	    join_retell_legs(join, &key, &split.own, reason) != 0 ||
	    join_retell_legs(join, &key, &split.rest, reason) != 0)
		return -1;
	if (rest != NULL)
		open_messages_settle(join->messages, rest);
	return 0;
}

static int
add_told(struct join *join, const struct join_addition *addition,
    const struct message_place *place, struct tracked **message_r,
    struct reason *reason)
{
	struct tally tally = {.ghosts = 0};
	int result;

	open_messages_set_tally(join->messages, &tally);
	result = tell_anew(join, addition, place, message_r, reason);
	open_messages_set_tally(join->messages, NULL);
	store_taken_is_told(place->file);
	if (result == 0)
		tally_count(&tally, place->file);
	return result;
}

static int
add_message(struct join *join, const struct folded *folded,
    const struct join_input *input, const struct message_place *place,
    struct reason *reason)
{
	const struct message_verdict verdict = {
	    .evidence = folded->evidence,
	    .recipients = folded->verdicts,
	};
	const struct join_addition addition = {
	    &folded->event, input->record->segment, &verdict};
	struct tracked *tracked;
	int result;

	if (place->told == NULL && place->claimant == NULL)
		result = join_add_message(
		    join, place->file, &addition, &tracked, reason);
	else
		result = add_told(join, &addition, place, &tracked, reason);
	if (result != 0)
		return -1;
	result = join_settle_waiting(join, tracked, reason);
	if (result == 0)
		result = join_log_message_came(join, tracked, reason);
	open_messages_settle(join->messages, tracked);
	return result;
}

static int
find_others(struct join *join, const struct join_input *input,
    struct message_place *place, struct reason *reason)
{
	const struct message_event *event = &input->record->event.message;
	const char *instance = input->record->segment->instance;

	int borne;

	if (event->queue_id == NULL || *event->queue_id == '\0')
		return 0;
	borne = join_is_borne(join, event, instance, reason);
	if (borne <= 0)
		return borne;
	if (join_find_told(join, event, instance, &place->told, reason) < 0)
		return -1;
	if (place->told == NULL && join_find_claimant(join, event, instance,
				       &place->claimant, reason) < 0)
		return -1;
	return 0;
}

/* Where others have told of it already; a leg that waits is in its message's
 * file, too. */
static int
find_place(struct join *join, const struct join_input *input,
    struct message_place *place_r, struct reason *reason)
{
	const struct uuid *id = &input->record->event.message.id;
	const struct waiting_entry *entry = waiting_for(join->waiting, id);

	if (find_others(join, input, place_r, reason) != 0)
		return -1;
	if (place_r->told != NULL)
		place_r->file = tracked_message(place_r->told)->key.file;
	else if (place_r->claimant != NULL)
		place_r->file = tracked_message(place_r->claimant)->key.file;
	if (place_r->file != NULL && store_writes(join->store, place_r->file) &&
	    day_file_may_have(place_r->file, id))
		return 0;
	place_r->told = place_r->claimant = NULL;
	place_r->file = entry != NULL
			    ? entry->leg.file
			    : store_file(join->store, uuid_wall_ns(id), reason);
	return place_r->file != NULL ? 0 : -1;
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

/* A transaction that came to nothing is not kept. */
static int
count_failed(struct join *join, const struct join_input *input,
    const struct folded *folded, struct reason *reason)
{
	const struct journal_record *record = input->record;
	struct day_file *file =
	    store_file(join->store, uuid_wall_ns(&folded->event.id), reason);

	if (file == NULL)
		return -1;
	if (!day_file_has(file, input->source, record->position))
		count_message(join, file, folded, record->segment);
	return 0;
}

/* Of a message that comes behind a gap in the log, what it lacks may have been
 * in it, as of those that were open: see join_log_gap(). */
static void
find_gap(struct join *join, struct folded *folded)
{
	if (join->trust != NULL && is_accepted(&folded->event) &&
	    log_trust_misses(join->trust, folded->event.mail_at.wall_ns))
		folded->evidence |= MESSAGE_LOG_GAP;
}

int
join_message(
    struct join *join, const struct join_input *input, struct reason *reason)
{
	const struct journal_record *record = input->record;
	struct folded folded;
	struct message_place place = {.told = NULL};
	int known = is_known(join, input, reason);

	if (join->trust != NULL && is_accepted(&record->event.message))
		log_trust_expect(join->trust, record->segment->instance,
		    record->event.message.eom_at.wall_ns);
	if (known != 0)
		return known > 0 ? 0 : -1;
	if (fold(&record->event.message, join->scratch, &folded) != 0)
		return reason_set(reason, "too many recipients");
	if (!is_accepted(&folded.event) && folded.accepted == 0)
		return count_failed(join, input, &folded, reason);
	if (find_place(join, input, &place, reason) != 0)
		return -1;
	if (find_submission(join, &folded, reason) != 0)
		return -1;
	find_gap(join, &folded);
	count_message(join, place.file, &folded, record->segment);
	return add_message(join, &folded, input, &place, reason);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lays a record out in time. Called by the command line and the API; all
 * subtraction is proto/phase.c's.
 */
#include "store/timeline.h"

#include <string.h>

#include "base/arena.h"
#include "store/route.h"

/* What is needed while one timeline is built. */
struct builder {
	struct timeline *timeline;
	struct moment start;
	struct message_event event; /* with the first recipient, for phase.c */
	struct message_recipient first_recipient;
};

static bool
has_message(const struct message_record *record)
{
	return uuid_is_set(&record->event.id);
}

static void
begin(struct builder *builder, const struct message_record *record)
{
	if (has_message(record)) {
		builder->start = (struct moment){
		    .at = record->event.mail_at, .boot_id = record->boot_id};
		builder->start.at.wall_ns = record_begin_ns(record);
	} else if (record->leg_count > 0) {
		builder->start =
		    (struct moment){.at = record->legs[0].event.mail_at,
			.boot_id = record->legs[0].boot_id};
	}
	builder->event = record->event;
	if (record->recipient_count > 0 && record->recipients[0].expected) {
		builder->first_recipient.rcpt_at =
		    record->recipients[0].rcpt_at;
		builder->event.recipients = &builder->first_recipient;
		builder->event.recipient_count = 1;
	}
}

/* Widens what is shown so that it holds the phase. */
static void
include(struct timeline *timeline, const struct timeline_phase *phase)
{
	int64_t end_ns = phase->offset_ns;

	if (!phase->skewed)
		end_ns += phase->duration_ns;
	if (phase->offset_ns < timeline->first_offset_ns)
		timeline->first_offset_ns = phase->offset_ns;
	if (end_ns > timeline->last_offset_ns)
		timeline->last_offset_ns = end_ns;
}

/* The phases from `first` to `last` that the view has both stamps of. Returns
 * how many. */
static size_t
lay_out(struct builder *builder, const struct phase_view *view,
    enum phase first, enum phase last, struct timeline_phase *phases_r)
{
	size_t count = 0;

	for (enum phase phase = first; phase <= last; phase++) {
		struct duration duration = phase_duration(phase, view);
		struct moment from, to;

		if (duration.state == DURATION_UNKNOWN)
			continue;
		phase_moments(phase, view, &from, &to);
		phases_r[count] = (struct timeline_phase){.phase = phase,
		    .offset_ns = duration_between(builder->start, from).ns,
		    .duration_ns = duration.ns,
		    .skewed = duration.state == DURATION_SKEWED};
		include(builder->timeline, &phases_r[count++]);
	}
	return count;
}

/* The final reply, or the one to RCPT TO that made a final one impossible. */
static const struct delivery_reply *
deciding_reply(const struct delivery_recipient *recipient)
{
	if (recipient->final.code != 0)
		return &recipient->final;
	return recipient->envelope.code != 0 ? &recipient->envelope : NULL;
}

/* Older rows do not have the bit. Of whom nobody tells, nothing is said. */
static const char *
route_to(const struct message_record *record, enum recipient_state state)
{
	bool is_submitted = (record->evidence & RECORD_SUBMITTED) != 0 ||
			    route_is_submitted(&record->event);

	if (!is_submitted && record->event.client_address == NULL)
		return NULL;
	return route_name(route_of(is_submitted, state));
}

static void
build_recipient(struct builder *builder,
    const struct recipient_record *recipient,
    struct timeline_recipient *recipient_r)
{
	const struct message_record *record = builder->timeline->record;
	struct phase_view view = {.message_boot_id = record->boot_id};
	const struct leg_record *leg;

	*recipient_r = (struct timeline_recipient){.record = recipient};
	recipient_r->route = route_to(record, recipient->state);
	if (recipient->leg < 0)
		return;
	leg = &record->legs[recipient->leg];
	if (has_message(record))
		view.message = &builder->event;
	view.delivery = &leg->event;
	view.delivery_boot_id = leg->boot_id;
	view.recipient = &leg->event.recipients[recipient->leg_recipient];
	recipient_r->reply = deciding_reply(view.recipient);
	recipient_r->latency = delivery_latency(&view);
	recipient_r->phase_count = lay_out(
	    builder, &view, PHASE_QUEUE, PHASE_LMTP_REPLY, recipient_r->phases);
}

static void
count_attempts(
    const struct message_record *record, struct timeline_recipient *recipients)
{
	for (size_t i = 0; i < record->attempt_count; i++) {
		const struct attempt_record *attempt = &record->attempts[i];

		if (attempt->recipient >= record->recipient_count)
			continue;
		recipients[attempt->recipient].attempt_count++;
		recipients[attempt->recipient].last_attempt = attempt;
	}
}

struct timeline *
timeline_build(const struct message_record *record, struct arena *arena)
{
	struct timeline *timeline = arena_alloc(arena, sizeof(*timeline));
	struct builder builder = {.timeline = timeline};
	struct phase_view view = {
	    .message = &builder.event, .message_boot_id = record->boot_id};

	if (timeline == NULL)
		return NULL;
	timeline->record = record;
	timeline->recipients = arena_alloc(
	    arena, record->recipient_count * sizeof(*timeline->recipients));
	if (timeline->recipients == NULL)
		return NULL;
	timeline->recipient_count = record->recipient_count;
	begin(&builder, record);
	timeline->start_wall_ns = builder.start.at.wall_ns;
	if (has_message(record))
		timeline->phase_count =
		    lay_out(&builder, &view, PHASE_CONNECT_TO_HELO,
			PHASE_CONTENT_TO_EOM, timeline->phases);
	for (size_t i = 0; i < record->recipient_count; i++)
		build_recipient(
		    &builder, &record->recipients[i], &timeline->recipients[i]);
	count_attempts(record, timeline->recipients);
	return timeline;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of a message's text about LMTP transactions. Called by
 * recipient_text.c for the headings of deliveries, and by timeline_text.c for
 * what decided nothing.
 */
#include "cli/delivery_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/duration_text.h"
#include "cli/recipient_text.h"
#include "cli/text_page.h"
#include "store/timeline.h"

enum {
	LEGS_SHOWN = 10, /* the last ones */
	REPLIES_SHOWN = 5,
	INDENT = 2
};

static const char *const leg_meanings[LEG_STATES] = {
    [LEG_WAITING] = "its stamp's message is not known yet",
    [LEG_STAMPED] = NULL,
    [LEG_QUEUE_ID] = "joined by queue id, without a stamp",
    [LEG_UNSTAMPED] = "no stamp, and no message with its queue id",
    [LEG_FOREIGN] = "its stamp is another mail's: not believed",
};

void
delivery_text_heading(
    struct text_page *page, const struct message_record *record, int leg)
{
	const struct leg_record *shown = &record->legs[leg];
	struct duration at = duration_between(
	    (struct moment){record->event.mail_at, record->boot_id},
	    (struct moment){shown->event.mail_at, shown->boot_id});
	char text[DURATION_TEXT_SIZE];

	page_colour(page, PAGE_BOLD);
	page_text(page, "delivery");
	if (at.state != DURATION_UNKNOWN) {
		offset_text(at.ns, page->style.utf8, text);
		page_format(page, " at %s", text);
	}
	if (shown->event.backend != NULL)
		page_format(page, " to %s", shown->event.backend);
	page_colour(page, PAGE_PLAIN);
	page_end_line(page);
	if (shown->state >= LEG_STATES || leg_meanings[shown->state] == NULL)
		return;
	page_pad(page, INDENT);
	page_wrapped(page, leg_meanings[shown->state]);
	page_end_line(page);
}

static bool
decided_something(const struct message_record *record, size_t leg)
{
	for (size_t i = 0; i < record->recipient_count; i++) {
		if (record->recipients[i].leg == (int)leg)
			return true;
	}
	return false;
}

/* Nothing for a transaction that went to its end. */
static void
ending_line(struct text_page *page, const struct delivery_event *event)
{
	if (event->ending == DELIVERY_ENDING_COMPLETED)
		return;
	page_pad(page, INDENT);
	if (event->ending == DELIVERY_ENDING_NONE)
		page_text(page, "not ended yet");
	else
		page_name(page, delivery_ending_name(event->ending));
	page_text(page, " after ");
	page_name(page, delivery_phase_name(event->phase));
	page_end_line(page);
}

/* What decides is the last reply, or a refusal before it. */
static char *
reply_words(const struct delivery_recipient *recipient)
{
	if (recipient->final.code != 0)
		return recipient_text_reply(&recipient->final);
	if (recipient->envelope.code / 100 > 2)
		return recipient_text_reply(&recipient->envelope);
	return memory_string("no reply");
}

static void
reply_lines(struct text_page *page, const struct delivery_event *event)
{
	size_t shown = event->recipient_count;

	if (shown > REPLIES_SHOWN)
		shown = REPLIES_SHOWN;
	for (size_t i = 0; i < shown; i++) {
		const struct delivery_recipient *recipient =
		    &event->recipients[i];
		char *reply = reply_words(recipient);

		page_pad(page, INDENT);
		page_format(page, "%s  ",
		    recipient->address != NULL ? recipient->address : "");
		page_wrapped(page, reply);
		page_end_line(page);
		free(reply);
	}
	if (event->recipient_count > shown) {
		page_pad(page, INDENT);
		page_format(page, "and %zu more recipients",
		    event->recipient_count - shown);
		page_end_line(page);
	}
}

/* Marks the legs that are to be shown; returns how many older ones are not. */
static size_t
choose(const struct message_record *record, bool *chosen)
{
	size_t others = 0, left_out;

	for (size_t i = 0; i < record->leg_count; i++) {
		chosen[i] = !decided_something(record, i);
		others += chosen[i];
	}
	left_out = others > LEGS_SHOWN ? others - LEGS_SHOWN : 0;
	for (size_t i = 0, skip = left_out; skip > 0; i++) {
		skip -= chosen[i];
		chosen[i] = false;
	}
	return left_out;
}

void
delivery_text_others(struct text_page *page, const struct timeline *timeline)
{
	const struct message_record *record = timeline->record;
	bool *chosen = memory_zeroed(record->leg_count, sizeof(*chosen));
	size_t left_out = choose(record, chosen);

	if (left_out > 0) {
		page_end_line(page);
		page_format(page,
		    "%zu earlier deliveries that decided nothing: see --json",
		    left_out);
		page_end_line(page);
	}
	for (size_t i = 0; i < record->leg_count; i++) {
		if (!chosen[i])
			continue;
		page_end_line(page);
		delivery_text_heading(page, record, (int)i);
		ending_line(page, &record->legs[i].event);
		reply_lines(page, &record->legs[i].event);
	}
	free(chosen);
}

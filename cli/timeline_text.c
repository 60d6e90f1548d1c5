/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of a message's text and the order of its parts. Called by
 * `postlag show`; recipients and deliveries are recipient_text.c's and
 * delivery_text.c's.
 */
#include "cli/timeline_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cli/delivery_text.h"
#include "cli/duration_text.h"
#include "cli/phase_text.h"
#include "cli/recipient_text.h"
#include "cli/text_page.h"
#include "store/timeline.h"

enum { VALUE_BEGIN = 12 };

static void
begin_field(struct text_page *page, const char *label)
{
	page_colour(page, PAGE_BOLD);
	page_text(page, label);
	page_colour(page, PAGE_PLAIN);
	page_pad(page, VALUE_BEGIN);
}

static void
field(struct text_page *page, const char *label, const char *value)
{
	if (value == NULL || value[0] == '\0')
		return;
	begin_field(page, label);
	page_wrapped(page, value);
	page_end_line(page);
}

static void
field_uuid(struct text_page *page, const char *label, const struct uuid *uuid)
{
	char text[UUID_TEXT_SIZE];

	if (!uuid_is_set(uuid))
		return;
	uuid_format(uuid, text);
	field(page, label, text);
}

static const struct leg_record *
first_leg(const struct message_record *record)
{
	static const struct leg_record none;

	return record->leg_count > 0 ? &record->legs[0] : &none;
}

/* The message's own value, else the first delivery's. */
static const char *
either(const char *message, const char *delivery)
{
	return message != NULL ? message : delivery;
}

/* Mail may be delivered under another queue id than it came in with. */
static void
field_queue_ids(struct text_page *page, const struct message_record *record)
{
	const char *last =
	    either(record->event.queue_id, first_leg(record)->event.queue_id);

	if (last == NULL)
		return;
	begin_field(page, "queue id");
	page_text(page, last);
	for (size_t i = 0; i < record->queue_id_count; i++) {
		last = record->queue_ids[i];
		page_format(page, ", then %s", last);
	}
	for (size_t i = 0; i < record->leg_count; i++) {
		const char *queue_id = record->legs[i].event.queue_id;

		if (queue_id == NULL || strcmp(queue_id, last) == 0 ||
		    record->legs[i].state == LEG_FOREIGN)
			continue;
		page_format(page, ", delivered as %s", queue_id);
		last = queue_id;
	}
	page_end_line(page);
}

static void
field_client(struct text_page *page, const struct message_event *event)
{
	if (event->client_address == NULL && event->client_name == NULL)
		return;
	begin_field(page, "client");
	if (event->client_name != NULL)
		page_text(page, event->client_name);
	if (event->client_address != NULL)
		page_format(page, "[%s]", event->client_address);
	if (event->client_port != 0)
		page_format(page, ":%" PRIu32, event->client_port);
	page_end_line(page);
}

static void
field_two(struct text_page *page, const char *label, const char *first,
    const char *second)
{
	if (first == NULL)
		return;
	begin_field(page, label);
	page_wrapped(page, first);
	if (second != NULL)
		page_format(page, " (%s)", second);
	page_end_line(page);
}

static void
field_sender(struct text_page *page, const char *sender)
{
	if (sender == NULL)
		return;
	begin_field(page, "from");
	page_format(page, "<%s>", sender);
	page_end_line(page);
}

static void
field_size(struct text_page *page, const struct message_record *record)
{
	struct {
		uint64_t bytes;
		const char *where;
	} sizes[] = {{0, "delivered"}, {record->size_bytes, "in the queue"},
	    {record->event.declared_bytes, "declared"}};
	const char *between = NULL;

	for (size_t i = 0; i < record->leg_count && sizes[0].bytes == 0; i++)
		sizes[0].bytes = record->legs[i].event.content_bytes;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i].bytes == 0)
			continue;
		if (between == NULL)
			begin_field(page, "size");
		else
			page_text(page, between);
		page_format(page, "%" PRIu64 " bytes %s", sizes[i].bytes,
		    sizes[i].where);
		between = ", ";
	}
	if (between != NULL)
		page_end_line(page);
}

/* The mail log is usually in local time. */
static void
field_started(struct text_page *page, int64_t wall_ns)
{
	char utc[CLOCK_TEXT_SIZE], here[64];
	time_t seconds = (time_t)(wall_ns / CLOCK_NS_PER_SECOND);
	struct tm local;

	if (wall_ns == 0)
		return;
	clock_format(wall_ns, utc);
	begin_field(page, "started");
	page_text(page, utc);
	if (localtime_r(&seconds, &local) != NULL && local.tm_gmtoff != 0 &&
	    strftime(here, sizeof(here), "%H:%M:%S %z", &local) > 0)
		page_format(page, " (%s)", here);
	page_end_line(page);
}

/* Every ending with a sentence that says what it means. */
static void
page_ending(struct text_page *page, const struct message_record *record)
{
	const struct message_event *event = &record->event;

	if (!uuid_is_set(&event->id)) {
		page_text(page, "delivered without a known beginning");
		return;
	}
	page_text(page, message_ending_name(event->ending));
	if (event->ending == MESSAGE_ENDING_LOGGED) {
		page_text(page, " by Postfix, not seen by the milter");
		return;
	}
	if (event->ending != MESSAGE_ENDING_ACCEPTED &&
	    event->phase != MESSAGE_PHASE_NONE)
		page_format(
		    page, " after %s", message_phase_name(event->phase));
}

static void
field_ending(struct text_page *page, const struct timeline *timeline)
{
	const struct message_record *record = timeline->record;
	struct duration after = duration_between(
	    (struct moment){record->event.mail_at, record->boot_id},
	    (struct moment){record->event.end_at, record->boot_id});
	char text[DURATION_TEXT_SIZE];

	begin_field(page, "ending");
	page_ending(page, record);
	if (after.state == DURATION_KNOWN) {
		offset_text(after.ns, page->style.utf8, text);
		page_format(page, " at %s", text);
	}
	page_end_line(page);
	begin_field(page, "recipients");
	recipient_text_summary(page, record);
	page_end_line(page);
}

/* Each that a recipient's mail took, in the order of recipients. */
static void
field_routes(struct text_page *page, const struct timeline *timeline)
{
	const struct timeline_recipient *recipients = timeline->recipients;
	bool begun = false;

	for (size_t i = 0; i < timeline->recipient_count; i++) {
		size_t first = 0;

		if (recipients[i].route == NULL)
			continue;
		while (recipients[first].route != recipients[i].route)
			first++;
		if (first < i)
			continue;
		if (begun)
			page_text(page, ", ");
		else
			begin_field(page, "route");
		begun = true;
		page_text(page, recipients[i].route);
	}
	if (begun)
		page_end_line(page);
}

static void
field_forged(struct text_page *page, uint32_t forged_stamps)
{
	if (forged_stamps == 0)
		return;
	begin_field(page, "forged");
	page_format(page, "%" PRIu32 " incoming stamp%s removed", forged_stamps,
	    forged_stamps == 1 ? "" : "s");
	page_end_line(page);
}

/* "root acknowledged the loss at 2026-11-30T08:00:00.000000Z: restored to mx2"
 */
static void
field_operations(struct text_page *page, const struct message_record *record)
{
	for (size_t i = 0; i < record->operation_count; i++) {
		const struct operation_record *operation =
		    &record->operations[i];
		char at[CLOCK_TEXT_SIZE];
		char *words;

		clock_format(operation->wall_ns, at);
		words = memory_format("%s acknowledged the loss at %s%s%s",
		    operation->who != NULL ? operation->who : "somebody", at,
		    operation->comment != NULL ? ": " : "",
		    operation->comment != NULL ? operation->comment : "");
		field(page, "operator", words);
		free(words);
	}
}

static void
head(struct text_page *page, const struct timeline *timeline)
{
	const struct message_record *record = timeline->record;
	const struct message_event *event = &record->event;
	const struct leg_record *leg = first_leg(record);

	field_uuid(page, "message", &event->id);
	field_uuid(page, "previous", &event->previous);
	field_queue_ids(page, record);
	field(page, "Message-ID",
	    either(event->message_id, leg->event.message_id));
	field_sender(page, either(event->sender, leg->event.sender));
	field_client(page, event);
	field(page, "helo", event->helo);
	field_two(page, "tls", event->tls_version, event->tls_cipher);
	field_two(page, "sasl", event->sasl_user, event->sasl_method);
	field(page, "instance", either(record->instance, leg->instance));
	field(page, "service", event->daemon_name);
	field(page, "run", either(event->run, leg->event.run));
	field_size(page, record);
	field_forged(page, event->forged_stamps);
	field_started(page, timeline->start_wall_ns);
	field_ending(page, timeline);
	field_routes(page, timeline);
	field_operations(page, record);
}

void
timeline_text(const struct timeline *timeline, const struct text_style *style,
    struct buffer *out)
{
	struct text_page page = {*style, out, 0};

	head(&page, timeline);
	if (timeline->first_offset_ns < timeline->last_offset_ns) {
		page_end_line(&page);
		phase_text_heading(&page, timeline);
	}
	phase_text_rows(
	    &page, timeline, timeline->phases, timeline->phase_count);
	recipient_text_groups(&page, timeline);
	delivery_text_others(&page, timeline);
}

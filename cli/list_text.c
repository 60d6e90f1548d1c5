/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by queue.c. */
#include "cli/list_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "cli/attempt_text.h"
#include "cli/drain_text.h"
#include "cli/duration_text.h"
#include "cli/fate_text.h"
#include "cli/recipient_text.h"
#include "cli/text_page.h"
#include "store/timeline.h"

enum {
	RECIPIENTS_SHOWN = 5, /* of a message */
	AGE_END = 10,
	QUEUE_ID_BEGIN = 12,
	SENDER_BEGIN = 29,
	INDENT = 12,
	STATE_COLUMNS = 11,
	WORDS_INDENT = 14
};

/* "12 messages, 15 recipients: 9 in flight, 6 deferred" */
static void
totals_line(struct text_page *page, const struct list *list)
{
	const struct open_answer *answer = list->answer;
	const char *between = ": ";
	uint64_t recipients = 0;

	if (answer->messages == 0) {
		page_text(page, list->kind == OPEN_QUEUED
				    ? "nothing known to be in the queue"
				    : "nothing known to be lost");
		page_end_line(page);
		return;
	}
	for (int i = 0; i < RECIPIENT_STATES; i++)
		recipients += answer->recipients[i];
	page_format(page, "%" PRIu64 " message%s, %" PRIu64 " recipient%s",
	    answer->messages, answer->messages == 1 ? "" : "s", recipients,
	    recipients == 1 ? "" : "s");
	for (int i = 0; i < RECIPIENT_STATES; i++) {
		if (answer->recipients[i] == 0)
			continue;
		page_format(
		    page, "%s%" PRIu64 " ", between, answer->recipients[i]);
		fate_text_state(page, i);
		between = ", ";
	}
	page_end_line(page);
}

/* Which of them follow, if not all. */
static void
selection_line(struct text_page *page, const struct list *list)
{
	const struct open_answer *answer = list->answer;

	if (answer->messages <= answer->count)
		return;
	if (list->drain != NULL)
		page_end_line(page);
	page_format(page, "the %s %zu of them:",
	    list->kind == OPEN_QUEUED ? "oldest" : "newest", answer->count);
	page_end_line(page);
}

/* When something was last seen of a recipient. */
static int64_t
last_seen_ns(const struct message_record *record,
    const struct timeline_recipient *recipient)
{
	int64_t last_ns = record_begin_ns(record);

	if (record->event.eom_at.wall_ns > last_ns)
		last_ns = record->event.eom_at.wall_ns;
	if (recipient->last_attempt != NULL &&
	    recipient->last_attempt->wall_ns > last_ns)
		last_ns = recipient->last_attempt->wall_ns;
	for (size_t i = 0; i < record->leg_count; i++) {
		if (record->legs[i].event.end_at.wall_ns > last_ns)
			last_ns = record->legs[i].event.end_at.wall_ns;
	}
	return last_ns;
}

/* When it was last tried to deliver to it; 0: never, as far as is known. */
static int64_t
last_tried_ns(
    const struct timeline *timeline, const struct timeline_recipient *recipient)
{
	const struct message_record *record = timeline->record;
	int64_t last_ns = 0;

	if (recipient->last_attempt != NULL)
		return attempt_text_wall_ns(timeline, recipient->last_attempt);
	for (size_t i = 0;
	     recipient->record->attempts > 0 && i < record->leg_count; i++) {
		if (record->legs[i].event.end_at.wall_ns > last_ns)
			last_ns = record->legs[i].event.end_at.wall_ns;
	}
	return last_ns;
}

static void
page_age(struct text_page *page, const struct list *list, int64_t wall_ns)
{
	int64_t age_ns = list->now_wall_ns - wall_ns;
	char text[DURATION_TEXT_SIZE];

	duration_text(age_ns > 0 ? age_ns : 0, page->style.utf8, text);
	page_text(page, text);
}

static void
recipient_lines(struct text_page *page, const struct list *list,
    const struct timeline *timeline, const struct timeline_recipient *recipient)
{
	char *why = recipient_text_why(timeline, recipient);
	int64_t last_ns;

	page_pad(page, INDENT);
	fate_text_state(page, recipient->record->state);
	page_pad(page, INDENT + STATE_COLUMNS);
	page_text(page, recipient->record->address);
	last_ns = list->kind == OPEN_QUEUED
		      ? last_tried_ns(timeline, recipient)
		      : last_seen_ns(timeline->record, recipient);
	if (last_ns != 0) {
		page_text(page, list->kind == OPEN_QUEUED ? ", last tried "
							  : ", last seen ");
		page_age(page, list, last_ns);
		page_text(page, " ago");
	}
	page_end_line(page);
	if (why[0] != '\0') {
		page_pad(page, WORDS_INDENT);
		page_wrapped(page, why);
		page_end_line(page);
	}
	free(why);
}

/* What operators said of it. */
static void
operation_lines(struct text_page *page, const struct list *list,
    const struct message_record *record)
{
	for (size_t i = 0; i < record->operation_count; i++) {
		const struct operation_record *operation =
		    &record->operations[i];

		page_pad(page, INDENT);
		page_text(
		    page, operation->who != NULL ? operation->who : "somebody");
		page_text(page, " acknowledged the loss ");
		page_age(page, list, operation->wall_ns);
		page_text(page, " ago");
		page_end_line(page);
		if (operation->comment == NULL)
			continue;
		page_pad(page, WORDS_INDENT);
		page_wrapped(page, operation->comment);
		page_end_line(page);
	}
}

/* By what a message is asked for. `id` is its room. */
static const char *
key_of(const struct message_record *record, char id[UUID_TEXT_SIZE])
{
	uuid_format(&record->event.id, id);
	return record->event.queue_id != NULL ? record->event.queue_id : id;
}

static void
message_lines(struct text_page *page, const struct list *list,
    const struct timeline *timeline)
{
	const struct message_event *event = &timeline->record->event;
	char text[DURATION_TEXT_SIZE], id[UUID_TEXT_SIZE];
	int64_t age_ns = list->now_wall_ns - record_begin_ns(timeline->record);
	size_t shown = 0, others = 0;

	duration_text(age_ns > 0 ? age_ns : 0, page->style.utf8, text);
	page_right(page, text, AGE_END);
	page_pad(page, QUEUE_ID_BEGIN);
	page_colour(page, PAGE_BOLD);
	page_text(page, key_of(timeline->record, id));
	page_colour(page, PAGE_PLAIN);
	page_pad(page, SENDER_BEGIN);
	if (event->sender != NULL)
		page_format(page, "from <%s>", event->sender);
	page_end_line(page);
	for (size_t i = 0; i < timeline->recipient_count; i++) {
		const struct timeline_recipient *recipient =
		    &timeline->recipients[i];

		if (!open_kind_has(list->kind, recipient->record))
			continue;
		if (shown++ < RECIPIENTS_SHOWN)
			recipient_lines(page, list, timeline, recipient);
		else
			others++;
	}
	if (others > 0) {
		page_pad(page, INDENT);
		page_format(page, "and %zu more", others);
		page_end_line(page);
	}
	if (list->kind == OPEN_EVER_MISSING)
		operation_lines(page, list, timeline->record);
}

static void
hint_lines(struct text_page *page, const struct message_record *record)
{
	char id[UUID_TEXT_SIZE];
	const char *key = key_of(record, id);

	page_end_line(page);
	page_format(page, "All that is known of it:    postlag show %s", key);
	page_end_line(page);
	page_format(page,
	    "You know what became of it: postlag ack %s --comment TEXT", key);
	page_end_line(page);
}

int
list_text(const struct list *list, const struct text_style *style,
    struct arena *arena, struct buffer *out)
{
	struct text_page page = {*style, out, 0};

	totals_line(&page, list);
	if (list->drain != NULL)
		drain_text(&page, list->drain, arena);
	selection_line(&page, list);
	for (size_t i = 0; i < list->answer->count; i++) {
		struct timeline *timeline =
		    timeline_build(&list->answer->records[i], arena);

		if (timeline == NULL)
			return -1;
		page_end_line(&page);
		message_lines(&page, list, timeline);
	}
	if (list->with_hint && list->kind != OPEN_QUEUED &&
	    list->answer->count > 0)
		hint_lines(&page, &list->answer->records[0]);
	return 0;
}

int
list_json(const struct list *list, struct arena *arena, struct buffer *out)
{
	const struct open_answer *answer = list->answer;
	const char *between = "";
	char text[64];

	snprintf(text, sizeof(text), "{\"total_messages\": %" PRIu64 ",\n",
	    answer->messages);
	buffer_append_string(out, text);
	buffer_append_string(out, "\"total_recipients\": {");
	for (int i = 0; i < RECIPIENT_STATES; i++) {
		if (!open_kind_may_be(list->kind, i))
			continue;
		snprintf(text, sizeof(text), "%s\"%s\": %" PRIu64, between,
		    recipient_state_name(i), answer->recipients[i]);
		buffer_append_string(out, text);
		between = ", ";
	}
	buffer_append_string(out, "},\n");
	if (list->drain != NULL) {
		buffer_append_string(out, "\"destinations\": ");
		drain_json(list->drain, out);
		buffer_append_string(out, ",\n");
	}
	buffer_append_string(out, "\"messages\": [");
	if (timelines_json(answer->records, answer->count, arena, out) != 0)
		return -1;
	buffer_append_string(out, "\n]}\n");
	return 0;
}

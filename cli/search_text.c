/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by search.c. */
#include "cli/search_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/duration_text.h"
#include "cli/fate_text.h"
#include "cli/recipient_text.h"
#include "cli/text_page.h"
#include "store/query_search.h"
#include "store/search.h"
#include "store/timeline.h"

enum {
	RECIPIENTS_SHOWN = 5, /* of a message */
	QUEUE_ID_BEGIN = 21,
	SENDER_BEGIN = 38,
	INDENT = 4,
	ADDRESS_BEGIN = 16,
	WORDS_INDENT = 8
};

static void
message_line(struct text_page *page, const struct message_record *record)
{
	const struct message_event *event = &record->event;
	const char *queue_id = event->queue_id, *sender = event->sender;
	char id[UUID_TEXT_SIZE];

	if (!uuid_is_set(&event->id) && record->leg_count > 0) {
		queue_id = record->legs[0].event.queue_id;
		sender = record->legs[0].event.sender;
	}
	uuid_format(&event->id, id);
	page_time(page, record_begin_ns(record));
	page_pad(page, QUEUE_ID_BEGIN);
	page_colour(page, PAGE_BOLD);
	page_text(page, queue_id != NULL ? queue_id : id);
	page_colour(page, PAGE_PLAIN);
	page_pad(page, SENDER_BEGIN);
	if (sender != NULL)
		page_format(page,
		    strcmp(sender, "<>") == 0 ? "from %s" : "from <%s>",
		    sender);
	page_end_line(page);
}

/* Of a delivered one all is said. */
static void
page_why(struct text_page *page, const struct timeline *timeline,
    const struct timeline_recipient *recipient)
{
	char *why;

	if (recipient->record->state == RECIPIENT_DELIVERED)
		return;
	why = recipient_text_why(timeline, recipient);
	if (*why != '\0') {
		page_pad(page, WORDS_INDENT);
		page_wrapped(page, why);
		page_end_line(page);
	}
	free(why);
}

static void
recipient_lines(struct text_page *page, const struct timeline *timeline,
    const struct timeline_recipient *recipient)
{
	const struct recipient_record *record = recipient->record;
	char took[DURATION_TEXT_SIZE];

	page_pad(page, INDENT);
	fate_text_state(page, record->state);
	page_pad(page, ADDRESS_BEGIN);
	page_text(page, record->address);
	if (record->original != NULL)
		page_format(page, ", for %s", record->original);
	if (recipient->latency.state == DURATION_KNOWN) {
		duration_text(recipient->latency.ns, page->style.utf8, took);
		page_format(page, ", in %s", took);
	}
	page_end_line(page);
	page_why(page, timeline, recipient);
}

int
search_text_hit(const struct search_hit *hit, const struct text_style *style,
    struct arena *arena, struct buffer *out)
{
	struct timeline *timeline = timeline_build(&hit->record, arena);
	struct text_page page = {*style, out, 0};
	size_t meant = 0;

	if (timeline == NULL)
		return -1;
	message_line(&page, &hit->record);
	for (size_t i = 0; i < timeline->recipient_count; i++)
		if (hit->meant[i] && meant++ < RECIPIENTS_SHOWN)
			recipient_lines(
			    &page, timeline, &timeline->recipients[i]);
	if (meant > RECIPIENTS_SHOWN) {
		page_pad(&page, INDENT);
		page_format(&page, "and %zu more", meant - RECIPIENTS_SHOWN);
		page_end_line(&page);
	}
	return 0;
}

void
search_text_error(const char *text, const struct search_error *error,
    const struct text_style *style, struct buffer *out)
{
	struct text_page page = {*style, out, 0};
	char *before = strndup(text, error->at);
	char *word = strndup(text + error->at, error->size);

	page_format(&page, "postlag: %s", error->reason.text);
	page_end_line(&page);
	page_format(&page, "  %s", text);
	page_end_line(&page);
	if (before != NULL && word != NULL) {
		page_pad(&page, 2 + page_columns(before));
		for (unsigned i = page_columns(word); i > 0; i--)
			page_text(&page, "^");
		page_end_line(&page);
	}
	free(before);
	free(word);
}

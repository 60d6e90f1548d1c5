/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by watch.c for each line. */
#include "cli/watch_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/json_text.h"
#include "cli/duration_text.h"
#include "cli/fate_text.h"
#include "cli/recipient_text.h"
#include "cli/text_page.h"
#include "store/query_feed.h"
#include "store/search_match.h"
#include "store/timeline.h"

enum {
	QUEUE_ID_BEGIN = 21,
	STATE_BEGIN = 38,
	LATENCY_END = 58,
	ADDRESSES_BEGIN = 60
};

#define BIT(name) (UINT32_C(1) << RECIPIENT_##name)
#define OPEN (BIT(IN_FLIGHT) | BIT(DEFERRED) | BIT(HELD))
/* Somebody answered for the recipient, so that there is a time for it. */
#define ANSWERED                                                               \
	(BIT(DELIVERED) | BIT(BOUNCED) | BIT(RELAYED) | BIT(HANDED_OFF) |      \
	    BIT(DISCARDED))
#define SENT (BIT(DELIVERED) | BIT(RELAYED) | BIT(HANDED_OFF))

/* What a line says. */
struct line {
	const struct feed_hit *hit;
	const struct recipient_record *recipient;
	const char *queue_id, *sender, *relay;
	bool is_accepted; /* nothing more is known of it yet */
	int64_t wall_ns;
	int64_t took_ns; /* since MAIL FROM; -1: not known, or none */
};

static bool
is_in(enum recipient_state state, uint32_t states)
{
	return (states >> state & 1) != 0;
}

static const struct attempt_record *
last_attempt(const struct message_record *record)
{
	return record->attempt_count > 0
		   ? &record->attempts[record->attempt_count - 1]
		   : NULL;
}

/* The log tells when an attempt was; what nobody's reply or line tells happened
 * when it was noticed. */
static void
find_time(struct line *line)
{
	const struct message_record *record = &line->hit->record;
	const struct attempt_record *attempt = last_attempt(record);
	enum recipient_state state = line->recipient->state;
	int64_t begin_ns = record_begin_ns(record);

	line->wall_ns = line->hit->wall_ns;
	line->took_ns = -1;
	if (line->is_accepted) {
		line->wall_ns = stamp_is_set(&record->event.eom_at)
				    ? record->event.eom_at.wall_ns
				    : begin_ns;
		return;
	}
	if (is_in(state, ANSWERED))
		line->took_ns =
		    search_recipient_took_ns(record, 0, line->wall_ns);
	else if (is_in(state, OPEN))
		line->took_ns =
		    (attempt != NULL ? attempt->wall_ns : line->wall_ns) -
		    begin_ns;
	if (line->took_ns >= 0)
		line->wall_ns = begin_ns + line->took_ns;
}

static const char *
relay_of(const struct line *line)
{
	const struct message_record *record = &line->hit->record;
	const struct attempt_record *attempt = last_attempt(record);
	int leg = line->recipient->leg;

	if (line->is_accepted)
		return NULL;
	if (leg >= 0)
		return record->legs[leg].event.backend;
	if (attempt != NULL)
		return attempt->relay;
	return record->leg_count > 0
		   ? record->legs[record->leg_count - 1].event.backend
		   : NULL;
}

static struct line
line_of(const struct feed_hit *hit)
{
	const struct message_record *record = &hit->record;
	struct line line = {.hit = hit,
	    .recipient = &record->recipients[0],
	    .queue_id = record->event.queue_id,
	    .sender = record->event.sender};

	if (record->leg_count > 0 && line.queue_id == NULL)
		line.queue_id = record->legs[0].event.queue_id;
	if (record->leg_count > 0 && line.sender == NULL)
		line.sender = record->legs[0].event.sender;
	line.is_accepted =
	    hit->is_begun && line.recipient->state == RECIPIENT_IN_FLIGHT;
	find_time(&line);
	line.relay = relay_of(&line);
	return line;
}

/* Why it is so, where that is not plain, to be freed. NULL without memory. */
static char *
why(const struct line *line, struct arena *arena)
{
	const struct timeline *timeline =
	    timeline_build(&line->hit->record, arena);

	return timeline != NULL
		   ? recipient_text_why(timeline, &timeline->recipients[0])
		   : NULL;
}

static void
page_outcome(struct text_page *page, const struct line *line)
{
	char took[DURATION_TEXT_SIZE];

	page_pad(page, STATE_BEGIN);
	if (line->is_accepted)
		page_text(page, "accepted");
	else
		fate_text_state(page, line->recipient->state);
	if (line->took_ns >= 0) {
		duration_text(line->took_ns, page->style.utf8, took);
		page_right(page, took, LATENCY_END);
	}
}

static void
page_rest(struct text_page *page, const struct line *line, const char *words)
{
	const struct feed_hit *hit = line->hit;

	page_pad(page, ADDRESSES_BEGIN);
	page_format(page, "%s -> %s", line->sender != NULL ? line->sender : "?",
	    line->recipient->address);
	if (line->relay != NULL)
		page_format(page, "  via %s", line->relay);
	if (!hit->is_begun && hit->from != RECIPIENT_IN_FLIGHT &&
	    !is_in(hit->from, OPEN)) {
		page_text(page, "  was ");
		page_name(page, recipient_state_name(hit->from));
	}
	if (words != NULL && *words != '\0')
		page_format(page, "  %s", words);
	page_end_line(page);
}

int
watch_text_line(const struct feed_hit *hit, const struct text_style *style,
    struct arena *arena, struct buffer *out)
{
	const struct line line = line_of(hit);
	struct text_page page = {*style, out, 0};
	char *words = NULL;

	if (!line.is_accepted && !is_in(line.recipient->state, SENT)) {
		words = why(&line, arena);
		if (words == NULL)
			return -1;
	}
	page_time(&page, line.wall_ns);
	page_pad(&page, QUEUE_ID_BEGIN);
	page_colour(&page, PAGE_BOLD);
	page_text(&page, line.queue_id != NULL ? line.queue_id : "-");
	page_colour(&page, PAGE_PLAIN);
	page_outcome(&page, &line);
	page_rest(&page, &line, words);
	free(words);
	return 0;
}

static void
put_text(struct buffer *out, const char *name, const char *text)
{
	buffer_append_format(out, ", \"%s\": ", name);
	json_text(out, text);
}

static void
put_id(struct buffer *out, const struct message_record *record)
{
	char id[UUID_TEXT_SIZE];

	uuid_format(&record->event.id, id);
	put_text(out, "id", uuid_is_set(&record->event.id) ? id : NULL);
}

int
watch_json_line(
    const struct feed_hit *hit, struct arena *arena, struct buffer *out)
{
	const struct line line = line_of(hit);
	char time[CLOCK_TEXT_SIZE], *words = why(&line, arena);

	if (words == NULL)
		return -1;
	clock_format(line.wall_ns, time);
	buffer_append_format(out, "{\"time\": \"%s\"", time);
	put_text(out, "queue_id", line.queue_id);
	put_id(out, &hit->record);
	put_text(out, "from", line.sender);
	put_text(out, "to", line.recipient->address);
	put_text(out, "outcome", recipient_state_name(line.recipient->state));
	put_text(
	    out, "was", hit->is_begun ? NULL : recipient_state_name(hit->from));
	if (line.took_ns >= 0)
		buffer_append_format(out, ", \"latency\": %.9f",
		    (double)line.took_ns / CLOCK_NS_PER_SECOND);
	else
		buffer_append_string(out, ", \"latency\": null");
	put_text(out, "relay", line.relay);
	put_text(out, "why", *words != '\0' ? words : NULL);
	buffer_append_string(out, "}\n");
	free(words);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of a message's text about its recipients. Called by timeline_text.c;
 * groups and verdicts are sets taken out of the timeline's recipients, in their
 * order.
 */
#include "cli/recipient_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "cli/attempt_text.h"
#include "cli/delivery_text.h"
#include "cli/duration_text.h"
#include "cli/fate_text.h"
#include "cli/filing_text.h"
#include "cli/phase_text.h"
#include "cli/text_page.h"
#include "store/timeline.h"

enum {
	COMPACT_FROM = 10, /* recipients with one verdict in one line */
	INDENT = 2,
	ADDRESS_LEAST = 12,
	ADDRESS_MOST = 34,
	STATE_COLUMNS = 10,
	LATENCY_COLUMNS = 11,
	REPLY_LEAST = 24 /* columns; else the reply has lines of its own */
};

struct set {
	const struct timeline_recipient **items;
	size_t count;
};

/* ", 2 delivered", in a line of its own when this one is full. */
static void
summary_item(struct text_page *page, unsigned left, size_t count,
    enum recipient_state state)
{
	char *words =
	    memory_format(", %zu %s,", count, recipient_state_name(state));

	if (page->column > left)
		page_text(page, ",");
	if (page->column + page_columns(words) > page->style.width) {
		page_end_line(page);
		page_pad(page, left);
	} else if (page->column > left) {
		page_text(page, " ");
	}
	page_format(page, "%zu ", count);
	fate_text_state(page, state);
	free(words);
}

void
recipient_text_summary(
    struct text_page *page, const struct message_record *record)
{
	size_t counts[RECIPIENT_STATES] = {0};
	unsigned left = page->column;

	for (size_t i = 0; i < record->recipient_count; i++) {
		if (record->recipients[i].state < RECIPIENT_STATES)
			counts[record->recipients[i].state]++;
	}
	if (record->recipient_count == 0)
		page_text(page, "none");
	for (int state = 0; state < RECIPIENT_STATES; state++) {
		if (counts[state] > 0)
			summary_item(page, left, counts[state], state);
	}
	if (record->event.recipients_omitted > 0)
		page_format(page, "; %" PRIu32 " more not recorded",
		    record->event.recipients_omitted);
}

/* Which way a recipient went: its delivery and the phases it shares with
 * others; without a delivery, its state. */
static bool
same_way(const struct timeline_recipient *left,
    const struct timeline_recipient *right)
{
	if (left->record->leg != right->record->leg ||
	    left->phase_count != right->phase_count)
		return false;
	if (left->record->leg < 0)
		return left->record->state == right->record->state;
	for (size_t i = 0; i < left->phase_count; i++) {
		const struct timeline_phase *a = &left->phases[i];
		const struct timeline_phase *b = &right->phases[i];

		if (a->phase != b->phase || a->skewed != b->skewed ||
		    a->offset_ns != b->offset_ns)
			return false;
		if (a->phase != PHASE_LMTP_REPLY &&
		    a->duration_ns != b->duration_ns)
			return false;
	}
	return true;
}

static bool
same_text(const char *left, const char *right)
{
	if (left == NULL || right == NULL)
		return left == right;
	return strcmp(left, right) == 0;
}

/* What came of a recipient and why. The text of a good reply is the server's
 * note to itself and different each time. */
static bool
same_verdict(const struct timeline_recipient *left,
    const struct timeline_recipient *right)
{
	const struct delivery_reply *a = left->reply, *b = right->reply;

	if (left->record->state != right->record->state ||
	    left->record->expected != right->record->expected ||
	    left->record->reason != right->record->reason ||
	    left->record->attempts != right->record->attempts ||
	    !same_text(left->record->original, right->record->original) ||
	    !attempt_text_same(left, right) || (a == NULL) != (b == NULL) ||
	    !filing_text_same(left->record, right->record) ||
	    !same_text(left->record->reject_dsn, right->record->reject_dsn) ||
	    !same_text(left->record->reject_text, right->record->reject_text))
		return false;
	if (a == NULL)
		return true;
	return a->code == b->code && same_text(a->enhanced, b->enhanced) &&
	       (a->code / 100 == 2 || same_text(a->text, b->text));
}

static struct set
set_new(size_t size)
{
	struct set set = {memory_zeroed(size, sizeof(set.items[0])), 0};

	return set;
}

/* Moves the first of `from`, and all that are the same, into `chosen`. */
static void
take_same(struct set *from, struct set *chosen,
    bool (*same)(const struct timeline_recipient *left,
	const struct timeline_recipient *right))
{
	const struct timeline_recipient *first = from->items[0];
	size_t kept = 0;

	chosen->count = 0;
	for (size_t i = 0; i < from->count; i++) {
		if (same(first, from->items[i]))
			chosen->items[chosen->count++] = from->items[i];
		else
			from->items[kept++] = from->items[i];
	}
	from->count = kept;
}

char *
recipient_text_reply(const struct delivery_reply *reply)
{
	return memory_format("%" PRIu32 "%s%s%s%s", reply->code,
	    reply->enhanced != NULL ? " " : "",
	    reply->enhanced != NULL ? reply->enhanced : "",
	    reply->text != NULL ? " " : "",
	    reply->text != NULL ? reply->text : "");
}

/* The last reply to a recipient that no delivery decided. */
static const struct delivery_reply *
last_reply(const struct message_record *record, const char *address)
{
	for (size_t i = record->leg_count; i > 0; i--) {
		const struct delivery_event *event = &record->legs[i - 1].event;

		for (size_t j = 0; j < event->recipient_count; j++) {
			const struct delivery_recipient *recipient =
			    &event->recipients[j];

			if (recipient->address == NULL ||
			    strcasecmp(recipient->address, address) != 0)
				continue;
			if (recipient->final.code != 0)
				return &recipient->final;
			if (recipient->envelope.code / 100 > 2)
				return &recipient->envelope;
		}
	}
	return NULL;
}

/* Whether the log's lines stand in a table below; then they need not stand
 * beside the recipient, too. A single one would repeat the hook's reply. */
static bool
has_table(const struct timeline_recipient *recipient)
{
	return recipient->attempt_count > (recipient->record->leg >= 0);
}

/* Whoever refused or answered, in its own words. To be freed. */
static char *
verdict_words(const struct timeline *timeline,
    const struct timeline_recipient *recipient, bool with_table)
{
	const struct recipient_record *record = recipient->record;
	const struct delivery_reply *reply = recipient->reply;

	if (record->reject_dsn != NULL || record->reject_text != NULL)
		return memory_format("%s %s",
		    record->reject_dsn != NULL ? record->reject_dsn : "",
		    record->reject_text != NULL ? record->reject_text : "");
	if (reply == NULL && recipient->attempt_count > 0)
		return with_table ? memory_string("")
				  : attempt_text_words(recipient->last_attempt);
	if (reply == NULL)
		reply = last_reply(timeline->record, record->address);
	if (reply != NULL)
		return recipient_text_reply(reply);
	if (record->state != RECIPIENT_IN_FLIGHT)
		return memory_string("");
	return memory_string(
	    record->attempts > 0 ? "no reply yet" : "no attempt seen yet");
}

/* Which address Postfix had in its place. To be freed. */
static char *
origin_words(
    const struct timeline *timeline, const struct timeline_recipient *recipient)
{
	const struct recipient_record *record = recipient->record;

	if (record->original != NULL)
		return memory_format("addressed to %s", record->original);
	if (!record->expected && uuid_is_set(&timeline->record->event.id) &&
	    timeline->record->event.ending != MESSAGE_ENDING_LOGGED)
		return memory_string("not in the envelope");
	return memory_string("");
}

/* Adds a part of the sentence, and frees it. */
static void
append_part(struct buffer *text, char *part)
{
	if (*part != '\0' && text->size > 0)
		buffer_append_string(text, "; ");
	buffer_append_string(text, part);
	free(part);
}

/* "3 attempts, the last: " and the words, if there are any. To be freed. */
static char *
counted_words(const struct timeline *timeline,
    const struct timeline_recipient *recipient, bool with_table)
{
	char *words = verdict_words(timeline, recipient, with_table), *text;
	size_t count = recipient->record->attempts;

	if (recipient->attempt_count > count && !with_table)
		count = recipient->attempt_count;
	if (count < 2 || words[0] == '\0')
		return words;
	text = memory_format("%zu attempts, the last: %s", count, words);
	free(words);
	return text;
}

static char *
why(const struct timeline *timeline, const struct timeline_recipient *recipient,
    bool with_table)
{
	const struct recipient_record *record = recipient->record;
	struct buffer text = {.data = NULL};
	char *whole;

	append_part(&text, origin_words(timeline, recipient));
	append_part(&text, memory_string(fate_text_reason(record)));
	append_part(&text, filing_text_words(record));
	append_part(&text, counted_words(timeline, recipient, with_table));
	buffer_append(&text, "", 1);
	whole = memory_string((const char *)text.data);
	buffer_free(&text);
	return whole;
}

char *
recipient_text_why(
    const struct timeline *timeline, const struct timeline_recipient *recipient)
{
	return why(timeline, recipient, false);
}

static void
page_why(struct text_page *page, const struct timeline *timeline,
    const struct timeline_recipient *recipient, bool with_table)
{
	char *text = why(timeline, recipient, with_table);

	if (text[0] != '\0' && page->column + REPLY_LEAST > page->style.width) {
		page_end_line(page);
		page_pad(page, (unsigned)INDENT * 2);
	}
	if (text[0] != '\0') {
		page_pad(page, page->column + 2);
		page_wrapped(page, text);
	}
	page_end_line(page);
	free(text);
}

static void
page_latency(struct text_page *page, struct duration latency, unsigned column)
{
	char text[DURATION_TEXT_SIZE] = "";

	if (latency.state == DURATION_KNOWN)
		duration_text(latency.ns, page->style.utf8, text);
	page_right(page, text, column);
}

static unsigned
address_columns(const struct set *set)
{
	unsigned most = ADDRESS_LEAST;

	for (size_t i = 0; i < set->count; i++) {
		unsigned columns = page_columns(set->items[i]->record->address);

		if (columns > most)
			most = columns;
	}
	return most < ADDRESS_MOST ? most : ADDRESS_MOST;
}

static void
recipient_line(struct text_page *page, const struct timeline *timeline,
    const struct timeline_recipient *recipient, unsigned columns)
{
	unsigned state_begin = INDENT + columns + 2;
	unsigned latency_end = state_begin + STATE_COLUMNS + LATENCY_COLUMNS;

	page_pad(page, INDENT);
	page_text(page, recipient->record->address);
	page_pad(page, state_begin);
	fate_text_state(page, recipient->record->state);
	if (recipient->latency.state != DURATION_UNKNOWN)
		page_latency(page, recipient->latency, latency_end);
	page_why(page, timeline, recipient, has_table(recipient));
	if (has_table(recipient))
		attempt_text_table(page, timeline, recipient);
}

/* "  50 delivered after 1.20 s to 1.48 s  250 2.0.0 Saved" and the addresses
 * below. */
static void
compact_lines(struct text_page *page, const struct timeline *timeline,
    const struct set *set)
{
	int64_t least = INT64_MAX, most = -1;
	char from[DURATION_TEXT_SIZE], to[DURATION_TEXT_SIZE];

	for (size_t i = 0; i < set->count; i++) {
		struct duration latency = set->items[i]->latency;

		if (latency.state != DURATION_KNOWN)
			continue;
		least = latency.ns < least ? latency.ns : least;
		most = latency.ns > most ? latency.ns : most;
	}
	page_pad(page, INDENT);
	page_format(page, "%zu ", set->count);
	fate_text_state(page, set->items[0]->record->state);
	if (most >= 0) {
		duration_text(least, page->style.utf8, from);
		duration_text(most, page->style.utf8, to);
		page_format(page, " after %s", from);
		if (strcmp(from, to) != 0)
			page_format(page, " to %s", to);
	}
	page_why(page, timeline, set->items[0], false);
	page_pad(page, (unsigned)INDENT * 2);
	for (size_t i = 0; i < set->count; i++)
		page_word(
		    page, set->items[i]->record->address, (unsigned)INDENT * 2);
	page_end_line(page);
}

static void
verdict_lines(struct text_page *page, const struct timeline *timeline,
    const struct set *set, unsigned columns)
{
	if (set->count >= COMPACT_FROM) {
		compact_lines(page, timeline, set);
		return;
	}
	for (size_t i = 0; i < set->count; i++)
		recipient_line(page, timeline, set->items[i], columns);
}

/* The phases of a group. Of a reply that came at different times, the last. */
static void
group_phases(struct text_page *page, const struct timeline *timeline,
    const struct set *group)
{
	struct timeline_phase phases[PHASES];
	size_t count = group->items[0]->phase_count;

	for (size_t i = 0; i < count; i++) {
		phases[i] = group->items[0]->phases[i];
		for (size_t j = 1; j < group->count; j++) {
			const struct timeline_phase *other =
			    &group->items[j]->phases[i];

			if (other->duration_ns > phases[i].duration_ns)
				phases[i] = *other;
		}
	}
	phase_text_rows(page, timeline, phases, count);
}

static void
group_heading(struct text_page *page, const struct timeline *timeline,
    const struct set *group)
{
	const struct recipient_record *first = group->items[0]->record;

	if (first->leg >= 0) {
		delivery_text_heading(page, timeline->record, first->leg);
		return;
	}
	page_colour(page, PAGE_BOLD);
	page_text(page, fate_text_heading(first->state));
	page_colour(page, PAGE_PLAIN);
	page_end_line(page);
}

static void
group_lines(
    struct text_page *page, const struct timeline *timeline, struct set *group)
{
	struct set verdict = set_new(group->count);
	unsigned columns = address_columns(group);

	page_end_line(page);
	group_heading(page, timeline, group);
	group_phases(page, timeline, group);
	while (group->count > 0) {
		take_same(group, &verdict, same_verdict);
		verdict_lines(page, timeline, &verdict, columns);
	}
	free(verdict.items);
}

void
recipient_text_groups(struct text_page *page, const struct timeline *timeline)
{
	struct set rest = set_new(timeline->recipient_count);
	struct set group = set_new(timeline->recipient_count);

	for (size_t i = 0; i < timeline->recipient_count; i++)
		rest.items[rest.count++] = &timeline->recipients[i];
	while (rest.count > 0) {
		take_same(&rest, &group, same_way);
		group_lines(page, timeline, &group);
	}
	free(group.items);
	free(rest.items);
}

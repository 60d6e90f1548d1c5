/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of a message's text about the delivery agents' lines in the log.
 * Called by recipient_text.c and list_text.c.
 */
#include "cli/attempt_text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cli/duration_text.h"
#include "cli/text_page.h"
#include "store/timeline.h"

enum {
	SHOWN = 5, /* the last ones */
	INDENT = 4,
	TIME_END = 15,
	AGENT_BEGIN = 17,
	STATUS_BEGIN = 25,
	WORDS_BEGIN = 35,
	WORDS_LEAST = 24 /* columns; else they have lines of their own */
};

static const char *
known(const char *text)
{
	return text != NULL ? text : "";
}

static bool
same_text(const char *left, const char *right)
{
	return strcmp(known(left), known(right)) == 0;
}

int64_t
attempt_text_wall_ns(
    const struct timeline *timeline, const struct attempt_record *attempt)
{
	int64_t before_ns = timeline->start_wall_ns - attempt->wall_ns;

	return before_ns > 0 && before_ns < CLOCK_NS_PER_SECOND
		   ? timeline->start_wall_ns
		   : attempt->wall_ns;
}

char *
attempt_text_words(const struct attempt_record *attempt)
{
	const char *relay = known(attempt->relay);

	if (strcmp(relay, "none") == 0)
		relay = "";
	return memory_format("%s%s%s%s%s", relay, relay[0] != '\0' ? ": " : "",
	    known(attempt->dsn), attempt->dsn != NULL ? " " : "",
	    known(attempt->text));
}

bool
attempt_text_same(const struct timeline_recipient *left,
    const struct timeline_recipient *right)
{
	const struct attempt_record *a = left->last_attempt;
	const struct attempt_record *b = right->last_attempt;

	if (left->attempt_count != right->attempt_count)
		return false;
	if (a == NULL || b == NULL)
		return a == b;
	return same_text(a->agent, b->agent) && same_text(a->relay, b->relay) &&
	       same_text(a->dsn, b->dsn) && same_text(a->status, b->status) &&
	       (same_text(a->status, "sent") || same_text(a->text, b->text));
}

static void
row(struct text_page *page, const struct timeline *timeline,
    const struct attempt_record *attempt)
{
	int64_t offset_ns =
	    attempt_text_wall_ns(timeline, attempt) - timeline->start_wall_ns;
	char *words = attempt_text_words(attempt);
	char text[DURATION_TEXT_SIZE];

	offset_text(offset_ns, page->style.utf8, text);
	page_pad(page, INDENT);
	page_right(page, text, TIME_END);
	page_pad(page, AGENT_BEGIN);
	page_text(page, known(attempt->agent));
	page_pad(page, STATUS_BEGIN);
	page_text(page, known(attempt->status));
	if (WORDS_BEGIN + WORDS_LEAST > page->style.width) {
		page_end_line(page);
		page_pad(page, INDENT + 2);
	} else {
		page_pad(page, WORDS_BEGIN);
	}
	page_wrapped(page, words);
	page_end_line(page);
	free(words);
}

void
attempt_text_table(struct text_page *page, const struct timeline *timeline,
    const struct timeline_recipient *recipient)
{
	const struct message_record *record = timeline->record;
	size_t number = (size_t)(recipient - timeline->recipients);
	size_t skip = 0;

	if (recipient->attempt_count > SHOWN) {
		skip = recipient->attempt_count - SHOWN;
		page_pad(page, INDENT);
		page_format(
		    page, "%zu earlier attempts by the log: see --json", skip);
		page_end_line(page);
	}
	for (size_t i = 0; i < record->attempt_count; i++) {
		if (record->attempts[i].recipient != number)
			continue;
		if (skip > 0)
			skip--;
		else
			row(page, timeline, &record->attempts[i]);
	}
}

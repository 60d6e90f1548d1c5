/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for each action. Called by recipient_text.c. */
#include "cli/filing_text.h"

#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"

/* In front of the name, or of "and" and the next one. */
static const char *
action_words(enum filing_action action)
{
	static const char *const words[FILING_ACTIONS] = {
	    [FILING_STORED] = "stored in ",
	    [FILING_FORWARDED] = "forwarded to ",
	    [FILING_ANSWERED] = "answered ",
	    [FILING_REJECTED] = "rejected by Sieve, as told to ",
	    [FILING_DISCARDED] = "discarded by Sieve",
	};

	return action < FILING_ACTIONS ? words[action] : "";
}

static void
append(struct buffer *words, const struct recipient_record *recipient, size_t i)
{
	const struct filing_record *filing = &recipient->filings[i];
	const char *name = filing->name;
	bool goes_on = i > 0 && filing->action == filing[-1].action;

	/* "Unless": it was kept. */
	if (filing->action == FILING_DISCARDED &&
	    recipient->state != RECIPIENT_DISCARDED)
		return;
	if (i > 0)
		buffer_append_string(words, goes_on ? " and " : ", ");
	if (!goes_on)
		buffer_append_string(words, action_words(filing->action));
	if (name != NULL)
		buffer_append_string(words, *name != '\0' ? name : "<>");
}

char *
filing_text_words(const struct recipient_record *recipient)
{
	struct buffer words = {.data = NULL};
	char *text;

	for (size_t i = 0; i < recipient->filing_count; i++)
		append(&words, recipient, i);
	buffer_append(&words, "", 1);
	text = memory_string((const char *)words.data);
	buffer_free(&words);
	return text;
}

static bool
same(const struct filing_record *left, const struct filing_record *right)
{
	if (left->action != right->action ||
	    (left->name == NULL) != (right->name == NULL))
		return false;
	return left->name == NULL || strcmp(left->name, right->name) == 0;
}

bool
filing_text_same(
    const struct recipient_record *left, const struct recipient_record *right)
{
	if (left->filing_count != right->filing_count)
		return false;
	for (size_t i = 0; i < left->filing_count; i++)
		if (!same(&left->filings[i], &right->filings[i]))
			return false;
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks at records that the store gave. Called by ack.c; pure. */
#include "cli/ack_choice.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "cli/recipient_text.h"
#include "cli/text_page.h"

bool
ack_choice_fits(const struct message_record *record)
{
	for (size_t i = 0; i < record->recipient_count; i++)
		if (open_kind_has(OPEN_MISSING, &record->recipients[i]))
			return uuid_is_set(&record->event.id);
	return false;
}

int
ack_choice_add(struct open_answer *chosen, const struct message_record *record,
    struct arena *arena)
{
	struct message_record *place;

	for (size_t i = 0; i < chosen->count; i++)
		if (uuid_equal(&chosen->records[i].event.id, &record->event.id))
			return 0;
	place = arena_append(
	    arena, &chosen->records, &chosen->count, sizeof(*place));
	if (place == NULL)
		return -1;
	*place = *record;
	chosen->messages++;
	for (size_t i = 0; i < record->recipient_count; i++)
		if (open_kind_has(OPEN_MISSING, &record->recipients[i]))
			chosen->recipients[record->recipients[i].state]++;
	return 0;
}

/* "1 delivered, 2 bounced" */
static char *
summary(const struct message_record *record)
{
	struct buffer text = {0};
	struct text_page page = {{.width = UINT16_MAX}, &text, 0};
	char *copy;

	recipient_text_summary(&page, record);
	copy = memory_format("%.*s", (int)text.size, (const char *)text.data);
	buffer_free(&text);
	return copy;
}

static bool
has(const struct message_record *record, enum open_kind kind)
{
	for (size_t i = 0; i < record->recipient_count; i++)
		if (open_kind_has(kind, &record->recipients[i]))
			return true;
	return false;
}

static char *
acknowledged_already(const struct message_record *record)
{
	const struct operation_record *last =
	    &record->operations[record->operation_count - 1];
	char at[CLOCK_TEXT_SIZE];

	clock_format(last->wall_ns, at);
	return memory_format("%s has acknowledged it, at %s",
	    last->who != NULL ? last->who : "an operator", at);
}

char *
ack_choice_refusal(const struct message_record *record)
{
	char *states, *text;

	if (has(record, OPEN_EVER_MISSING) && record->operation_count > 0)
		return acknowledged_already(record);
	states = summary(record);
	if (has(record, OPEN_QUEUED))
		text = memory_format(
		    "it is not known to have left the queue (%s)", states);
	else
		text = memory_format("nothing of it is lost (%s)", states);
	free(states);
	return text;
}

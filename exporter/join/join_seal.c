/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time as a source of evidence: what has outlived the queue. Called by the
 * exporter's upkeep, on the ingest thread.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "exporter/join/evidence.h"
#include "exporter/join/join_state.h"
#include "exporter/join/open_messages.h"

/* Those that are open in days that are past. */
struct outlived {
	const struct store *store;
	struct tracked **messages;
	size_t count, limit;
};

/* A walk's messages may not change their state. */
static int
collect(void *context, struct tracked *tracked)
{
	struct outlived *outlived = context;

	if (!store_is_past(outlived->store, tracked_message(tracked)->key.file))
		return 0;
	outlived->messages[outlived->count++] = tracked;
	return outlived->count == outlived->limit;
}

long
join_seal(struct join *join, size_t limit, struct reason *reason)
{
	static const struct message_news news = {.set = MESSAGE_OUTLIVED};
	struct outlived outlived = {.store = join->store, .limit = limit};
	int result = 0;

	outlived.messages = memory_zeroed(limit, sizeof(struct tracked *));
	open_messages_each(join->messages, collect, &outlived);
	for (size_t i = 0; i < outlived.count && result == 0; i++) {
		const struct subject subject = {
		    join->messages, outlived.messages[i]};

		result = evidence_of_message(&subject, &news, reason);
		open_messages_settle(join->messages, outlived.messages[i]);
	}
	free(outlived.messages);
	arena_reset(join->scratch);
	return result == 0 ? (long)outlived.count : -1;
}

void
join_forget_kept(struct join *join)
{
	open_messages_forget_kept(join->messages);
}

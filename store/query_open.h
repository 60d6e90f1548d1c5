/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query_open: the messages that are still in the queue, and those that are
 * missing.
 *
 * Part of query.h, whose rules hold.
 */
#ifndef STORE_QUERY_OPEN_H
#define STORE_QUERY_OPEN_H

#include "store/record.h"

#include "base/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store_reader;

enum open_kind {
	OPEN_QUEUED,      /* in flight, deferred or held; the oldest first */
	OPEN_MISSING,     /* lost or unknown; the newest first */
	OPEN_EVER_MISSING /* and those that an operator has acknowledged */
};

struct open_question {
	enum open_kind kind;
	/* Days that ended before are left out: a queue keeps nothing that old,
	 * so what is open there was never seen to end. 0: none. */
	int64_t since_wall_ns;
	/* Messages that began earlier, or not earlier than that, are left out;
	 * 0: none. What a wrong clock made (odd.db) never is. */
	int64_t from_wall_ns, before_wall_ns;
	size_t limit; /* of messages that are read */
};

struct open_answer {
	struct message_record *records; /* with a recipient of that kind */
	size_t count;
	/* All there are, whatever the limit. */
	uint64_t messages;
	uint64_t recipients[RECIPIENT_STATES]; /* in states of that kind */
	/* A file could not be read, for this reason: there may be more. */
	bool incomplete;
	struct reason reason;
};

/* Whether a recipient is of the kind, which a given state may be. */
bool open_kind_has(
    enum open_kind kind, const struct recipient_record *recipient);
bool open_kind_may_be(enum open_kind kind, enum recipient_state state);

/* The array and all it points to lives in `arena`. Returns 0, or -1 with a
 * reason (no directory, arena's limit). */
int store_open_messages(struct store_reader *reader,
    const struct open_question *question, struct arena *arena,
    struct open_answer *answer_r, struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* pending: pure; owned by the dialogue. */
#include "lmtp/pending.h"

#include <assert.h>

bool
pending_is_full(const struct pending *pending)
{
	return pending->count == PENDING_MAX;
}

void
pending_push(struct pending *pending, enum pending_kind kind)
{
	assert(!pending_is_full(pending));
	pending->kinds[(pending->first + pending->count) % PENDING_MAX] =
	    (uint8_t)kind;
	pending->count++;
}

enum pending_kind
pending_first(const struct pending *pending)
{
	assert(pending->count > 0);
	return pending->kinds[pending->first];
}

void
pending_shift(struct pending *pending)
{
	assert(pending->count > 0);
	pending->first = (pending->first + 1) % PENDING_MAX;
	pending->count--;
}

const char *
pending_own_reply(enum pending_kind kind)
{
	switch (kind) {
	case PENDING_OK:
		return "250 2.0.0 Ok\r\n";
	case PENDING_MALFORMED:
		return "501 5.5.4 Malformed parameters\r\n";
	case PENDING_REFUSED:
		return "502 5.5.1 Command not supported\r\n";
	case PENDING_IN_TRANSACTION:
		return "503 5.5.1 Mail transaction in progress\r\n";
	default:
		return NULL;
	}
}

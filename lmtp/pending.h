/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pending: which replies are still to come, in order.
 *
 * One entry a command that was passed on, or that the hook itself answers as
 * soon as the replies before it are through. A fixed ring: when it is full, the
 * dialogue takes no further command.
 */
#ifndef LMTP_PENDING_H
#define LMTP_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pending_kind {
	/* Replies of the backend. */
	PENDING_GREETING,
	PENDING_LHLO,
	PENDING_MAIL,
	PENDING_NESTED_MAIL, /* while a transaction is open */
	PENDING_RECIPIENT,
	PENDING_STRAY_RECIPIENT, /* outside of a transaction */
	PENDING_DATA,
	PENDING_RESET,
	PENDING_QUIT,
	PENDING_OTHER,
	/* Replies of our own. */
	PENDING_OK,
	PENDING_MALFORMED,
	PENDING_REFUSED,
	PENDING_IN_TRANSACTION
};

#define PENDING_MAX 512

struct pending {
	uint8_t kinds[PENDING_MAX];
	size_t first;
	size_t count;
};

bool pending_is_full(const struct pending *pending);

/* Must not be full. */
void pending_push(struct pending *pending, enum pending_kind kind);

/* The oldest one; must not be empty. */
enum pending_kind pending_first(const struct pending *pending);
void pending_shift(struct pending *pending);

/* The text of a reply of our own; NULL for one of the backend's. */
const char *pending_own_reply(enum pending_kind kind);

#endif

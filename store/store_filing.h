/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_filing: what the join writes of Dovecot's log, and asks of LMTP session
 * ids.
 *
 * Part of store.h, whose rules hold. Each function that writes begins the
 * file's transaction if the batch has not yet.
 */
#ifndef STORE_STORE_FILING_H
#define STORE_STORE_FILING_H

#include "store/record.h"
#include "store/store_write.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct reason;
struct store;

/* A message's recipient. */
struct recipient_key {
	struct message_key message;
	uint32_t number;
};

/* Adds what was done with a recipient's mail. Returns 1; 0 when that is known
 * already; -1. */
int store_add_filing(const struct recipient_key *recipient,
    const struct filing_record *filing, struct reason *reason);

/* From now on the recipient is found by the id of the LMTP session in which it
 * was answered. Returns 0, or -1. */
int store_add_session(const struct recipient_key *recipient,
    const char *session, struct reason *reason);

struct recipient_keys {
	struct recipient_key *items;
	size_t count;
};

/* Those that were answered under a session id, in the files that may still be
 * written, in `arena`. Returns 0, or -1. */
int store_find_session(struct store *store, const char *session,
    struct arena *arena, struct recipient_keys *recipients_r,
    struct reason *reason);

#endif

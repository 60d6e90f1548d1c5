/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_take: take a message out of its file, so that it can be told anew.
 *
 * For evidence that came in an order in which its message was made up before it
 * was known. Part of store.h, whose rules hold.
 */
#ifndef STORE_STORE_TAKE_H
#define STORE_STORE_TAKE_H

#include "store/record.h"
#include "store/store_write.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct reason;

struct taken_message {
	/* MAIL FROM and end of message to the nanosecond. */
	struct message_record record;
	struct queue_id_claim *claims; /* on further queue ids */
	size_t claim_count;
};

/* Everything that the file has of a message, in `arena`, and removes it. Its
 * legs stay in the file as LEG_FOREIGN ones without a message, for
 * store_settle_leg(). Returns 0, or -1, also when there is no such message. */
int store_take_message(const struct message_key *key, struct arena *arena,
    struct taken_message *taken_r, struct reason *reason);

/* Says that everything that was taken out of the file is told anew: whoever is
 * in it again was there all the time. */
void store_taken_is_told(struct day_file *file);

/* Forgets that recipients of a message that was taken were answered under an
 * LMTP session id. Returns 0, or -1. */
int store_forget_session(
    const struct message_key *key, const char *session, struct reason *reason);

#endif

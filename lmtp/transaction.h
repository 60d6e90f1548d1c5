/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transaction: what is recorded of one LMTP transaction.
 *
 * The dialogue tells what happened, in order; the transaction keeps it in an
 * arena and gives out delivery events. Memory is bounded: when it does not
 * suffice, the transaction says so instead of giving out an event, and nothing
 * else changes. One object serves all transactions of a connection, one after
 * the other.
 */
#ifndef LMTP_TRANSACTION_H
#define LMTP_TRANSACTION_H

#include "proto/event.h"

#include <stdbool.h>
#include <stddef.h>

struct header_scan_names;
struct reply_description;
struct transaction;

/* Returns NULL when there is no memory. What is given is kept; `backend` is the
 * text of its endpoint. */
struct transaction *transaction_new(
    const struct header_scan_names *names, const char *backend);

/* What a transaction is called and where it begins. */
struct transaction_origin {
	uint64_t session;
	uint32_t sequence;
	struct stamp connect_at;
	struct stamp mail_at;
	const char *ident; /* XFORWARD's; "" if there was none */
};

/* MAIL came. The transaction is open until transaction_close(). */
void transaction_open(struct transaction *transaction,
    const struct transaction_origin *origin, const char *sender,
    size_t sender_size);
bool transaction_is_open(const struct transaction *transaction);
void transaction_close(struct transaction *transaction);

/* RCPT came, and the replies to those that came, in the same order. */
void transaction_recipient(struct transaction *transaction, const char *address,
    size_t size, struct stamp at);
void transaction_recipient_reply(struct transaction *transaction,
    const struct reply_description *reply, struct stamp at);

/* DATA came; the backend refused it, which is the last reply of every recipient
 * accepted so far. */
void transaction_data(struct transaction *transaction, struct stamp at);
void transaction_data_refused(struct transaction *transaction,
    const struct reply_description *reply, struct stamp at);

/* Content as it passes, terminator included, and its end. */
void transaction_content(
    struct transaction *transaction, const void *data, size_t size);
void transaction_content_end(
    struct transaction *transaction, uint64_t content_bytes, struct stamp at);

/* A reply after the end of data, in the order of the accepted recipients. */
void transaction_final_reply(struct transaction *transaction,
    const struct reply_description *reply, struct stamp at);

/* The next part of the event: recipients whose last reply is new since the part
 * before. An `ending` other than NONE makes it the last part, which then also
 * holds those without a last reply. What the event points to lives until the
 * next call of any function here. Returns 1; 0 when there is nothing new to
 * tell and no ending; -1 when there was no memory for it. */
int transaction_event(struct transaction *transaction,
    enum delivery_ending ending, struct stamp at,
    struct delivery_event *event_r);

void transaction_free(struct transaction **transaction);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dialogue_state: what a dialogue is made of, and the steps that commands,
 * replies and endings have in common.
 *
 * Below dialogue_commands.h, dialogue_replies.h and dialogue.h, in this order;
 * only for them.
 */
#ifndef LMTP_DIALOGUE_STATE_H
#define LMTP_DIALOGUE_STATE_H

#include "base/buffer.h"
#include "lmtp/command.h"
#include "lmtp/dialogue.h"
#include "lmtp/end_of_data.h"
#include "lmtp/pending.h"
#include "lmtp/reply.h"
#include "proto/event.h"

enum dialogue_state {
	DIALOGUE_COMMANDS,
	DIALOGUE_DATA,    /* passed on; the client is held until its reply */
	DIALOGUE_CONTENT, /* the backend is held until the dot has passed */
	DIALOGUE_FINAL,   /* the client is held until all replies are through */
	DIALOGUE_QUIT,    /* passed on; nothing more is taken */
	DIALOGUE_OVER
};

#define DIALOGUE_SENDER_SIZE 321 /* RFC 5321, 4.5.3.1, with the NUL */

struct dialogue {
	const struct dialogue_settings *settings;
	enum dialogue_state state;
	enum dialogue_close close;
	uint64_t session;
	struct stamp connect_at;

	/* By the side that they come from or go to. */
	struct buffer input[DIALOGUE_SIDES]; /* received, not taken yet */
	struct stamp input_at[DIALOGUE_SIDES];
	struct buffer output[DIALOGUE_SIDES];
	bool input_ended[DIALOGUE_SIDES];
	bool client_lost;
	bool stopping;

	struct pending pending;
	struct reply_scan reply_scan;
	bool pipelining; /* the backend's */

	/* The protocol's view of the transaction; never depends on memory. */
	bool mail_accepted;
	uint64_t accepted;   /* recipients */
	uint64_t final_left; /* of them without a last reply */
	struct end_of_data end_of_data;
	uint64_t content_bytes;

	/* The record's view. */
	struct transaction *transaction;
	uint32_t transactions; /* so far */
	char ident[COMMAND_IDENT_SIZE];
	char nested_sender[DIALOGUE_SENDER_SIZE];
	struct stamp nested_at;
};

/* Opens a transaction for the record. */
void dialogue_open_transaction(struct dialogue *dialogue, const char *sender,
    size_t sender_size, struct stamp at);

/* Records the next part of the open transaction, if there is anything to tell.
 * With an ending it is then closed. */
void dialogue_record(
    struct dialogue *dialogue, enum delivery_ending ending, struct stamp at);

/* Every accepted recipient has its last reply. */
void dialogue_complete(struct dialogue *dialogue, struct stamp at);

/* The end of the dialogue; an open transaction ends as `ending`. */
void dialogue_finish(struct dialogue *dialogue, enum delivery_ending ending,
    enum dialogue_close close, struct stamp at);

/* The same when the backend can be used no longer. */
void dialogue_backend_failed(
    struct dialogue *dialogue, enum delivery_ending ending, struct stamp at);

/* Passes on those replies of our own that are next in order. */
void dialogue_give_own_replies(struct dialogue *dialogue);

#endif

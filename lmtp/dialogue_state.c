/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps that change what a dialogue is, whichever side or ending brings
 * them about. Here alone a transaction is recorded, and a dialogue ends. On the
 * event loop's thread.
 */
#include "lmtp/dialogue_state.h"

#include "lmtp/transaction.h"
#include "proto/producer_counter.h"

void
dialogue_open_transaction(struct dialogue *dialogue, const char *sender,
    size_t sender_size, struct stamp at)
{
	const struct transaction_origin origin = {
	    .session = dialogue->session,
	    .sequence = ++dialogue->transactions,
	    .connect_at = dialogue->connect_at,
	    .mail_at = at,
	    .ident = dialogue->ident,
	};

	transaction_open(dialogue->transaction, &origin, sender, sender_size);
	dialogue->mail_accepted = false;
}

void
dialogue_record(
    struct dialogue *dialogue, enum delivery_ending ending, struct stamp at)
{
	const struct dialogue_settings *settings = dialogue->settings;
	struct delivery_event event;

	if (!transaction_is_open(dialogue->transaction))
		return;
	switch (transaction_event(dialogue->transaction, ending, at, &event)) {
	case 1:
		settings->record(settings->context, &event);
		break;
	case -1:
		producer_count(PRODUCER_EVENTS_DROPPED_MEMORY, 1);
		break;
	}
	if (ending != DELIVERY_ENDING_NONE) {
		transaction_close(dialogue->transaction);
		/* As in Postfix's smtpd, XFORWARD is for one transaction. */
		dialogue->ident[0] = '\0';
	}
}

void
dialogue_complete(struct dialogue *dialogue, struct stamp at)
{
	dialogue_record(dialogue,
	    dialogue->client_lost ? DELIVERY_ENDING_CLIENT_LOST
				  : DELIVERY_ENDING_COMPLETED,
	    at);
	dialogue->accepted = 0;
	dialogue->state = DIALOGUE_COMMANDS;
}

void
dialogue_finish(struct dialogue *dialogue, enum delivery_ending ending,
    enum dialogue_close close, struct stamp at)
{
	dialogue_record(dialogue, ending, at);
	dialogue->state = DIALOGUE_OVER;
	dialogue->close = dialogue->client_lost ? DIALOGUE_CLOSE_NOW : close;
}

void
dialogue_backend_failed(
    struct dialogue *dialogue, enum delivery_ending ending, struct stamp at)
{
	/* Before the dot the client must notice at once. Later it must get
	 * every reply that came, or it would deliver again. */
	bool before_dot = transaction_is_open(dialogue->transaction) &&
			  dialogue->state != DIALOGUE_FINAL;

	dialogue_finish(dialogue, ending,
	    before_dot ? DIALOGUE_CLOSE_NOW : DIALOGUE_CLOSE_GENTLY, at);
}

void
dialogue_give_own_replies(struct dialogue *dialogue)
{
	struct pending *pending = &dialogue->pending;

	while (pending->count > 0) {
		const char *reply = pending_own_reply(pending_first(pending));

		if (reply == NULL)
			break;
		buffer_append_string(&dialogue->output[DIALOGUE_CLIENT], reply);
		pending_shift(pending);
	}
}

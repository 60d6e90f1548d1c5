/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backend's side of the dialogue, on the event loop's thread.
 *
 * Each whole reply belongs to the oldest pending command or, after the dot, to
 * the next accepted recipient. It is passed on as it is; only LHLO's is
 * rewritten. A reply that nothing asked for, or a 3yz to anything but DATA,
 * means that hook and backend no longer agree on where they are: the backend
 * counts as lost then.
 */
#include "lmtp/dialogue_replies.h"

#include "lmtp/capabilities.h"
#include "lmtp/dialogue_state.h"
#include "lmtp/transaction.h"

#include <string.h>

static struct stamp
now(const struct dialogue *dialogue)
{
	return dialogue->input_at[DIALOGUE_BACKEND];
}

static void
pass(struct dialogue *dialogue, const struct reply *reply)
{
	buffer_append(
	    &dialogue->output[DIALOGUE_CLIENT], reply->data, reply->size);
}

static void
take_lhlo_reply(struct dialogue *dialogue, const struct reply *reply)
{
	if (!reply_is_positive(reply)) {
		pass(dialogue, reply);
		return;
	}
	dialogue->accepted = 0;
	capabilities_rewrite(
	    reply, &dialogue->output[DIALOGUE_CLIENT], &dialogue->pipelining);
}

static void
take_mail_reply(struct dialogue *dialogue, const struct reply *reply)
{
	dialogue->mail_accepted = reply_is_positive(reply);
	if (dialogue->mail_accepted)
		dialogue->accepted = 0;
	pass(dialogue, reply);
}

/* The backend took a second MAIL for the end of the first one. */
static void
take_nested_mail_reply(struct dialogue *dialogue, const struct reply *reply)
{
	if (reply_is_positive(reply)) {
		const char *sender = dialogue->nested_sender;

		dialogue_record(
		    dialogue, DELIVERY_ENDING_RESET, dialogue->nested_at);
		dialogue_open_transaction(
		    dialogue, sender, strlen(sender), dialogue->nested_at);
		dialogue->mail_accepted = true;
		dialogue->accepted = 0;
	}
	pass(dialogue, reply);
}

static void
take_recipient_reply(struct dialogue *dialogue, const struct reply *reply)
{
	struct reply_description description;

	reply_describe(reply, &description);
	transaction_recipient_reply(
	    dialogue->transaction, &description, now(dialogue));
	if (reply_is_positive(reply))
		dialogue->accepted++;
	pass(dialogue, reply);
}

static void
take_stray_recipient_reply(struct dialogue *dialogue, const struct reply *reply)
{
	if (reply_is_positive(reply))
		dialogue->accepted++;
	pass(dialogue, reply);
}

static void
take_data_reply(struct dialogue *dialogue, const struct reply *reply)
{
	struct reply_description description;

	if (reply->code / 100 == 3) {
		dialogue->state = DIALOGUE_CONTENT;
		dialogue->content_bytes = 0;
		end_of_data_begin(&dialogue->end_of_data);
	} else {
		reply_describe(reply, &description);
		if (transaction_is_open(dialogue->transaction))
			transaction_data_refused(
			    dialogue->transaction, &description, now(dialogue));
		dialogue_record(
		    dialogue, DELIVERY_ENDING_COMPLETED, now(dialogue));
		dialogue->state = DIALOGUE_COMMANDS;
	}
	pass(dialogue, reply);
}

static void
take_reset_reply(struct dialogue *dialogue, const struct reply *reply)
{
	if (reply_is_positive(reply))
		dialogue->accepted = 0;
	pass(dialogue, reply);
}

static void
take_quit_reply(struct dialogue *dialogue, const struct reply *reply)
{
	pass(dialogue, reply);
	dialogue_finish(
	    dialogue, DELIVERY_ENDING_RESET, DIALOGUE_CLOSE_NOW, now(dialogue));
}

static void (*const takers[])(
    struct dialogue *dialogue, const struct reply *reply) = {
    [PENDING_GREETING] = pass,
    [PENDING_LHLO] = take_lhlo_reply,
    [PENDING_MAIL] = take_mail_reply,
    [PENDING_NESTED_MAIL] = take_nested_mail_reply,
    [PENDING_RECIPIENT] = take_recipient_reply,
    [PENDING_STRAY_RECIPIENT] = take_stray_recipient_reply,
    [PENDING_DATA] = take_data_reply,
    [PENDING_RESET] = take_reset_reply,
    [PENDING_QUIT] = take_quit_reply,
    [PENDING_OTHER] = pass,
};

static void
take_pending_reply(struct dialogue *dialogue, const struct reply *reply)
{
	enum pending_kind kind = pending_first(&dialogue->pending);

	if (reply->code / 100 == 3 && kind != PENDING_DATA) {
		dialogue_backend_failed(
		    dialogue, DELIVERY_ENDING_BACKEND_LOST, now(dialogue));
		return;
	}
	pending_shift(&dialogue->pending);
	takers[kind](dialogue, reply);
	dialogue_give_own_replies(dialogue);
}

static void
take_final_reply(struct dialogue *dialogue, const struct reply *reply)
{
	struct reply_description description;

	reply_describe(reply, &description);
	if (transaction_is_open(dialogue->transaction))
		transaction_final_reply(
		    dialogue->transaction, &description, now(dialogue));
	pass(dialogue, reply);
	dialogue->final_left--;
	if (dialogue->final_left == 0)
		dialogue_complete(dialogue, now(dialogue));
}

/* Mostly "421, shutting down", which the client is to see. A 2yz must not
 * reach it: it would take it for the reply to its next command. */
static void
take_unasked_reply(struct dialogue *dialogue, const struct reply *reply)
{
	if (reply->code / 100 == 4 || reply->code / 100 == 5)
		pass(dialogue, reply);
	dialogue_backend_failed(
	    dialogue, DELIVERY_ENDING_BACKEND_LOST, now(dialogue));
}

static void
take_reply(struct dialogue *dialogue, const struct reply *reply)
{
	if (dialogue->state == DIALOGUE_FINAL)
		take_final_reply(dialogue, reply);
	else if (dialogue->pending.count > 0)
		take_pending_reply(dialogue, reply);
	else
		take_unasked_reply(dialogue, reply);
}

/* While content passes, replies are not looked at: without the hook Postfix
 * would not read them before the dot either. */
static bool
may_take(const struct dialogue *dialogue)
{
	return dialogue->state != DIALOGUE_CONTENT &&
	       dialogue->state != DIALOGUE_OVER;
}

size_t
dialogue_take_replies(struct dialogue *dialogue, const char *data, size_t size)
{
	size_t used = 0;
	struct reply reply;

	while (used < size && may_take(dialogue)) {
		switch (reply_take(
		    &dialogue->reply_scan, data + used, size - used, &reply)) {
		case REPLY_PARTIAL:
			goto out;
		case REPLY_TOO_LONG:
			dialogue_backend_failed(dialogue,
			    DELIVERY_ENDING_BACKEND_LOST, now(dialogue));
			goto out;
		case REPLY_WHOLE:
			break;
		}
		used += reply.size;
		take_reply(dialogue, &reply);
	}
out:
	/* Of everything that came at once, one part tells. */
	dialogue_record(dialogue, DELIVERY_ENDING_NONE, now(dialogue));
	return used;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dialogue: what comes in from outside, and how it all ends.
 *
 * Owned by a connection, on the event loop's thread. Input that cannot be taken
 * yet is kept; after each step both sides are tried again until neither moves.
 */
#include "lmtp/dialogue.h"

#include "lmtp/dialogue_commands.h"
#include "lmtp/dialogue_replies.h"
#include "lmtp/dialogue_state.h"
#include "lmtp/transaction.h"

#include <stdlib.h>

/* Buffers of idle connections give back what is larger. */
#define BUFFER_KEPT_BYTES ((size_t)4 << 10)

struct dialogue *
dialogue_new(const struct dialogue_settings *settings, uint64_t session,
    struct stamp connect_at)
{
	struct dialogue *dialogue = calloc(1, sizeof(*dialogue));

	if (dialogue == NULL)
		return NULL;
	dialogue->settings = settings;
	dialogue->session = session;
	dialogue->connect_at = connect_at;
	dialogue->transaction =
	    transaction_new(&settings->names, settings->backend);
	if (dialogue->transaction == NULL) {
		dialogue_free(&dialogue);
		return NULL;
	}
	pending_push(&dialogue->pending, PENDING_GREETING);
	return dialogue;
}

void
dialogue_free(struct dialogue **dialogue)
{
	if (*dialogue == NULL)
		return;
	for (int side = 0; side < DIALOGUE_SIDES; side++) {
		buffer_free(&(*dialogue)->input[side]);
		buffer_free(&(*dialogue)->output[side]);
	}
	transaction_free(&(*dialogue)->transaction);
	free(*dialogue);
	*dialogue = NULL;
}

static void
release_unused(struct buffer *buffer)
{
	if (buffer->size == 0 && buffer->capacity > BUFFER_KEPT_BYTES)
		buffer_free(buffer);
}

static size_t
take(struct dialogue *dialogue, enum dialogue_side side, const void *data,
    size_t size)
{
	return side == DIALOGUE_CLIENT
		   ? dialogue_take_commands(dialogue, data, size)
		   : dialogue_take_replies(dialogue, data, size);
}

static bool
take_held(struct dialogue *dialogue, enum dialogue_side side)
{
	struct buffer *held = &dialogue->input[side];
	size_t taken;

	if (held->size == 0 || dialogue->state == DIALOGUE_OVER)
		return false;
	taken = take(dialogue, side, held->data, held->size);
	buffer_consume(held, taken);
	release_unused(held);
	return taken > 0;
}

static bool
out_of_memory(const struct dialogue *dialogue)
{
	return dialogue->input[DIALOGUE_CLIENT].failed ||
	       dialogue->input[DIALOGUE_BACKEND].failed ||
	       dialogue->output[DIALOGUE_CLIENT].failed ||
	       dialogue->output[DIALOGUE_BACKEND].failed;
}

/* Nothing more comes from the client. Whatever needs no more of it goes on, and
 * it may still be reading replies. */
static void
check_client_end(struct dialogue *dialogue, struct stamp at)
{
	bool replies_left = dialogue->output[DIALOGUE_CLIENT].size > 0;
	bool needed = false;

	switch (dialogue->state) {
	case DIALOGUE_COMMANDS:
		needed = dialogue->pending.count == 0;
		break;
	case DIALOGUE_DATA:
		needed = dialogue->input[DIALOGUE_CLIENT].size == 0;
		break;
	case DIALOGUE_CONTENT:
		needed = true;
		break;
	case DIALOGUE_FINAL:
	case DIALOGUE_QUIT:
	case DIALOGUE_OVER:
		break;
	}
	if (needed)
		dialogue_finish(dialogue, DELIVERY_ENDING_CLIENT_LOST,
		    replies_left ? DIALOGUE_CLOSE_GENTLY : DIALOGUE_CLOSE_NOW,
		    at);
}

static void
say_goodbye(struct dialogue *dialogue, const char *reply,
    enum delivery_ending ending, struct stamp at)
{
	buffer_append_string(&dialogue->output[DIALOGUE_CLIENT], reply);
	dialogue_finish(dialogue, ending, DIALOGUE_CLOSE_GENTLY, at);
}

static bool
is_idle(const struct dialogue *dialogue)
{
	return dialogue->state == DIALOGUE_COMMANDS &&
	       dialogue->pending.count == 0 &&
	       !transaction_is_open(dialogue->transaction);
}

static void
check_stop(struct dialogue *dialogue, struct stamp at)
{
	if (is_idle(dialogue))
		say_goodbye(dialogue, "421 4.3.2 Service shutting down\r\n",
		    DELIVERY_ENDING_STOPPED, at);
	else if (dialogue->state == DIALOGUE_COMMANDS ||
		 dialogue->state == DIALOGUE_DATA)
		dialogue_finish(
		    dialogue, DELIVERY_ENDING_STOPPED, DIALOGUE_CLOSE_NOW, at);
}

/* Goes on as far as what has come allows. */
static void
advance(struct dialogue *dialogue, struct stamp at)
{
	bool moved;

	do {
		moved = take_held(dialogue, DIALOGUE_CLIENT);
		moved |= take_held(dialogue, DIALOGUE_BACKEND);
	} while (moved);

	if (dialogue->client_lost)
		buffer_clear(&dialogue->output[DIALOGUE_CLIENT]);
	if (out_of_memory(dialogue) && dialogue->state != DIALOGUE_OVER)
		dialogue_finish(dialogue, DELIVERY_ENDING_BACKEND_LOST,
		    DIALOGUE_CLOSE_NOW, at);
	if (dialogue->input_ended[DIALOGUE_CLIENT])
		check_client_end(dialogue, at);
	if (dialogue->stopping && dialogue->state != DIALOGUE_OVER)
		check_stop(dialogue, at);
}

void
dialogue_input(struct dialogue *dialogue, enum dialogue_side side,
    const void *data, size_t size, struct stamp at)
{
	struct buffer *held = &dialogue->input[side];
	size_t taken = 0;

	if (dialogue->state == DIALOGUE_OVER || dialogue->input_ended[side])
		return;
	dialogue->input_at[side] = at;
	if (held->size == 0)
		taken = take(dialogue, side, data, size);
	if (taken < size)
		buffer_append(held, (const char *)data + taken, size - taken);
	advance(dialogue, at);
}

void
dialogue_end_of_input(
    struct dialogue *dialogue, enum dialogue_side side, struct stamp at)
{
	if (dialogue->state == DIALOGUE_OVER || dialogue->input_ended[side])
		return;
	dialogue->input_ended[side] = true;
	if (side == DIALOGUE_BACKEND)
		dialogue_backend_failed(
		    dialogue, DELIVERY_ENDING_BACKEND_LOST, at);
	advance(dialogue, at);
}

void
dialogue_lost(
    struct dialogue *dialogue, enum dialogue_side side, struct stamp at)
{
	if (dialogue->state == DIALOGUE_OVER) {
		dialogue->client_lost |= side == DIALOGUE_CLIENT;
		if (dialogue->client_lost)
			dialogue->close = DIALOGUE_CLOSE_NOW;
		return;
	}
	if (side == DIALOGUE_CLIENT) {
		dialogue->client_lost = true;
		buffer_clear(&dialogue->input[DIALOGUE_CLIENT]);
		/* The delivery happens whether the client is told or not. */
		if (dialogue->state != DIALOGUE_FINAL)
			dialogue_finish(dialogue, DELIVERY_ENDING_CLIENT_LOST,
			    DIALOGUE_CLOSE_NOW, at);
	}
	dialogue_end_of_input(dialogue, side, at);
}

void
dialogue_timed_out(struct dialogue *dialogue, struct stamp at)
{
	if (dialogue->state == DIALOGUE_OVER)
		return;
	if (dialogue_waits_for(dialogue) != DIALOGUE_WAITS_FOR_CLIENT)
		dialogue_backend_failed(
		    dialogue, DELIVERY_ENDING_TIMED_OUT, at);
	else if (is_idle(dialogue))
		say_goodbye(dialogue, "421 4.4.2 Timeout\r\n",
		    DELIVERY_ENDING_TIMED_OUT, at);
	else
		dialogue_finish(dialogue, DELIVERY_ENDING_TIMED_OUT,
		    DIALOGUE_CLOSE_NOW, at);
}

void
dialogue_stop(struct dialogue *dialogue, struct stamp at)
{
	dialogue->stopping = true;
	advance(dialogue, at);
}

void
dialogue_abandon(struct dialogue *dialogue, struct stamp at)
{
	if (dialogue->state != DIALOGUE_OVER)
		dialogue_finish(
		    dialogue, DELIVERY_ENDING_STOPPED, DIALOGUE_CLOSE_NOW, at);
}

void
dialogue_resume(struct dialogue *dialogue, struct stamp at)
{
	if (dialogue->input[DIALOGUE_CLIENT].size > 0)
		advance(dialogue, at);
	for (int side = 0; is_idle(dialogue) && side < DIALOGUE_SIDES; side++)
		release_unused(&dialogue->output[side]);
}

struct buffer *
dialogue_output(struct dialogue *dialogue, enum dialogue_side side)
{
	return &dialogue->output[side];
}

bool
dialogue_wants_input(const struct dialogue *dialogue, enum dialogue_side side)
{
	enum dialogue_side other =
	    side == DIALOGUE_CLIENT ? DIALOGUE_BACKEND : DIALOGUE_CLIENT;

	return dialogue->state != DIALOGUE_OVER &&
	       !dialogue->input_ended[side] &&
	       dialogue->input[side].size < DIALOGUE_PIECE_BYTES &&
	       dialogue->output[other].size < DIALOGUE_PIECE_BYTES;
}

enum dialogue_wait
dialogue_waits_for(const struct dialogue *dialogue)
{
	if (dialogue->state == DIALOGUE_FINAL)
		return DIALOGUE_WAITS_FOR_FINAL_REPLY;
	if (dialogue->pending.count > 0)
		return pending_first(&dialogue->pending) == PENDING_GREETING
			   ? DIALOGUE_WAITS_FOR_GREETING
			   : DIALOGUE_WAITS_FOR_REPLY;
	if (dialogue->output[DIALOGUE_BACKEND].size > 0)
		return DIALOGUE_WAITS_FOR_REPLY;
	return DIALOGUE_WAITS_FOR_CLIENT;
}

enum dialogue_close
dialogue_close(const struct dialogue *dialogue)
{
	return dialogue->close;
}

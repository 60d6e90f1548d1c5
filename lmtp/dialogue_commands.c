/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client's side of the dialogue, on the event loop's thread.
 *
 * Commands that Postfix pipelines (XFORWARD, MAIL, RCPT, DATA) are passed on as
 * they come. Those that end or begin something wait until all earlier replies
 * are through, so that there is one transaction at a time and every reply's
 * meaning is known when it comes.
 */
#include "lmtp/dialogue_commands.h"

#include "lmtp/dialogue_state.h"
#include "lmtp/line.h"
#include "lmtp/transaction.h"

#include <string.h>

/* Longer than any command that Postfix sends (line_length_limit, 2048, per
 * address, and its parameters). */
#define COMMAND_SIZE_MAX ((size_t)16 << 10)

static void
pass(struct dialogue *dialogue, const struct line *line, enum pending_kind kind)
{
	buffer_append(
	    &dialogue->output[DIALOGUE_BACKEND], line->text, line->total);
	pending_push(&dialogue->pending, kind);
}

static void
answer(struct dialogue *dialogue, enum pending_kind kind)
{
	pending_push(&dialogue->pending, kind);
	dialogue_give_own_replies(dialogue);
}

static void
take_other(struct dialogue *dialogue, const struct line *line, struct stamp at)
{
	pass(dialogue, line, PENDING_OTHER);
}

static void
take_lhlo(struct dialogue *dialogue, const struct line *line, struct stamp at)
{
	dialogue_record(dialogue, DELIVERY_ENDING_RESET, at);
	pass(dialogue, line, PENDING_LHLO);
}

/* A second MAIL is the backend's to refuse; until it does or does not, the
 * first one's transaction goes on. */
static void
take_nested_mail(struct dialogue *dialogue, const struct line *line,
    const char *sender, size_t size, struct stamp at)
{
	if (size >= sizeof(dialogue->nested_sender))
		size = sizeof(dialogue->nested_sender) - 1;
	memcpy(dialogue->nested_sender, sender, size);
	dialogue->nested_sender[size] = '\0';
	dialogue->nested_at = at;
	pass(dialogue, line, PENDING_NESTED_MAIL);
}

static void
take_mail(struct dialogue *dialogue, const struct line *line, struct stamp at)
{
	const char *sender;
	size_t size;

	command_address(line, &sender, &size);
	if (transaction_is_open(dialogue->transaction) &&
	    dialogue->mail_accepted) {
		take_nested_mail(dialogue, line, sender, size, at);
		return;
	}
	dialogue_record(dialogue, DELIVERY_ENDING_RESET, at);
	dialogue_open_transaction(dialogue, sender, size, at);
	pass(dialogue, line, PENDING_MAIL);
}

static void
take_rcpt(struct dialogue *dialogue, const struct line *line, struct stamp at)
{
	const char *address;
	size_t size;

	if (!transaction_is_open(dialogue->transaction)) {
		pass(dialogue, line, PENDING_STRAY_RECIPIENT);
		return;
	}
	command_address(line, &address, &size);
	transaction_recipient(dialogue->transaction, address, size, at);
	pass(dialogue, line, PENDING_RECIPIENT);
}

static void
take_data(struct dialogue *dialogue, const struct line *line, struct stamp at)
{
	if (transaction_is_open(dialogue->transaction))
		transaction_data(dialogue->transaction, at);
	pass(dialogue, line, PENDING_DATA);
	dialogue->state = DIALOGUE_DATA;
}

static void
take_rset(struct dialogue *dialogue, const struct line *line, struct stamp at)
{
	dialogue_record(dialogue, DELIVERY_ENDING_RESET, at);
	pass(dialogue, line, PENDING_RESET);
}

static void
take_quit(struct dialogue *dialogue, const struct line *line, struct stamp at)
{
	dialogue_record(dialogue, DELIVERY_ENDING_RESET, at);
	pass(dialogue, line, PENDING_QUIT);
	dialogue->state = DIALOGUE_QUIT;
}

static void
take_xforward(
    struct dialogue *dialogue, const struct line *line, struct stamp at)
{
	char ident[COMMAND_IDENT_SIZE];

	if (transaction_is_open(dialogue->transaction)) {
		answer(dialogue, PENDING_IN_TRANSACTION);
		return;
	}
	switch (command_xforward_ident(line, ident)) {
	case -1:
		answer(dialogue, PENDING_MALFORMED);
		break;
	case 1:
		memcpy(dialogue->ident, ident, sizeof(ident));
		/* FALLTHROUGH */
	default:
		answer(dialogue, PENDING_OK);
	}
}

static void
take_refused(
    struct dialogue *dialogue, const struct line *line, struct stamp at)
{
	answer(dialogue, PENDING_REFUSED);
}

static const struct {
	void (*take)(struct dialogue *dialogue, const struct line *line,
	    struct stamp at);
	bool alone; /* only when no reply is outstanding */
} commands[] = {
    [COMMAND_OTHER] = {take_other, false},
    [COMMAND_LHLO] = {take_lhlo, true},
    [COMMAND_MAIL] = {take_mail, false},
    [COMMAND_RCPT] = {take_rcpt, false},
    [COMMAND_DATA] = {take_data, false},
    [COMMAND_RSET] = {take_rset, true},
    [COMMAND_QUIT] = {take_quit, true},
    [COMMAND_XFORWARD] = {take_xforward, false},
    [COMMAND_REFUSED] = {take_refused, false},
};

static bool
may_take(const struct dialogue *dialogue, enum command_verb verb)
{
	bool alone = commands[verb].alone || !dialogue->pipelining ||
		     (verb == COMMAND_MAIL &&
			 transaction_is_open(dialogue->transaction));

	if (dialogue->output[DIALOGUE_CLIENT].size >= DIALOGUE_PIECE_BYTES ||
	    dialogue->output[DIALOGUE_BACKEND].size >= DIALOGUE_PIECE_BYTES)
		return false;
	return alone ? dialogue->pending.count == 0
		     : !pending_is_full(&dialogue->pending);
}

static size_t
take_command(struct dialogue *dialogue, const char *data, size_t size)
{
	struct stamp at = dialogue->input_at[DIALOGUE_CLIENT];
	enum command_verb verb;
	struct line line;

	switch (line_take(data, size, COMMAND_SIZE_MAX, &line)) {
	case LINE_PARTIAL:
		return 0;
	case LINE_TOO_LONG:
		dialogue_finish(dialogue, DELIVERY_ENDING_CLIENT_LOST,
		    DIALOGUE_CLOSE_NOW, at);
		return 0;
	case LINE_WHOLE:
		break;
	}
	verb = command_verb(&line);
	if (!may_take(dialogue, verb))
		return 0;
	commands[verb].take(dialogue, &line, at);
	return line.total;
}

static void
end_content(struct dialogue *dialogue)
{
	struct stamp at = dialogue->input_at[DIALOGUE_CLIENT];

	dialogue->content_bytes -= END_OF_DATA_BYTES;
	if (transaction_is_open(dialogue->transaction))
		transaction_content_end(
		    dialogue->transaction, dialogue->content_bytes, at);
	dialogue->final_left = dialogue->accepted;
	dialogue->state = DIALOGUE_FINAL;
	if (dialogue->final_left == 0)
		dialogue_complete(dialogue, at);
}

static size_t
take_content(struct dialogue *dialogue, const char *data, size_t size)
{
	bool found;
	size_t taken =
	    end_of_data_scan(&dialogue->end_of_data, data, size, &found);

	if (transaction_is_open(dialogue->transaction))
		transaction_content(dialogue->transaction, data, taken);
	buffer_append(&dialogue->output[DIALOGUE_BACKEND], data, taken);
	dialogue->content_bytes += taken;
	if (found)
		end_content(dialogue);
	return taken;
}

size_t
dialogue_take_commands(struct dialogue *dialogue, const char *data, size_t size)
{
	size_t used = 0;
	size_t taken;

	do {
		taken = 0;
		if (used == size)
			break;
		if (dialogue->state == DIALOGUE_COMMANDS)
			taken =
			    take_command(dialogue, data + used, size - used);
		else if (dialogue->state == DIALOGUE_CONTENT)
			taken =
			    take_content(dialogue, data + used, size - used);
		used += taken;
	} while (taken > 0);
	return used;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transaction: owned by the dialogue of its connection, on the event loop's
 * thread. Recipients are told in parts by walking one array from front to back:
 * `answered` counts the replies to RCPT, `next_final` is where to look for the
 * recipient that the next reply after the dot belongs to, `told` is the first
 * one that no part has held yet.
 */
#include "lmtp/transaction.h"

#include "base/arena.h"
#include "lmtp/header_scan.h"
#include "lmtp/reply.h"

#include <stdlib.h>
#include <string.h>

/* Enough for some thousands of recipients. */
#define ARENA_BYTES ((size_t)4 << 20)

struct transaction {
	const struct header_scan_names *names;
	struct arena *arena;
	struct header_scan scan;
	struct delivery_event event; /* its recipients are all there are */
	struct delivery_recipient *part;
	bool open;
	bool lost; /* a recipient was, for want of memory */
	size_t answered;
	size_t next_final;
	size_t told;
};

struct transaction *
transaction_new(const struct header_scan_names *names, const char *backend)
{
	struct transaction *transaction = calloc(1, sizeof(*transaction));

	if (transaction == NULL)
		return NULL;
	transaction->names = names;
	transaction->event.backend = backend;
	transaction->arena = arena_new(ARENA_BYTES);
	if (transaction->arena == NULL)
		transaction_free(&transaction);
	return transaction;
}

void
transaction_free(struct transaction **transaction)
{
	if (*transaction == NULL)
		return;
	arena_free(&(*transaction)->arena);
	free(*transaction);
	*transaction = NULL;
}

void
transaction_open(struct transaction *transaction,
    const struct transaction_origin *origin, const char *sender,
    size_t sender_size)
{
	struct arena *arena = transaction->arena;

	arena_reset(arena);
	transaction->event = (struct delivery_event){
	    .id = uuid_new(origin->mail_at.wall_ns),
	    .phase = DELIVERY_PHASE_MAIL,
	    .session = origin->session,
	    .sequence = origin->sequence,
	    .connect_at = origin->connect_at,
	    .mail_at = origin->mail_at,
	    .backend = transaction->event.backend,
	    .sender = arena_string_sized(arena, sender, sender_size),
	};
	if (origin->ident[0] != '\0')
		transaction->event.ident = arena_string(arena, origin->ident);
	header_scan_begin(&transaction->scan, transaction->names);
	transaction->part = NULL;
	transaction->open = true;
	transaction->lost = false;
	transaction->answered = 0;
	transaction->next_final = 0;
	transaction->told = 0;
}

bool
transaction_is_open(const struct transaction *transaction)
{
	return transaction->open;
}

void
transaction_close(struct transaction *transaction)
{
	transaction->open = false;
	arena_reset(transaction->arena);
}

static void
reach(struct transaction *transaction, enum delivery_phase phase)
{
	if (transaction->event.phase < phase)
		transaction->event.phase = phase;
}

void
transaction_recipient(struct transaction *transaction, const char *address,
    size_t size, struct stamp at)
{
	struct delivery_event *event = &transaction->event;
	struct delivery_recipient *recipient;

	recipient = arena_append(transaction->arena, &event->recipients,
	    &event->recipient_count, sizeof(*event->recipients));
	if (recipient == NULL) {
		transaction->lost = true;
		return;
	}
	recipient->position = (uint32_t)event->recipient_count - 1;
	recipient->address =
	    arena_string_sized(transaction->arena, address, size);
	recipient->rcpt_at = at;
	reach(transaction, DELIVERY_PHASE_RCPT);
}

/* Replies of one transaction are mostly the same: one copy of each text. */
static const char *
copy_text(struct arena *arena, const char *text, const char *previous)
{
	if (text[0] == '\0')
		return NULL;
	if (previous != NULL && strcmp(previous, text) == 0)
		return previous;
	return arena_string(arena, text);
}

static void
copy_reply(struct arena *arena, const struct reply_description *from,
    struct stamp at, const struct delivery_reply *previous,
    struct delivery_reply *reply_r)
{
	reply_r->code = from->code;
	reply_r->at = at;
	reply_r->enhanced = copy_text(arena, from->enhanced,
	    previous != NULL ? previous->enhanced : NULL);
	reply_r->text = copy_text(
	    arena, from->text, previous != NULL ? previous->text : NULL);
}

void
transaction_recipient_reply(struct transaction *transaction,
    const struct reply_description *reply, struct stamp at)
{
	struct delivery_recipient *recipients = transaction->event.recipients;
	size_t index = transaction->answered;

	if (transaction->lost || index >= transaction->event.recipient_count)
		return;
	copy_reply(transaction->arena, reply, at,
	    index > 0 ? &recipients[index - 1].envelope : NULL,
	    &recipients[index].envelope);
	transaction->answered++;
}

void
transaction_data(struct transaction *transaction, struct stamp at)
{
	transaction->event.data_at = at;
	reach(transaction, DELIVERY_PHASE_DATA);
}

static bool
is_accepted(const struct delivery_recipient *recipient)
{
	return recipient->envelope.code / 100 == 2;
}

void
transaction_data_refused(struct transaction *transaction,
    const struct reply_description *reply, struct stamp at)
{
	size_t before;

	do {
		before = transaction->next_final;
		transaction_final_reply(transaction, reply, at);
	} while (transaction->next_final > before);
}

void
transaction_content(
    struct transaction *transaction, const void *data, size_t size)
{
	if (!header_scan_done(&transaction->scan))
		header_scan_feed(&transaction->scan, data, size);
}

void
transaction_content_end(
    struct transaction *transaction, uint64_t content_bytes, struct stamp at)
{
	header_scan_end(&transaction->scan);
	transaction->event.content_bytes = content_bytes;
	transaction->event.content_end_at = at;
	reach(transaction, DELIVERY_PHASE_CONTENT_END);
}

void
transaction_final_reply(struct transaction *transaction,
    const struct reply_description *reply, struct stamp at)
{
	struct delivery_recipient *recipients = transaction->event.recipients;
	size_t count = transaction->event.recipient_count;
	size_t index = transaction->next_final;

	if (transaction->lost)
		return;
	while (index < count && !is_accepted(&recipients[index]))
		index++;
	if (index >= count)
		return;
	copy_reply(transaction->arena, reply, at,
	    index > 0 ? &recipients[index - 1].final : NULL,
	    &recipients[index].final);
	transaction->next_final = index + 1;
}

/* What the header block told, as far as it has been seen. */
static void
fill_from_header(struct transaction *transaction, struct delivery_event *event)
{
	const struct header_scan *scan = &transaction->scan;

	event->stamps_seen = scan->stamps_seen;
	if (scan->message_id[0] != '\0')
		event->message_id = scan->message_id;
	if (scan->run[0] != '\0')
		event->run = scan->run;
	if (scan->stamp_found) {
		event->stamp_id = scan->stamp.id;
		event->stamp_mail_wall_ns = scan->stamp.mail_wall_ns;
		if (scan->stamp.queue_id[0] != '\0')
			event->stamp_queue_id = scan->stamp.queue_id;
	}
	if (scan->queue_id[0] != '\0')
		event->queue_id = scan->queue_id;
	else if (event->ident != NULL)
		event->queue_id = event->ident;
	else
		event->queue_id = event->stamp_queue_id;
}

/* Whether this part tells of the recipient: refused ones are in part 0, others
 * where their last reply is new, or in the last part. */
static bool
belongs(const struct transaction *transaction, size_t index, bool last)
{
	const struct delivery_recipient *recipient =
	    &transaction->event.recipients[index];

	if (recipient->envelope.code != 0 && !is_accepted(recipient))
		return transaction->event.part == 0;
	return index >= transaction->told &&
	       (last || index < transaction->next_final);
}

/* Points the event to the recipients that this part tells of. Mostly there is
 * one part, and they are all. */
static int
fill_recipients(
    struct transaction *transaction, bool last, struct delivery_event *event)
{
	const struct delivery_recipient *all = transaction->event.recipients;
	size_t count = transaction->event.recipient_count;
	bool first = event->part == 0;
	size_t end = first || last ? count : transaction->next_final;

	if (first && last)
		return 0;
	if (transaction->part == NULL)
		transaction->part =
		    arena_alloc(transaction->arena, count * sizeof(*all));
	if (transaction->part == NULL)
		return -1;
	event->recipients = transaction->part;
	event->recipient_count = 0;
	for (size_t i = first ? 0 : transaction->told; i < end; i++)
		if (belongs(transaction, i, last))
			event->recipients[event->recipient_count++] = all[i];
	return 0;
}

int
transaction_event(struct transaction *transaction, enum delivery_ending ending,
    struct stamp at, struct delivery_event *event_r)
{
	bool last = ending != DELIVERY_ENDING_NONE;

	if (!last && transaction->told == transaction->next_final)
		return 0;
	*event_r = transaction->event;
	event_r->ending = ending;
	if (last)
		event_r->end_at = at;
	fill_from_header(transaction, event_r);
	if (transaction->lost ||
	    fill_recipients(transaction, last, event_r) == -1 ||
	    arena_failed(transaction->arena))
		return -1;
	transaction->told = transaction->next_final;
	transaction->event.part++;
	return 1;
}

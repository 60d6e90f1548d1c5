/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A dialogue played from a script. Each step is one byte: what happens (low
 * three bits) and how much of the input it takes (the rest), then these bytes.
 *
 *     0, 1 the client sends       2, 3 the backend sends    4 time passes
 *     5 the client is gone        6 the backend is gone     7 stop, abandon
 *
 * After each step the outputs are taken and checked against what went in:
 *
 * - The client gets only bytes that the backend sent, in order, but for our own
 *   replies and LHLO's, so never a 2xx that the backend did not send.
 * - The backend gets only bytes that the client sent, in order, but for the
 *   commands that are ours.
 * - An event never tells of a success that is in no reply of the backend, and
 *   is told before the reply can be read.
 * - Buffers are bounded.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "lmtp/dialogue.h"
#include "lmtp/line.h"
#include "proto/event.h"
#include "proto/event_codec.h"

#define INPUT_MAX ((size_t)256 << 10)
#define BUFFER_MAX (4 * DIALOGUE_PIECE_BYTES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lines, as bytes with a place to go on searching. */
struct lines {
	struct buffer bytes;
	size_t matched;
};

static struct lines sent[DIALOGUE_SIDES];     /* by the side */
static struct lines received[DIALOGUE_SIDES]; /* by the other one */
static size_t positive_sent;
static size_t positive_recorded;
static struct stamp now;

static struct stamp
tick(void)
{
	now.wall_ns++;
	now.monotonic_ns++;
	return now;
}

static void
record(void *context, const struct delivery_event *delivery)
{
	struct event event = {.type = EVENT_DELIVERY, .delivery = *delivery};
	struct arena *scratch = arena_new(8 << 20);
	struct buffer out = {.limit = 0};

	for (size_t i = 0; i < delivery->recipient_count; i++) {
		const struct delivery_recipient *one = &delivery->recipients[i];

		assert(one->address != NULL);
		assert(one->rcpt_at.wall_ns <= now.wall_ns);
		assert(one->final.code == 0 || one->envelope.code / 100 == 2);
		positive_recorded += one->final.code / 100 == 2;
	}
	assert(positive_recorded <= positive_sent);
	assert((delivery->ending == DELIVERY_ENDING_NONE) ==
	       !stamp_is_set(&delivery->end_at));
	assert(event_encode(&event, scratch, &out) == 0);
	buffer_free(&out);
	arena_free(&scratch);
}

static const struct dialogue_settings settings = {
    .names = {.host = "mx.test", .stamp = "X-Perf-Sent"},
    .backend = "inet:b:24",
    .record = record,
};

static bool
begins_with(const struct line *line, const char *text)
{
	return line->total >= strlen(text) &&
	       memcmp(line->text, text, strlen(text)) == 0;
}

/* Lines that the hook writes on its own account. */
static bool
is_own(const struct line *line)
{
	static const char *const own[] = {"250 2.0.0 Ok\r\n",
	    "501 5.5.4 Malformed parameters\r\n",
	    "502 5.5.1 Command not supported\r\n",
	    "503 5.5.1 Mail transaction in progress\r\n",
	    "421 4.3.2 Service shutting down\r\n", "421 4.4.2 Timeout\r\n"};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (begins_with(line, own[i]))
			return true;
	/* In the reply to LHLO the digits and line ends are ours. */
	return line->size >= 4 &&
	       (line->text[3] == '-' || memmem(line->text, line->size,
					    "XFORWARD IDENT", 14) != NULL);
}

/* Finds the line in what the side sent, behind those found before. */
static bool
was_sent(struct lines *lines, const struct line *line)
{
	const unsigned char *from, *found;

	if (lines->bytes.size == lines->matched)
		return false;
	from = lines->bytes.data + lines->matched;
	found = memmem(
	    from, lines->bytes.size - lines->matched, line->text, line->total);
	if (found == NULL)
		return false;
	lines->matched += (size_t)(found - from) + line->total;
	return true;
}

/* The next whole line of what came out for a side. */
static bool
next_line(struct lines *lines, struct line *line_r)
{
	size_t left = lines->bytes.size - lines->matched;

	if (left == 0 || line_take(lines->bytes.data + lines->matched, left,
			     SIZE_MAX, line_r) != LINE_WHOLE)
		return false;
	lines->matched += line_r->total;
	return true;
}

/* What came out for a side came from the other one, some lines left out. */
static void
check_output(void)
{
	struct line line;

	while (next_line(&received[DIALOGUE_CLIENT], &line))
		assert(
		    is_own(&line) || was_sent(&sent[DIALOGUE_BACKEND], &line));
	while (next_line(&received[DIALOGUE_BACKEND], &line))
		assert(was_sent(&sent[DIALOGUE_CLIENT], &line));
}

static void
take_output(struct dialogue *dialogue, enum dialogue_side side)
{
	struct buffer *output = dialogue_output(dialogue, side);

	assert(output->size <= BUFFER_MAX);
	if (output->size > 0)
		buffer_append(
		    &received[side].bytes, output->data, output->size);
	buffer_consume(output, output->size);
}

static void
settle(struct dialogue *dialogue)
{
	for (int i = 0; i < 3; i++) {
		take_output(dialogue, DIALOGUE_CLIENT);
		take_output(dialogue, DIALOGUE_BACKEND);
		dialogue_resume(dialogue, tick());
	}
	check_output();
	dialogue_waits_for(dialogue);
}

static void
give(struct dialogue *dialogue, enum dialogue_side side, const uint8_t *data,
    size_t size)
{
	if (size == 0 || !dialogue_wants_input(dialogue, side))
		return;
	buffer_append(&sent[side].bytes, data, size);
	for (size_t i = 0; side == DIALOGUE_BACKEND && i < size; i++)
		positive_sent += data[i] == '2';
	dialogue_input(dialogue, side, data, size, tick());
}

static size_t
play(struct dialogue *dialogue, const uint8_t *data, size_t size)
{
	size_t given = data[0] >> 3;

	if (given > size - 1)
		given = size - 1;
	switch (data[0] & 7) {
	case 0:
	case 1:
		give(dialogue, DIALOGUE_CLIENT, data + 1, given);
		return given;
	case 2:
	case 3:
		give(dialogue, DIALOGUE_BACKEND, data + 1, given);
		return given;
	case 4:
		dialogue_timed_out(dialogue, tick());
		break;
	case 5:
	case 6: {
		enum dialogue_side side =
		    (data[0] & 7) == 5 ? DIALOGUE_CLIENT : DIALOGUE_BACKEND;

		if (given > 0)
			dialogue_lost(dialogue, side, tick());
		else
			dialogue_end_of_input(dialogue, side, tick());
		break;
	}
	case 7:
		if (given > 0)
			dialogue_abandon(dialogue, tick());
		else
			dialogue_stop(dialogue, tick());
		break;
	}
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dialogue *dialogue = dialogue_new(&settings, 1, tick());

	positive_sent = positive_recorded = 0;
	for (size_t at = 0; at < size && size < INPUT_MAX; at++) {
		at += play(dialogue, data + at, size - at);
		settle(dialogue);
	}
	dialogue_abandon(dialogue, tick());
	settle(dialogue);
	assert(dialogue_close(dialogue) != DIALOGUE_OPEN);
	dialogue_free(&dialogue);
	for (int side = 0; side < DIALOGUE_SIDES; side++) {
		buffer_free(&sent[side].bytes);
		buffer_free(&received[side].bytes);
		sent[side].matched = received[side].matched = 0;
	}
	return 0;
}

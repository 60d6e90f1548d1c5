/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dialogue: the LMTP proxy as a state machine, without a socket.
 *
 * One dialogue is one connection of Postfix's lmtp client and the connection to
 * the backend opened for it. Bytes and endings of either side go in; bytes for
 * the other side and the events to be recorded come out. What it guarantees:
 *
 * - A recipient is answered with what the backend answered for it, byte for
 *   byte and in order, and with nothing else. The hook's own replies are 250,
 *   501 and 503 to XFORWARD, 502 to commands that it refuses, and 421.
 * - Content passes unchanged; none of it before the backend's 354.
 * - The event that tells of a reply is recorded before the reply can be taken
 *   out of the output buffer.
 * - Its memory is bounded: see dialogue_wants_input().
 *
 * Not thread-safe. Never fails its caller: whatever goes wrong ends it.
 */
#ifndef LMTP_DIALOGUE_H
#define LMTP_DIALOGUE_H

#include "base/clock.h"
#include "lmtp/header_scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct delivery_event;
struct dialogue;

enum dialogue_side { DIALOGUE_CLIENT, DIALOGUE_BACKEND, DIALOGUE_SIDES };

/* At most so many bytes are to be given to dialogue_input() at once, and so
 * many may wait on either side before no more are wanted. */
#define DIALOGUE_PIECE_BYTES ((size_t)64 << 10)

struct dialogue_settings {
	struct header_scan_names names;
	const char *backend; /* endpoint text, for the event */
	void (*record)(void *context, const struct delivery_event *event);
	void *context;
};

/* The settings are kept. `session` numbers the connections of the process.
 * Returns NULL when there is no memory. */
struct dialogue *dialogue_new(const struct dialogue_settings *settings,
    uint64_t session, struct stamp connect_at);
void dialogue_free(struct dialogue **dialogue);

/* Bytes that came from a side; `at` was taken right after they were read. */
void dialogue_input(struct dialogue *dialogue, enum dialogue_side side,
    const void *data, size_t size, struct stamp at);

/* A side will send no more. The client may still be reading. */
void dialogue_end_of_input(
    struct dialogue *dialogue, enum dialogue_side side, struct stamp at);

/* A side can be neither read nor written any more, or was never reached. */
void dialogue_lost(
    struct dialogue *dialogue, enum dialogue_side side, struct stamp at);

/* Nothing came from where dialogue_waits_for() says for too long. */
void dialogue_timed_out(struct dialogue *dialogue, struct stamp at);

/* The program stops: an idle session is told 421, a transaction that has no
 * content yet is cut, others go on until their last reply. Calling it again
 * does nothing. */
void dialogue_stop(struct dialogue *dialogue, struct stamp at);

/* The program does not wait any longer. */
void dialogue_abandon(struct dialogue *dialogue, struct stamp at);

/* Goes on with input that was held back while outputs were full; to be called
 * after bytes were consumed from one. */
void dialogue_resume(struct dialogue *dialogue, struct stamp at);

/* Bytes to be written to a side; the caller consumes them. */
struct buffer *dialogue_output(
    struct dialogue *dialogue, enum dialogue_side side);

/* Whether to read from a side now. Following this bounds all buffers to a few
 * pieces. */
bool dialogue_wants_input(
    const struct dialogue *dialogue, enum dialogue_side side);

enum dialogue_wait {
	DIALOGUE_WAITS_FOR_CLIENT,
	DIALOGUE_WAITS_FOR_GREETING, /* of the backend */
	DIALOGUE_WAITS_FOR_REPLY,
	DIALOGUE_WAITS_FOR_FINAL_REPLY,
	DIALOGUE_WAITS
};

enum dialogue_wait dialogue_waits_for(const struct dialogue *dialogue);

/* How the connections are to be closed. The backend's at once, the client's
 * when its output has been written. */
enum dialogue_close {
	DIALOGUE_OPEN,
	/* The client got or gets a last reply, which must reach it although it
	 * may have sent more. */
	DIALOGUE_CLOSE_GENTLY,
	/* It has closed, or said QUIT, or is to notice at once, so that
	 * lmtp(8) goes on to its next nexthop. */
	DIALOGUE_CLOSE_NOW
};

enum dialogue_close dialogue_close(const struct dialogue *dialogue);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * phase: the one place where stamps become durations.
 *
 * A phase is the interval between the arrivals of two commands, so it contains
 * the server's work on the first command and the client's thinking before the
 * second. The table of phases (name, from, to, what it includes) is in phase.c
 * and serves metrics, API, command line and documentation.
 *
 * Two stamps of the same boot of the same machine are subtracted on the
 * monotonic clock, so that a step of the wall clock cannot make a latency
 * wrong; others on the wall clock. A negative difference is skew: told apart,
 * never a latency.
 */
#ifndef PROTO_PHASE_H
#define PROTO_PHASE_H

#include "proto/event.h"

#include <stdbool.h>
#include <stdint.h>

enum phase {
	PHASE_CONNECT_TO_HELO,
	PHASE_HELO_TO_MAIL,
	PHASE_MAIL_TO_RCPT,
	PHASE_RCPT_TO_DATA,
	PHASE_DATA_TO_CONTENT,
	PHASE_CONTENT_TO_EOM,
	PHASE_QUEUE,
	PHASE_LMTP_ENVELOPE,
	PHASE_LMTP_DATA,
	PHASE_LMTP_REPLY,
	PHASES
};

struct phase_description {
	const char *name;
	const char *from;
	const char *to;
	const char *includes; /* for people */
};

const struct phase_description *phase_describe(enum phase phase);

/* A stamp and the boot it was taken in. */
struct moment {
	struct stamp at;
	const uint8_t *boot_id; /* CLOCK_BOOT_ID_BYTES; NULL: unknown */
};

enum duration_state {
	DURATION_UNKNOWN, /* a stamp is missing */
	DURATION_KNOWN,
	DURATION_SKEWED /* negative between machines, or within one: not a time
			 */
};

struct duration {
	enum duration_state state;
	int64_t ns;
};

struct duration duration_between(struct moment from, struct moment to);

/* Whether monotonic stamps of these boots can be compared: the same one, and
 * known. */
bool boot_is_same(const uint8_t *left, const uint8_t *right);

/* The interval of one phase as seen from one recipient of one delivery. Message
 * and delivery may each be NULL; `recipient` is NULL where the phase does not
 * depend on it. `message_boot_id` and `delivery_boot_id` may be NULL. */
struct phase_view {
	const struct message_event *message;
	const uint8_t *message_boot_id;
	const struct delivery_event *delivery;
	const uint8_t *delivery_boot_id;
	const struct delivery_recipient *recipient;
};

struct duration phase_duration(enum phase phase, const struct phase_view *view);

/* From MAIL FROM to the recipient's last reply. */
struct duration delivery_latency(const struct phase_view *view);

/* The two moments of a phase, for whoever draws a timeline. */
void phase_moments(enum phase phase, const struct phase_view *view,
    struct moment *from_r, struct moment *to_r);

#endif

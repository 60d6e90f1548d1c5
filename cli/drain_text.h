/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drain_text: how fast the queue drains, by domain, and when each part of it
 * would be empty.
 *
 * A time is told only where enough recipients left to tell it from; what it was
 * told from stands beside it. That nothing more comes is assumed. Pure.
 */
#ifndef CLI_DRAIN_TEXT_H
#define CLI_DRAIN_TEXT_H

#include "store/query_drain.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buffer;
struct text_page;

struct drain {
	struct drain_answer answer;
	int64_t now_wall_ns; /* as was asked */
	bool with_reasons;   /* say what is known of the message that waits
				longest */
};

enum drain_state {
	DRAIN_MOVING,    /* left per window give a time */
	DRAIN_TOO_FEW,   /* some left, too few for that */
	DRAIN_TOO_EARLY, /* none left, but nobody waits that long */
	DRAIN_STANDING,  /* none left, and some wait longer */
	DRAIN_STATES
};

struct drain_estimate {
	enum drain_state state;
	uint64_t left;        /* in the window */
	unsigned minutes;     /* the window */
	int64_t remaining_ns; /* DRAIN_MOVING */
};

struct drain_estimate drain_estimate(
    const struct drain_domain *domain, int64_t now_wall_ns);

/* Of how many domains the oldest message is asked for. */
#define DRAIN_RECORDS 6

/* Appends a table of the domains that most recipients wait for; nothing when
 * nobody waits. `arena` is used meanwhile. */
void drain_text(
    struct text_page *page, const struct drain *drain, struct arena *arena);

/* The same as a JSON array, of all domains. */
void drain_json(const struct drain *drain, struct buffer *out);

#endif

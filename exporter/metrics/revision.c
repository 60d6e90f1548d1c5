/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of outcomes and revisions. Read by the join when it counts, and
 * by the table of metrics for the names of label sets.
 */
#include "exporter/metrics/revision.h"

#include <stdint.h>

static const enum recipient_state outcomes[OUTCOMES] = {
    RECIPIENT_DELIVERED,
    RECIPIENT_BOUNCED,
    RECIPIENT_RELAYED,
    RECIPIENT_HANDED_OFF,
    RECIPIENT_EXPIRED,
    RECIPIENT_DISCARDED,
    RECIPIENT_DELETED,
    RECIPIENT_GHOST,
    RECIPIENT_LOST,
    RECIPIENT_UNKNOWN,
    RECIPIENT_EXPANDED,
    RECIPIENT_MERGED,
};

static const enum recipient_state open_states[OPEN_STATES] = {
    RECIPIENT_IN_FLIGHT,
    RECIPIENT_DEFERRED,
    RECIPIENT_HELD,
};

#define TO(state) (UINT32_C(1) << RECIPIENT_##state)
#define SENT (TO(DELIVERED) | TO(RELAYED) | TO(HANDED_OFF) | TO(DISCARDED))
#define SAID (SENT | TO(BOUNCED) | TO(EXPANDED))
#define OPEN (TO(IN_FLIGHT) | TO(DEFERRED) | TO(HELD))
/* What is told anew begins anew. */
#define AGAIN TO(IN_FLIGHT)
/* Nobody has said anything of the recipient itself. */
#define SUPPOSED                                                               \
	(SAID | OPEN | TO(EXPIRED) | TO(DELETED) | TO(GHOST) | TO(LOST) |      \
	    TO(UNKNOWN) | TO(MERGED))

/* What Dovecot's log may make of a delivery. */
#define FILED (TO(HANDED_OFF) | TO(BOUNCED) | TO(DISCARDED))

static const uint32_t successors[RECIPIENT_STATES] = {
    [RECIPIENT_DELIVERED] = AGAIN | FILED,
    [RECIPIENT_BOUNCED] = AGAIN | SENT,
    [RECIPIENT_RELAYED] = AGAIN | TO(DELIVERED) | FILED,
    [RECIPIENT_HANDED_OFF] =
	(AGAIN | TO(DELIVERED) | TO(RELAYED) | FILED) & ~TO(HANDED_OFF),
    [RECIPIENT_EXPANDED] = AGAIN | SENT | TO(BOUNCED),
    [RECIPIENT_EXPIRED] = AGAIN | SAID,
    /* Maybe only an operator has said so. */
    [RECIPIENT_DELETED] = SUPPOSED & ~TO(DELETED),
    [RECIPIENT_DISCARDED] =
	(AGAIN | SAID | TO(EXPIRED) | TO(DELETED)) & ~TO(DISCARDED),
    [RECIPIENT_GHOST] = SUPPOSED & ~TO(GHOST),
    [RECIPIENT_LOST] = SUPPOSED & ~TO(LOST),
    [RECIPIENT_UNKNOWN] = SUPPOSED & ~TO(UNKNOWN),
    [RECIPIENT_MERGED] = SUPPOSED & ~TO(MERGED),
    /* It was accepted after all, which is no outcome yet. */
    [RECIPIENT_ABORTED] = TO(IN_FLIGHT),
};

static unsigned
number_in(const enum recipient_state *states, unsigned count,
    enum recipient_state state)
{
	unsigned number = 0;

	while (number < count && states[number] != state)
		number++;
	return number;
}

unsigned
outcome_number(enum recipient_state state)
{
	return number_in(outcomes, OUTCOMES, state);
}

enum recipient_state
outcome_state(unsigned number)
{
	return outcomes[number];
}

unsigned
open_state_number(enum recipient_state state)
{
	return number_in(open_states, OPEN_STATES, state);
}

enum recipient_state
open_state(unsigned number)
{
	return open_states[number];
}

static unsigned
bits(uint32_t set)
{
	return (unsigned)__builtin_popcount(set);
}

unsigned
revision_number(enum recipient_state from, enum recipient_state to)
{
	uint32_t below = (UINT32_C(1) << to) - 1;
	unsigned number = 0;

	if ((successors[from] >> to & 1) == 0)
		return REVISIONS;
	for (unsigned i = 0; i < from; i++)
		number += bits(successors[i]);
	return number + bits(successors[from] & below);
}

enum recipient_state
revision_from(unsigned number)
{
	unsigned from = 0;

	while (from < RECIPIENT_STATES - 1 && number >= bits(successors[from]))
		number -= bits(successors[from++]);
	return (enum recipient_state)from;
}

enum recipient_state
revision_to(unsigned number)
{
	enum recipient_state from = revision_from(number);
	unsigned to = 0;

	while (to < RECIPIENT_STATES &&
	       revision_number(from, (enum recipient_state)to) != number)
		to++;
	return (enum recipient_state)to;
}

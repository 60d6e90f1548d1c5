/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for the enumerations of records, for people and for JSON. */
#include "store/record.h"

static const char *const recipient_states[RECIPIENT_STATES] = {
    [RECIPIENT_IN_FLIGHT] = "in_flight",
    [RECIPIENT_DELIVERED] = "delivered",
    [RECIPIENT_BOUNCED] = "bounced",
    [RECIPIENT_REJECTED] = "rejected",
    [RECIPIENT_ABORTED] = "aborted",
};

static const char *const leg_states[LEG_STATES] = {
    [LEG_WAITING] = "waiting",
    [LEG_STAMPED] = "stamped",
    [LEG_QUEUE_ID] = "queue_id",
    [LEG_UNSTAMPED] = "unstamped",
    [LEG_FOREIGN] = "foreign",
};

const char *
recipient_state_name(enum recipient_state state)
{
	return (unsigned)state < RECIPIENT_STATES ? recipient_states[state]
						  : "unknown";
}

const char *
leg_state_name(enum leg_state state)
{
	return (unsigned)state < LEG_STATES ? leg_states[state] : "unknown";
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by evidence.c when a recipient's state changes. */
#include "exporter/join/departure.h"

#include <stdbool.h>

#include "exporter/join/fate.h"
#include "store/store.h"

#define WAITED_NS (60 * CLOCK_NS_PER_SECOND)
#define DEFERRED (EVIDENCE_HOOK_DEFERRED | EVIDENCE_LOG_DEFERRED)

static bool
has_waited(const struct open_message *message,
    const struct open_recipient *recipient, int64_t wall_ns)
{
	return (recipient->evidence & DEFERRED) != 0 ||
	       wall_ns - message->mail_at.wall_ns > WAITED_NS;
}

int
departure_note(const struct open_message *message, uint32_t number,
    enum recipient_state to, int64_t wall_ns, struct reason *reason)
{
	const struct open_recipient *recipient = &message->recipients[number];

	if (wall_ns == 0 || !fate_is_open(recipient->state) ||
	    fate_is_open(to) || !has_waited(message, recipient, wall_ns))
		return 0;
	return store_add_departure(&message->key, number, wall_ns, reason);
}

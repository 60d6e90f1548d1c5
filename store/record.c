/* SPDX-License-Identifier: BSD-2-Clause */
/* What all who read records ask: words for their enumerations, for people and
 * for JSON, and when one began. No state; any thread. */
#include "store/record.h"

static const char *const recipient_states[RECIPIENT_STATES] = {
    [RECIPIENT_IN_FLIGHT] = "in_flight",
    [RECIPIENT_DELIVERED] = "delivered",
    [RECIPIENT_BOUNCED] = "bounced",
    [RECIPIENT_REJECTED] = "rejected",
    [RECIPIENT_ABORTED] = "aborted",
    [RECIPIENT_DEFERRED] = "deferred",
    [RECIPIENT_HELD] = "held",
    [RECIPIENT_RELAYED] = "relayed",
    [RECIPIENT_HANDED_OFF] = "handed_off",
    [RECIPIENT_EXPIRED] = "expired",
    [RECIPIENT_DISCARDED] = "discarded",
    [RECIPIENT_DELETED] = "deleted",
    [RECIPIENT_GHOST] = "ghost",
    [RECIPIENT_LOST] = "lost",
    [RECIPIENT_UNKNOWN] = "unknown",
    [RECIPIENT_EXPANDED] = "expanded",
    [RECIPIENT_MERGED] = "merged",
};

static const char *const fate_reasons[FATE_REASONS] = {
    [FATE_REASON_NONE] = "none",
    [FATE_REASON_REDIRECTED] = "redirected",
    [FATE_REASON_DUPLICATE] = "duplicate",
    [FATE_REASON_LOG_GAP] = "log_gap",
    [FATE_REASON_BULK_DELETE] = "bulk_delete",
    [FATE_REASON_CORRUPT] = "corrupt",
    [FATE_REASON_REFUSED] = "refused",
    [FATE_REASON_NEVER_QUEUED] = "never_queued",
    [FATE_REASON_ACKNOWLEDGED] = "acknowledged",
    [FATE_REASON_ACKNOWLEDGED_UNKNOWN] = "acknowledged_unknown",
    [FATE_REASON_OUTLIVED] = "outlived_the_queue",
};

static const char *const filing_actions[FILING_ACTIONS] = {
    [FILING_STORED] = "stored",
    [FILING_FORWARDED] = "forwarded",
    [FILING_ANSWERED] = "answered",
    [FILING_REJECTED] = "rejected",
    [FILING_DISCARDED] = "discarded",
};

static const char *const leg_states[LEG_STATES] = {
    [LEG_WAITING] = "waiting",
    [LEG_STAMPED] = "stamped",
    [LEG_QUEUE_ID] = "queue_id",
    [LEG_UNSTAMPED] = "unstamped",
    [LEG_FOREIGN] = "foreign",
};

int64_t
record_begin_ns(const struct message_record *record)
{
	const struct message_event *event = &record->event;

	if (!uuid_is_set(&event->id))
		return record->leg_count > 0
			   ? record->legs[0].event.mail_at.wall_ns
			   : 0;
	return stamp_is_set(&event->mail_at) ? event->mail_at.wall_ns
					     : uuid_wall_ns(&event->id);
}

const char *
recipient_state_name(enum recipient_state state)
{
	return (unsigned)state < RECIPIENT_STATES ? recipient_states[state]
						  : "unknown";
}

const char *
fate_reason_name(enum fate_reason reason)
{
	return (unsigned)reason < FATE_REASONS ? fate_reasons[reason]
					       : "unknown";
}

const char *
filing_action_name(enum filing_action action)
{
	return (unsigned)action < FILING_ACTIONS ? filing_actions[action]
						 : "unknown";
}

const char *
leg_state_name(enum leg_state state)
{
	return (unsigned)state < LEG_STATES ? leg_states[state] : "unknown";
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for states and reasons. Called by whatever prints recipients. */
#include "cli/fate_text.h"

#include "cli/text_page.h"

static const struct {
	enum page_colour colour;
	const char *heading;
} states[RECIPIENT_STATES] = {
    [RECIPIENT_IN_FLIGHT] = {PAGE_WARN, "in flight"},
    [RECIPIENT_DELIVERED] = {PAGE_GOOD, "delivered"},
    [RECIPIENT_BOUNCED] = {PAGE_BAD, "bounced"},
    [RECIPIENT_REJECTED] = {PAGE_BAD, "refused by Postfix"},
    [RECIPIENT_ABORTED] = {PAGE_WARN, "named before it ended"},
    [RECIPIENT_DEFERRED] = {PAGE_WARN, "deferred: Postfix will try again"},
    [RECIPIENT_HELD] = {PAGE_WARN, "in the hold queue"},
    [RECIPIENT_RELAYED] = {PAGE_GOOD, "relayed to another host"},
    [RECIPIENT_HANDED_OFF] = {PAGE_GOOD, "handed off to a command or filter"},
    [RECIPIENT_EXPIRED] = {PAGE_BAD, "too old: returned to the sender"},
    [RECIPIENT_DISCARDED] = {PAGE_WARN, "discarded as configured"},
    [RECIPIENT_DELETED] = {PAGE_WARN, "deleted by an administrator"},
    [RECIPIENT_GHOST] = {PAGE_WARN, "never queued by Postfix"},
    [RECIPIENT_LOST] = {PAGE_BAD, "lost"},
    [RECIPIENT_UNKNOWN] = {PAGE_BAD, "unknown: it cannot be decided"},
    [RECIPIENT_EXPANDED] = {PAGE_PLAIN, "expanded: others continue it"},
    [RECIPIENT_MERGED] = {PAGE_PLAIN, "done without a delivery of its own"},
};

static const char *const reasons[FATE_REASONS] = {
    [FATE_REASON_REDIRECTED] = "redirected to somebody else",
    [FATE_REASON_DUPLICATE] = "the same mailbox as another recipient's",
    [FATE_REASON_LOG_GAP] = "part of the log of its time is missing",
    [FATE_REASON_BULK_DELETE] = "postsuper -d ALL was run meanwhile",
    [FATE_REASON_CORRUPT] = "its queue file is in the corrupt queue",
    [FATE_REASON_REFUSED] = "refused after the milter had let it pass",
    [FATE_REASON_NEVER_QUEUED] = "no sign of a queue file",
    [FATE_REASON_ACKNOWLEDGED] = "it was lost, as an operator acknowledged",
    [FATE_REASON_ACKNOWLEDGED_UNKNOWN] =
	"it was unknown, as an operator acknowledged",
    [FATE_REASON_OUTLIVED] = "nobody saw it end within the queue lifetime",
};

void
fate_text_state(struct text_page *page, enum recipient_state state)
{
	page_colour(
	    page, state < RECIPIENT_STATES ? states[state].colour : PAGE_WARN);
	page_name(page, recipient_state_name(state));
	page_colour(page, PAGE_PLAIN);
}

const char *
fate_text_heading(enum recipient_state state)
{
	return state < RECIPIENT_STATES ? states[state].heading : "unknown";
}

const char *
fate_text_reason(const struct recipient_record *recipient)
{
	if (recipient->reason < FATE_REASONS &&
	    reasons[recipient->reason] != NULL)
		return reasons[recipient->reason];
	if (recipient->state == RECIPIENT_LOST)
		return "gone from the queue, and the log does not say why";
	return "";
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules, in the order of their weight: the first that holds decides. Called
 * by the join for each recipient whose evidence, or whose message's, has
 * changed.
 */
#include "exporter/join/fate.h"

#include <stddef.h>

/* There was a queue file. */
#define CONFIRMED (MESSAGE_QUEUED | MESSAGE_SEEN_BY_HOOK | MESSAGE_IN_QUEUE)

/* A rule holds when all of `message` and any of `recipient` (or it is 0) are
 * there, and none of `without`, which is of the message. */
struct rule {
	uint32_t message;
	uint32_t without;
	uint32_t recipient;
	struct fate fate;
};

/* clang-format off */
static const struct rule rules[] = {
    /* What was said of the recipient itself. */
    {0, 0, EVIDENCE_REFUSED, {RECIPIENT_REJECTED, 0}},
    {0, 0, EVIDENCE_HOOK_DELIVERED | EVIDENCE_LOG_DELIVERED,
	{RECIPIENT_DELIVERED, 0}},
    {0, 0, EVIDENCE_LOG_RELAYED, {RECIPIENT_RELAYED, 0}},
    {0, 0, EVIDENCE_LOG_HANDED_OFF, {RECIPIENT_HANDED_OFF, 0}},
    {0, 0, EVIDENCE_LOG_DISCARDED, {RECIPIENT_DISCARDED, 0}},
    {0, 0, EVIDENCE_HOOK_REFUSED | EVIDENCE_LOG_BOUNCED,
	{RECIPIENT_BOUNCED, 0}},
    {0, 0, EVIDENCE_LOG_EXPANDED, {RECIPIENT_EXPANDED, 0}},

    /* How the message ended for whoever was left. */
    {MESSAGE_EXPIRED, 0, 0, {RECIPIENT_EXPIRED, 0}},
    {MESSAGE_DELETED, 0, 0, {RECIPIENT_DELETED, 0}},
    {MESSAGE_DISCARDED, 0, 0, {RECIPIENT_DISCARDED, 0}},
    {MESSAGE_REFUSED | MESSAGE_ACCEPTED, CONFIRMED, 0,
	{RECIPIENT_GHOST, FATE_REASON_REFUSED}},
    {MESSAGE_REMOVED | MESSAGE_REDIRECTED, 0, 0,
	{RECIPIENT_MERGED, FATE_REASON_REDIRECTED}},
    {MESSAGE_REMOVED | MESSAGE_LOG_GAP, 0, 0,
	{RECIPIENT_UNKNOWN, FATE_REASON_LOG_GAP}},
    {MESSAGE_REMOVED, 0, 0, {RECIPIENT_MERGED, FATE_REASON_DUPLICATE}},

    /* The queue file is gone, and nobody said why. */
    {MESSAGE_CORRUPT, 0, 0, {RECIPIENT_LOST, FATE_REASON_CORRUPT}},
    {MESSAGE_SEEN_CORRUPT, 0, 0, {RECIPIENT_LOST, FATE_REASON_CORRUPT}},
    {MESSAGE_ABSENT | MESSAGE_BULK_DELETED, 0, 0,
	{RECIPIENT_UNKNOWN, FATE_REASON_BULK_DELETE}},
    {MESSAGE_ABSENT | MESSAGE_LOG_GAP, 0, 0,
	{RECIPIENT_UNKNOWN, FATE_REASON_LOG_GAP}},
    {MESSAGE_ABSENT | MESSAGE_BLIND, 0, 0,
	{RECIPIENT_UNKNOWN, FATE_REASON_LOG_GAP}},
    {MESSAGE_ABSENT, CONFIRMED, 0,
	{RECIPIENT_GHOST, FATE_REASON_NEVER_QUEUED}},
    {MESSAGE_ABSENT, 0, 0, {RECIPIENT_LOST, 0}},

    /* Who was in the queue cannot be there any more. */
    {MESSAGE_OUTLIVED, 0, 0, {RECIPIENT_UNKNOWN, FATE_REASON_OUTLIVED}},

    /* It is in the queue, or was never let in. */
    {MESSAGE_HELD, 0, 0, {RECIPIENT_HELD, 0}},
    {MESSAGE_SEEN_HELD, 0, 0, {RECIPIENT_HELD, 0}},
    {0, CONFIRMED | MESSAGE_ACCEPTED, 0, {RECIPIENT_ABORTED, 0}},
    {0, 0, EVIDENCE_HOOK_DEFERRED | EVIDENCE_LOG_DEFERRED,
	{RECIPIENT_DEFERRED, 0}},
};
/* clang-format on */

/* What the LMTP server took is delivered unless Dovecot says what else was done
 * with it. */
static struct fate
fate_of_taken(uint32_t recipient)
{
	static const struct {
		uint32_t evidence;
		enum recipient_state state;
	} filings[] = {
	    {EVIDENCE_STORED, RECIPIENT_DELIVERED},
	    {EVIDENCE_SIEVE_FORWARDED, RECIPIENT_HANDED_OFF},
	    {EVIDENCE_SIEVE_REJECTED, RECIPIENT_BOUNCED},
	    {EVIDENCE_SIEVE_DISCARDED, RECIPIENT_DISCARDED},
	};

	for (size_t i = 0; i < sizeof(filings) / sizeof(filings[0]); i++)
		if (recipient & filings[i].evidence)
			return (struct fate){filings[i].state, 0};
	return (struct fate){RECIPIENT_DELIVERED, 0};
}

static struct fate
by_rules(uint32_t message, uint32_t recipient)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const struct rule *rule = &rules[i];

		if ((message & rule->message) == rule->message &&
		    (message & rule->without) == 0 &&
		    (rule->recipient == 0 || (recipient & rule->recipient)))
			return rule->fate.state == RECIPIENT_DELIVERED
				   ? fate_of_taken(recipient)
				   : rule->fate;
	}
	return (struct fate){RECIPIENT_IN_FLIGHT, FATE_REASON_NONE};
}

/* An operator's word stands for what nobody else can say, and for nothing else.
 */
struct fate
fate_of(uint32_t message, uint32_t recipient)
{
	struct fate fate = by_rules(message, recipient);

	if ((message & MESSAGE_ACKNOWLEDGED) == 0 ||
	    !fate_is_missing(fate.state))
		return fate;
	return (struct fate){RECIPIENT_DELETED,
	    fate.state == RECIPIENT_LOST ? FATE_REASON_ACKNOWLEDGED
					 : FATE_REASON_ACKNOWLEDGED_UNKNOWN};
}

bool
fate_is_open(enum recipient_state state)
{
	return state == RECIPIENT_IN_FLIGHT || state == RECIPIENT_DEFERRED ||
	       state == RECIPIENT_HELD;
}

bool
fate_is_missing(enum recipient_state state)
{
	return state == RECIPIENT_LOST || state == RECIPIENT_UNKNOWN;
}

bool
fate_is_loss(struct fate fate)
{
	return fate.state == RECIPIENT_LOST ||
	       fate.reason == FATE_REASON_ACKNOWLEDGED;
}

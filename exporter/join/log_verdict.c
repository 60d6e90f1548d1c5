/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables from the log's words to evidence. Called by join_log*.c.
 */
#include "exporter/join/log_verdict.h"

#include "exporter/join/fate.h"
#include "store/route.h"

static uint32_t
action_bits(enum maillog_action action)
{
	static const uint32_t bits[MAILLOG_ACTIONS] = {
	    [MAILLOG_DISCARD] = MESSAGE_DISCARDED,
	    [MAILLOG_HOLD] = MESSAGE_HELD,
	    [MAILLOG_REDIRECT] = MESSAGE_REDIRECTED,
	};

	return bits[action];
}

/* A refusal counts where it comes after our end of message. */
static uint32_t
milter_bits(const struct maillog_record *record)
{
	static const struct maillog_view end =
	    MAILLOG_LITERAL("END-OF-MESSAGE");

	if (record->action != MAILLOG_REJECT)
		return action_bits(record->action);
	if (record->kind == MAILLOG_MILTER_CONTENT ||
	    maillog_view_equal(record->fields[MAILLOG_WHERE], end))
		return MESSAGE_REFUSED;
	return 0;
}

uint32_t
log_verdict_decision(const struct maillog_record *record)
{
	switch (record->kind) {
	case MAILLOG_RESTRICTION:
	case MAILLOG_CONTENT:
		return action_bits(record->action);
	case MAILLOG_MILTER:
	case MAILLOG_MILTER_CONTENT:
		return milter_bits(record);
	case MAILLOG_REFUSED:
		return MESSAGE_REFUSED;
	default:
		return 0;
	}
}

static const struct maillog_view discarded_words[] = {
    MAILLOG_LITERAL("delivered to file: /dev/null"),
    MAILLOG_LITERAL("discarded"),
    MAILLOG_LITERAL("undeliverable postmaster notification discarded"),
};

static const struct maillog_view command_words =
    MAILLOG_LITERAL("delivered to command");

static bool
is_discarded(const struct maillog_record *record)
{
	const size_t count =
	    sizeof(discarded_words) / sizeof(discarded_words[0]);

	if (record->program == MAILLOG_PROGRAM_DISCARD)
		return true;
	if (record->program != MAILLOG_PROGRAM_LOCAL &&
	    record->program != MAILLOG_PROGRAM_QMGR)
		return false;
	for (size_t i = 0; i < count; i++)
		if (maillog_view_begins(
			record->fields[MAILLOG_TEXT], discarded_words[i]))
			return true;
	return false;
}

/* By the agent that it was sent with. */
static uint32_t
sent_bits(const struct maillog_record *record)
{
	if (is_discarded(record))
		return EVIDENCE_LOG_DISCARDED;
	switch (record->program) {
	case MAILLOG_PROGRAM_LOCAL:
		return maillog_view_begins(
			   record->fields[MAILLOG_TEXT], command_words)
			   ? EVIDENCE_LOG_HANDED_OFF
			   : EVIDENCE_LOG_DELIVERED;
	case MAILLOG_PROGRAM_PIPE:
		return EVIDENCE_LOG_HANDED_OFF;
	case MAILLOG_PROGRAM_SMTP:
		return EVIDENCE_LOG_RELAYED;
	default:
		return EVIDENCE_LOG_DELIVERED;
	}
}

static struct log_delivery
sent(const struct maillog_record *record)
{
	struct log_delivery delivery = {.evidence = sent_bits(record)};
	bool has_id = record->fields[MAILLOG_NEW_QUEUE_ID].size > 0;

	delivery.is_forward =
	    has_id && record->program == MAILLOG_PROGRAM_LOCAL;
	delivery.goes_on =
	    delivery.is_forward ||
	    (has_id &&
		(record->program == MAILLOG_PROGRAM_SMTP ||
		    record->program == MAILLOG_PROGRAM_LMTP) &&
		log_verdict_is_loopback(record->fields[MAILLOG_RELAY]));
	if (delivery.is_forward)
		delivery.evidence = EVIDENCE_LOG_HANDED_OFF;
	return delivery;
}

struct log_delivery
log_verdict_delivery(const struct maillog_record *record)
{
	switch (record->status) {
	case MAILLOG_SENT:
		return sent(record);
	case MAILLOG_DEFERRED:
	case MAILLOG_SOFT_BOUNCED:
		return (struct log_delivery){.evidence = EVIDENCE_LOG_DEFERRED};
	case MAILLOG_BOUNCED:
		return (struct log_delivery){.evidence = EVIDENCE_LOG_BOUNCED};
	case MAILLOG_DELIVERABLE:
	case MAILLOG_UNDELIVERABLE:
	case MAILLOG_UNDELIVERABLE_NOT_CACHED:
		return (struct log_delivery){
		    .evidence = EVIDENCE_LOG_DISCARDED, .is_probe = true};
	default:
		return (struct log_delivery){0};
	}
}

bool
log_verdict_is_loopback(struct maillog_view peer)
{
	struct maillog_view name, address;

	maillog_peer_split(peer, &name, &address);
	return address.size > 0 &&
	       (route_is_loopback(address.at, address.size) ||
		   memchr(address.at, '/', address.size) != NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* fate: the rules hold for every set of evidence, in whatever order it came. */
#include "exporter/join/fate.h"

#include "exporter/metrics/revision.h"

#include "tests/lib/unit.h"

#define MESSAGE_BITS 16
#define RECIPIENT_BITS 16

/* What Postfix or the LMTP server has said of the recipient by name. */
#define NAMED_OUTCOMES                                                         \
	(EVIDENCE_HOOK_DELIVERED | EVIDENCE_HOOK_REFUSED |                     \
	    EVIDENCE_LOG_DELIVERED | EVIDENCE_LOG_RELAYED |                    \
	    EVIDENCE_LOG_HANDED_OFF | EVIDENCE_LOG_DISCARDED |                 \
	    EVIDENCE_LOG_BOUNCED | EVIDENCE_LOG_EXPANDED)

/* Dovecot, of what became of a delivery. */
#define BY_SIEVE                                                               \
	(EVIDENCE_SIEVE_FORWARDED | EVIDENCE_SIEVE_REJECTED |                  \
	    EVIDENCE_SIEVE_DISCARDED)

static enum recipient_state
state_of(uint32_t message, uint32_t recipient)
{
	return fate_of(message, recipient).state;
}

static void
assert_revision(enum recipient_state from, enum recipient_state to)
{
	if (from != to && revision_number(from, to) == REVISIONS)
		fail_msg("from %s to %s", recipient_state_name(from),
		    recipient_state_name(to));
}

static void
usual_lives_have_the_usual_fates(void **state)
{
	static const struct {
		uint32_t message, recipient;
		struct fate fate;
	} cases[] = {
	    {0, EVIDENCE_NAMED, {RECIPIENT_ABORTED, 0}},
	    {MESSAGE_ACCEPTED, EVIDENCE_NAMED, {RECIPIENT_IN_FLIGHT, 0}},
	    {MESSAGE_ACCEPTED, EVIDENCE_REFUSED, {RECIPIENT_REJECTED, 0}},
	    {MESSAGE_QUEUED, 0, {RECIPIENT_IN_FLIGHT, 0}},
	    {MESSAGE_ACCEPTED | MESSAGE_QUEUED, EVIDENCE_LOG_DEFERRED,
		{RECIPIENT_DEFERRED, 0}},
	    {MESSAGE_ACCEPTED | MESSAGE_HELD, 0, {RECIPIENT_HELD, 0}},
	    {MESSAGE_ACCEPTED | MESSAGE_QUEUED | MESSAGE_REMOVED,
		EVIDENCE_LOG_DEFERRED | EVIDENCE_HOOK_DELIVERED,
		{RECIPIENT_DELIVERED, 0}},
	    {MESSAGE_QUEUED | MESSAGE_REMOVED | MESSAGE_EXPIRED,
		EVIDENCE_LOG_DEFERRED, {RECIPIENT_EXPIRED, 0}},
	    {MESSAGE_QUEUED | MESSAGE_REMOVED, EVIDENCE_NAMED,
		{RECIPIENT_MERGED, FATE_REASON_DUPLICATE}},
	    {MESSAGE_ACCEPTED | MESSAGE_REFUSED, EVIDENCE_NAMED,
		{RECIPIENT_GHOST, FATE_REASON_REFUSED}},
	    {MESSAGE_ACCEPTED | MESSAGE_ABSENT, EVIDENCE_NAMED,
		{RECIPIENT_GHOST, FATE_REASON_NEVER_QUEUED}},
	    {MESSAGE_ACCEPTED | MESSAGE_QUEUED | MESSAGE_ABSENT, EVIDENCE_NAMED,
		{RECIPIENT_LOST, 0}},
	    {MESSAGE_QUEUED | MESSAGE_ABSENT | MESSAGE_LOG_GAP, EVIDENCE_NAMED,
		{RECIPIENT_UNKNOWN, FATE_REASON_LOG_GAP}},
	    {MESSAGE_QUEUED | MESSAGE_ABSENT | MESSAGE_ACKNOWLEDGED, 0,
		{RECIPIENT_DELETED, FATE_REASON_ACKNOWLEDGED}},
	    {MESSAGE_QUEUED | MESSAGE_ABSENT | MESSAGE_LOG_GAP |
		    MESSAGE_ACKNOWLEDGED,
		0, {RECIPIENT_DELETED, FATE_REASON_ACKNOWLEDGED_UNKNOWN}},
	    {MESSAGE_QUEUED | MESSAGE_HELD | MESSAGE_OUTLIVED, 0,
		{RECIPIENT_UNKNOWN, FATE_REASON_OUTLIVED}},
	    {MESSAGE_QUEUED | MESSAGE_REMOVED | MESSAGE_OUTLIVED,
		EVIDENCE_LOG_DELIVERED, {RECIPIENT_DELIVERED, 0}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fate fate =
		    fate_of(cases[i].message, cases[i].recipient);

		assert_int_equal(fate.state, cases[i].fate.state);
		assert_int_equal(fate.reason, cases[i].fate.reason);
	}
}

/* I6: from our end of message alone nothing is ever lost. */
static void
lost_needs_a_queue_file_that_is_gone(void **state)
{
	for (uint32_t message = 0; message < 1u << MESSAGE_BITS; message++)
		for (uint32_t bit = 0; bit <= RECIPIENT_BITS; bit++) {
			uint32_t recipient = (1u << bit) >> 1;

			if (state_of(message, recipient) != RECIPIENT_LOST)
				continue;
			assert_true(
			    message & (MESSAGE_ABSENT | MESSAGE_CORRUPT));
			assert_false(recipient & NAMED_OUTCOMES);
			if (message & MESSAGE_CORRUPT)
				continue;
			assert_true(
			    message & (MESSAGE_QUEUED | MESSAGE_SEEN_BY_HOOK |
					  MESSAGE_IN_QUEUE));
			assert_false(
			    message &
			    (MESSAGE_REMOVED | MESSAGE_DELETED |
				MESSAGE_EXPIRED | MESSAGE_DISCARDED |
				MESSAGE_LOG_GAP | MESSAGE_BULK_DELETED));
		}
}

/* An operator cannot make anything else of what somebody else can say. */
static void
only_what_is_missing_can_be_acknowledged(void **state)
{
	for (uint32_t message = 0; message < 1u << MESSAGE_BITS; message++)
		for (uint32_t bit = 0; bit <= RECIPIENT_BITS; bit++) {
			uint32_t recipient = (1u << bit) >> 1;
			struct fate before, after;

			if (message & MESSAGE_ACKNOWLEDGED)
				continue;
			before = fate_of(message, recipient);
			after =
			    fate_of(message | MESSAGE_ACKNOWLEDGED, recipient);
			assert_int_equal(
			    fate_is_loss(before), fate_is_loss(after));
			if (fate_is_missing(before.state))
				assert_int_equal(
				    after.state, RECIPIENT_DELETED);
			else
				assert_memory_equal(
				    &before, &after, sizeof(before));
		}
}

/* Case 49: no way back from a delivery, whatever else comes to be known, but
 * what Dovecot says of it. */
static void
delivered_stays_delivered(void **state)
{
	for (uint32_t message = 0; message < 1u << MESSAGE_BITS; message++)
		for (uint32_t bit = 2; bit < RECIPIENT_BITS; bit++) {
			uint32_t more = 1u << bit;

			if ((more & BY_SIEVE) == 0)
				assert_int_equal(
				    state_of(message,
					EVIDENCE_HOOK_DELIVERED | more),
				    RECIPIENT_DELIVERED);
			assert_int_equal(
			    state_of(message, EVIDENCE_HOOK_DELIVERED |
						  EVIDENCE_STORED | more),
			    RECIPIENT_DELIVERED);
		}
}

/* Cases 34 and 35. Of several the one that keeps most of the mail decides. */
static void
what_sieve_did_is_the_outcome_of_a_delivery(void **state)
{
	static const struct {
		uint32_t evidence;
		enum recipient_state state;
	} cases[] = {
	    {EVIDENCE_SIEVE_DISCARDED, RECIPIENT_DISCARDED},
	    {EVIDENCE_SIEVE_REJECTED | EVIDENCE_SIEVE_DISCARDED,
		RECIPIENT_BOUNCED},
	    {EVIDENCE_SIEVE_FORWARDED | EVIDENCE_SIEVE_DISCARDED,
		RECIPIENT_HANDED_OFF},
	    {EVIDENCE_STORED | EVIDENCE_SIEVE_FORWARDED |
		    EVIDENCE_SIEVE_DISCARDED,
		RECIPIENT_DELIVERED},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
		    state_of(MESSAGE_ACCEPTED | MESSAGE_QUEUED,
			EVIDENCE_LOG_DELIVERED | cases[i].evidence),
		    cases[i].state);
		assert_int_equal(state_of(MESSAGE_ACCEPTED | MESSAGE_QUEUED,
				     cases[i].evidence),
		    RECIPIENT_IN_FLIGHT);
	}
}

/* Label sets are closed: no evidence leads from an outcome to a state for which
 * there is no label. */
static void
whatever_comes_the_revision_has_a_label(void **state)
{
	for (uint32_t message = 0; message < 1u << MESSAGE_BITS; message++)
		for (uint32_t bit = 0; bit <= RECIPIENT_BITS; bit++) {
			uint32_t recipient = (1u << bit) >> 1;
			enum recipient_state from =
			    state_of(message, recipient);

			if (outcome_number(from) == OUTCOMES)
				continue;
			for (uint32_t more = 0; more < MESSAGE_BITS; more++)
				assert_revision(from,
				    state_of(message | 1u << more, recipient));
			for (uint32_t more = 2; more < RECIPIENT_BITS; more++)
				assert_revision(from,
				    state_of(message, recipient | 1u << more));
		}
}

static void
revisions_are_numbered_one_by_one(void **state)
{
	for (unsigned i = 0; i < REVISIONS; i++)
		assert_int_equal(
		    revision_number(revision_from(i), revision_to(i)), i);
	for (unsigned i = 0; i < OUTCOMES; i++)
		assert_int_equal(outcome_number(outcome_state(i)), i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(usual_lives_have_the_usual_fates),
	    cmocka_unit_test(lost_needs_a_queue_file_that_is_gone),
	    cmocka_unit_test(only_what_is_missing_can_be_acknowledged),
	    cmocka_unit_test(delivered_stays_delivered),
	    cmocka_unit_test(what_sieve_did_is_the_outcome_of_a_delivery),
	    cmocka_unit_test(whatever_comes_the_revision_has_a_label),
	    cmocka_unit_test(revisions_are_numbered_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

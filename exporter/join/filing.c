/* SPDX-License-Identifier: BSD-2-Clause */
/* Applies filings. Called by the parts of the join that read replies or
 * Dovecot's log, on the ingest thread. */
#include "exporter/join/filing.h"

#include "exporter/join/lmtp_sessions.h"
#include "exporter/join/open_messages.h"
#include "exporter/metrics/effect.h"

static uint32_t
evidence_by_filings(const struct filing_record *filings, size_t count)
{
	static const uint32_t bits[FILING_ACTIONS] = {
	    [FILING_STORED] = EVIDENCE_STORED,
	    [FILING_FORWARDED] = EVIDENCE_SIEVE_FORWARDED,
	    [FILING_REJECTED] = EVIDENCE_SIEVE_REJECTED,
	    [FILING_DISCARDED] = EVIDENCE_SIEVE_DISCARDED,
	};
	uint32_t evidence = 0;

	for (size_t i = 0; i < count; i++)
		evidence |= bits[filings[i].action];
	return evidence;
}

uint32_t
filing_evidence(struct lmtp_sessions *sessions, struct maillog_view session)
{
	const struct lmtp_session *known =
	    sessions != NULL && session.size > 0
		? lmtp_sessions_find(sessions, session)
		: NULL;

	return known != NULL
		   ? evidence_by_filings(known->filings, known->filing_count)
		   : 0;
}

int
filing_tell_all(const struct subject *subject, uint32_t number,
    const struct filing_record *filings, size_t count, struct reason *reason)
{
	const struct open_message *message = tracked_message(subject->tracked);
	const struct recipient_key key = {message->key, number};
	const struct recipient_news news = {
	    .set = evidence_by_filings(filings, count)};

	for (size_t i = 0; i < count; i++) {
		int added = store_add_filing(&key, &filings[i], reason);

		if (added < 0)
			return -1;
		if (added > 0 && open_messages_tally(subject->messages) == NULL)
			effect_count(message->key.file, METRIC_FILINGS,
			    filings[i].action, 1);
	}
	return evidence_of_recipient(subject, number, &news, reason);
}

int
filing_tell(const struct subject *subject, uint32_t number,
    const struct lmtp_session *session, struct reason *reason)
{
	return filing_tell_all(
	    subject, number, session->filings, session->filing_count, reason);
}

int
filing_reply(struct lmtp_sessions *sessions, const struct subject *subject,
    uint32_t number, struct maillog_view session, struct reason *reason)
{
	const struct open_message *message = tracked_message(subject->tracked);
	const struct answered_recipient recipient = {message->id, number};
	const struct recipient_key key = {message->key, number};
	const struct lmtp_session *known;

	if (sessions == NULL || session.size == 0)
		return 0;
	known = lmtp_sessions_add_recipient(sessions, session, &recipient);
	if (known == NULL)
		return 0;
	if (store_add_session(&key, known->id, reason) != 0)
		return -1;
	return known->filing_count > 0
		   ? filing_tell(subject, number, known, reason)
		   : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filing: from what Dovecot did with a recipient's mail to evidence.
 *
 * Lines and replies are brought together by the LMTP session id, whichever is
 * first; the same ones again change nothing. All effects go to the message's
 * file. For the ingest thread.
 */
#ifndef EXPORTER_JOIN_FILING_H
#define EXPORTER_JOIN_FILING_H

#include "exporter/join/evidence.h"
#include "exporter/maillog/maillog_view.h"
#include "store/record.h"

#include <stdint.h>

struct lmtp_session;
struct lmtp_sessions;

/* What a recipient's evidence gains by what is known of a session so far: to be
 * told together with the reply, so that its state is right at once. */
uint32_t filing_evidence(
    struct lmtp_sessions *sessions, struct maillog_view session);

/* The LMTP server has taken the mail for a recipient, and its reply names the
 * session (or none: empty). Returns 0, or -1 when the store failed. */
int filing_reply(struct lmtp_sessions *sessions, const struct subject *subject,
    uint32_t number, struct maillog_view session, struct reason *reason);

/* Tells a recipient all that a session's lines say. The same returns. */
int filing_tell(const struct subject *subject, uint32_t number,
    const struct lmtp_session *session, struct reason *reason);

/* The same of filings as they are. */
int filing_tell_all(const struct subject *subject, uint32_t number,
    const struct filing_record *filings, size_t count, struct reason *reason);

#endif

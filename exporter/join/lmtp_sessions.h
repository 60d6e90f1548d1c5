/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmtp_sessions: what Dovecot's log says of LMTP sessions, and who was answered
 * in them.
 *
 * Dovecot gives each recipient of a transaction a session id, and says it in
 * its log and in its reply. Lines and replies come in any order: a session
 * keeps what it was told until the other is there, and a while longer. Bounded
 * in number; nothing is kept on disk: a log must be read again from
 * lmtp_sessions_start(). Not thread-safe.
 */
#ifndef EXPORTER_JOIN_LMTP_SESSIONS_H
#define EXPORTER_JOIN_LMTP_SESSIONS_H

#include "base/uuid.h"
#include "exporter/maillog/maillog_view.h"
#include "proto/segment.h"
#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lmtp_sessions;

struct answered_recipient {
	struct uuid message;
	uint32_t number;
};

struct lmtp_session {
	const char *id;
	struct filing_record *filings; /* in the order of the log */
	size_t filing_count;
	struct answered_recipient *recipients;
	size_t recipient_count;
	int64_t since_ns; /* of the first line */
};

/* A line of Dovecot's log. */
struct filing_line {
	struct maillog_view session;
	const char *source;            /* the source's string */
	struct journal_position start; /* before it */
	enum filing_action action;
	struct maillog_view name;
	int64_t now_ns; /* CLOCK_MONOTONIC */
};

struct lmtp_sessions *lmtp_sessions_new(void);
void lmtp_sessions_clear(struct lmtp_sessions *sessions);
void lmtp_sessions_free(struct lmtp_sessions **sessions);

/* NULL: nothing is known of it. */
struct lmtp_session *lmtp_sessions_find(
    struct lmtp_sessions *sessions, struct maillog_view id);

/* Keeps what a line says. Returns the session; what was new is its last filing,
 * and NULL stands for nothing new. */
struct lmtp_session *lmtp_sessions_add_line(
    struct lmtp_sessions *sessions, const struct filing_line *line);

/* Keeps who was answered. Returns the session; NULL when that was known. */
struct lmtp_session *lmtp_sessions_add_recipient(struct lmtp_sessions *sessions,
    struct maillog_view id, const struct answered_recipient *recipient);

/* The session whose lines have waited longest for a reply and of which the
 * store was not asked yet; NULL: there is none. */
struct lmtp_session *lmtp_sessions_first_unasked(
    struct lmtp_sessions *sessions);
void lmtp_sessions_set_asked(
    struct lmtp_sessions *sessions, struct lmtp_session *session);

/* The session whose lines came first of those for which a log would be read
 * again; NULL: there is none. When it is let go, it is forgotten sooner or
 * later, at once if it had no reply. */
struct lmtp_session *lmtp_sessions_first_held(struct lmtp_sessions *sessions);
void lmtp_sessions_let_go(
    struct lmtp_sessions *sessions, struct lmtp_session *session);

/* How many are held, and how many of them have no reply. */
size_t lmtp_sessions_held(const struct lmtp_sessions *sessions);
size_t lmtp_sessions_waiting(const struct lmtp_sessions *sessions);

/* Where a source must be read again to have its lines again: the first line of
 * the oldest session held, or `position` if that lies before it. */
struct journal_position lmtp_sessions_start(struct lmtp_sessions *sessions,
    const char *source, struct journal_position position);

#endif

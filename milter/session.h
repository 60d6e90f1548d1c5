/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session: one SMTP session as a milter sees it, turned into message events.
 *
 * A pure state machine without I/O: each function says that something arrived
 * at `at`. What belongs to a message lives in an arena that the next MAIL FROM
 * resets, so that nothing of a message can be left over for the next. Memory is
 * bounded; what does not fit is left out of the event, never of the mail. One
 * thread at a time; successive calls may come from different threads.
 */
#ifndef MILTER_SESSION_H
#define MILTER_SESSION_H

#include "base/clock.h"
#include "proto/stamp_header.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client;
struct message_event;
struct session;

struct session_settings {
	const char *stamp_name; /* the header's; must outlive the session */
	size_t memory_bytes;    /* for one message */
	size_t recipients_max;  /* in one message */
};

/* What Postfix tells in macros (milter_macros in postconf(5)). */
enum session_fact {
	SESSION_QUEUE_ID,
	SESSION_DAEMON_NAME,
	SESSION_TLS_VERSION,
	SESSION_TLS_CIPHER,
	SESSION_SASL_METHOD,
	SESSION_SASL_USER,
	SESSION_FACTS
};

/* Returns NULL when there is no memory. The settings are copied, the strings
 * in them are not. `number` tells the sessions of a process apart. */
struct session *session_new(
    const struct session_settings *settings, uint64_t number);

/* `trusted`: whether ids in stamps from this client are kept as `previous`. */
void session_connect(struct session *session, const struct client *client,
    bool trusted, struct stamp at);

void session_helo(struct session *session, const char *name, struct stamp at);

/* Begins a message. `arguments` as in envelope.h. A message that is still open
 * must have been ended by session_abort(). */
void session_mail(
    struct session *session, char *const *arguments, struct stamp at);

/* Of the message; the first value counts. NULL and "" are no value. */
void session_fact(
    struct session *session, enum session_fact fact, const char *value);

void session_rcpt(
    struct session *session, char *const *arguments, struct stamp at);

/* A recipient that Postfix refuses, with its reply. `dsn` and `text` may be
 * NULL. */
void session_rcpt_rejected(struct session *session, char *const *arguments,
    const char *dsn, const char *text, struct stamp at);

void session_data(struct session *session, struct stamp at);

void session_header(struct session *session, const char *name,
    const char *value, struct stamp at);

void session_eom(struct session *session, struct stamp at);

/* Ends an open message that did not come to its end. Returns whether there was
 * one. */
bool session_abort(struct session *session, struct stamp at);

/* The same when the session closes without an abort. */
bool session_close(struct session *session, struct stamp at);

/* The last message begun; valid until the next session_mail(). NULL before the
 * first. */
const struct message_event *session_event(const struct session *session);

/* Whether Postfix accepted at least one of its recipients. */
bool session_has_recipient(const struct session *session);

/* How many incoming stamps the message has, believed or not: all of them are to
 * be removed. */
uint32_t session_stamps_seen(const struct session *session);

/* The value of the message's own stamp. */
void session_stamp(
    const struct session *session, char value_r[STAMP_HEADER_VALUE_SIZE]);

/* Whether the client said HELO or EHLO. */
bool session_said_helo(const struct session *session);

void session_free(struct session **session);

#endif

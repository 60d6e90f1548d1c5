/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds one message_event after the other from what happens in a session.
 * Called by callbacks.c on libmilter's threads, never by two at once for the
 * same session.
 */
#include "milter/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "milter/client.h"
#include "milter/envelope.h"
#include "proto/event.h"
#include "proto/header_value.h"

#define HELO_SIZE 513
#define ADDRESS_MAX 2048
#define FACT_MAX 512
#define REJECT_TEXT_MAX 512
/* Sender, Message-ID, run and facts fit, whatever the recipients take. */
#define TEXT_BYTES (16u << 10)

struct session {
	struct session_settings settings;
	uint64_t number;

	/* Of the connection. */
	struct client client;
	bool trusted;
	char helo[HELO_SIZE];
	struct stamp connect_at;
	struct stamp helo_at;

	/* Of the message; session_mail() begins anew. */
	struct arena *texts;
	struct arena *recipients;
	struct message_event event;
	bool open;
	uint32_t accepted;
	uint32_t stamps_seen;
};

/* Where each fact is kept in the event. */
static const size_t fact_offsets[SESSION_FACTS] = {
    [SESSION_QUEUE_ID] = offsetof(struct message_event, queue_id),
    [SESSION_DAEMON_NAME] = offsetof(struct message_event, daemon_name),
    [SESSION_TLS_VERSION] = offsetof(struct message_event, tls_version),
    [SESSION_TLS_CIPHER] = offsetof(struct message_event, tls_cipher),
    [SESSION_SASL_METHOD] = offsetof(struct message_event, sasl_method),
    [SESSION_SASL_USER] = offsetof(struct message_event, sasl_user),
};

struct session *
session_new(const struct session_settings *settings, uint64_t number)
{
	struct session *session = calloc(1, sizeof(*session));

	if (session == NULL)
		return NULL;
	session->settings = *settings;
	session->number = number;
	session->texts = arena_new(TEXT_BYTES);
	session->recipients = arena_new(settings->memory_bytes);
	if (session->texts == NULL || session->recipients == NULL)
		session_free(&session);
	return session;
}

void
session_free(struct session **session)
{
	if (*session != NULL) {
		arena_free(&(*session)->texts);
		arena_free(&(*session)->recipients);
	}
	free(*session);
	*session = NULL;
}

void
session_connect(struct session *session, const struct client *client,
    bool trusted, struct stamp at)
{
	session->client = *client;
	session->trusted = trusted;
	session->connect_at = at;
}

void
session_helo(struct session *session, const char *name, struct stamp at)
{
	size_t size = strnlen(name, HELO_SIZE - 1);

	memcpy(session->helo, name, size);
	session->helo[size] = '\0';
	session->helo_at = at;
}

static const char *
text_or_null(const char *text)
{
	return *text != '\0' ? text : NULL;
}

static const char *
keep_address(struct arena *arena, char *const *arguments)
{
	size_t size;
	const char *address = envelope_address(arguments, &size);

	if (size > ADDRESS_MAX)
		size = ADDRESS_MAX;
	return arena_string_sized(arena, address, size);
}

static const char *
keep_text(struct arena *arena, const char *text, size_t size_max)
{
	if (text == NULL || *text == '\0')
		return NULL;
	return arena_string_sized(arena, text, strnlen(text, size_max));
}

void
session_mail(struct session *session, char *const *arguments, struct stamp at)
{
	assert(!session->open);
	arena_reset(session->texts);
	arena_reset(session->recipients);
	session->open = true;
	session->accepted = 0;
	session->stamps_seen = 0;
	session->event = (struct message_event){
	    .id = uuid_new(at.wall_ns),
	    .phase = MESSAGE_PHASE_MAIL,
	    .session = session->number,
	    .sequence = session->event.sequence + 1,
	    .declared_bytes = envelope_declared_bytes(arguments),
	    .client_name = text_or_null(session->client.name),
	    .client_address = text_or_null(session->client.address),
	    .client_port = session->client.port,
	    .helo = text_or_null(session->helo),
	    .connect_at = session->connect_at,
	    .helo_at = session->helo_at,
	    .mail_at = at,
	};
	session->event.sender = keep_address(session->texts, arguments);
}

void
session_fact(struct session *session, enum session_fact fact, const char *value)
{
	const char **member =
	    (void *)((char *)&session->event + fact_offsets[fact]);

	if (session->open && *member == NULL)
		*member = keep_text(session->texts, value, FACT_MAX);
}

/* Returns the new recipient, or NULL when there is no room for it. */
static struct message_recipient *
add_recipient(struct session *session, char *const *arguments, struct stamp at)
{
	struct message_event *event = &session->event;
	const char *address = NULL;
	struct message_recipient *recipient = NULL;

	if (event->recipient_count < session->settings.recipients_max)
		address = keep_address(session->recipients, arguments);
	if (address != NULL)
		recipient =
		    arena_append(session->recipients, &event->recipients,
			&event->recipient_count, sizeof(*recipient));
	if (recipient == NULL) {
		event->recipients_omitted++;
		return NULL;
	}
	recipient->address = address;
	recipient->rcpt_at = at;
	return recipient;
}

void
session_rcpt(struct session *session, char *const *arguments, struct stamp at)
{
	if (!session->open)
		return;
	session->event.phase = MESSAGE_PHASE_RCPT;
	session->accepted++;
	add_recipient(session, arguments, at);
}

void
session_rcpt_rejected(struct session *session, char *const *arguments,
    const char *dsn, const char *text, struct stamp at)
{
	struct message_recipient *recipient;

	if (!session->open)
		return;
	session->event.phase = MESSAGE_PHASE_RCPT;
	recipient = add_recipient(session, arguments, at);
	if (recipient == NULL)
		return;
	recipient->rejected = true;
	recipient->reject_dsn =
	    keep_text(session->recipients, dsn, REJECT_TEXT_MAX);
	recipient->reject_text =
	    keep_text(session->recipients, text, REJECT_TEXT_MAX);
}

void
session_data(struct session *session, struct stamp at)
{
	if (!session->open)
		return;
	session->event.phase = MESSAGE_PHASE_DATA;
	session->event.data_at = at;
}

static void
content_begins(struct session *session, struct stamp at)
{
	if (stamp_is_set(&session->event.content_at))
		return;
	session->event.phase = MESSAGE_PHASE_CONTENT;
	session->event.content_at = at;
}

static void
read_stamp(struct session *session, const char *value)
{
	struct message_event *event = &session->event;
	struct stamp_header stamp;
	char text[STAMP_HEADER_VALUE_SIZE];
	size_t size =
	    header_value_unfold(value, strlen(value), text, sizeof(text));

	session->stamps_seen++;
	if (!session->trusted || stamp_header_parse(text, size, &stamp) != 0)
		event->forged_stamps++;
	else if (!uuid_is_set(&event->previous))
		event->previous = stamp.id;
}

static void
read_message_id(struct session *session, const char *value)
{
	char text[MESSAGE_ID_SIZE];

	if (session->event.message_id != NULL)
		return;
	header_value_unfold(value, strlen(value), text, sizeof(text));
	session->event.message_id =
	    keep_text(session->texts, text, sizeof(text));
}

static void
read_run(struct session *session, const char *value)
{
	char text[RUN_SIZE];

	if (session->event.run != NULL)
		return;
	header_value_unfold(value, strlen(value), text, sizeof(text));
	session->event.run = keep_text(session->texts, text, sizeof(text));
}

void
session_header(struct session *session, const char *name, const char *value,
    struct stamp at)
{
	if (!session->open)
		return;
	content_begins(session, at);
	if (strcasecmp(name, session->settings.stamp_name) == 0)
		read_stamp(session, value);
	else if (strcasecmp(name, "Message-ID") == 0)
		read_message_id(session, value);
	else if (strcasecmp(name, RUN_HEADER_NAME) == 0)
		read_run(session, value);
}

void
session_eom(struct session *session, struct stamp at)
{
	if (!session->open)
		return;
	content_begins(session, at);
	session->event.phase = MESSAGE_PHASE_EOM;
	session->event.eom_at = at;
	session->event.ending = MESSAGE_ENDING_ACCEPTED;
	session->open = false;
}

static bool
end_early(struct session *session, enum message_ending ending, struct stamp at)
{
	if (!session->open)
		return false;
	session->event.ending = ending;
	session->event.end_at = at;
	session->open = false;
	return true;
}

bool
session_abort(struct session *session, struct stamp at)
{
	return end_early(session, MESSAGE_ENDING_ABORTED, at);
}

bool
session_close(struct session *session, struct stamp at)
{
	return end_early(session, MESSAGE_ENDING_CLOSED, at);
}

const struct message_event *
session_event(const struct session *session)
{
	return session->event.sequence > 0 ? &session->event : NULL;
}

bool
session_has_recipient(const struct session *session)
{
	return session->accepted > 0;
}

uint32_t
session_stamps_seen(const struct session *session)
{
	return session->stamps_seen;
}

void
session_stamp(
    const struct session *session, char value_r[STAMP_HEADER_VALUE_SIZE])
{
	const struct message_event *event = &session->event;
	struct stamp_header stamp = {
	    .mail_wall_ns = event->mail_at.wall_ns,
	    .id = event->id,
	};

	if (event->queue_id != NULL &&
	    strlen(event->queue_id) < sizeof(stamp.queue_id))
		strcpy(stamp.queue_id, event->queue_id);
	stamp_header_format(&stamp, value_r);
}

bool
session_said_helo(const struct session *session)
{
	return stamp_is_set(&session->helo_at);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drives a session by a script: one event a line, its verb first. Checks at
 * each end that what would be recorded is in bounds, that the stamp reads back
 * and that nothing is left of the message before.
 *
 *     C name   connect    H name   HELO     M path    MAIL     R path   RCPT
 *     J path   rejected   D        DATA     Fn text   fact n   L n:v    header
 *     E        the end    A        abort    Q         close
 *
 * \1 stands for a line break.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "milter/client.h"
#include "milter/session.h"
#include "proto/event.h"
#include "proto/event_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct stamp now;
static size_t recipients;

static struct stamp
tick(void)
{
	now.wall_ns += 1000;
	now.monotonic_ns += 1000;
	return now;
}

static void
check_event(const struct session *session)
{
	const struct message_event *message = session_event(session);
	struct event event = {.type = EVENT_MESSAGE, .message = *message};
	struct arena *scratch = arena_new(1 << 20);
	struct buffer out = {.limit = 1 << 20};
	char value[STAMP_HEADER_VALUE_SIZE];
	struct stamp_header stamp;

	assert(message->ending != MESSAGE_ENDING_NONE);
	assert(message->recipient_count <= 50);
	assert(message->recipient_count + message->recipients_omitted ==
	       recipients);
	assert(message->mail_at.wall_ns <= now.wall_ns);
	session_stamp(session, value);
	assert(stamp_header_parse(value, strlen(value), &stamp) == 0);
	assert(uuid_equal(&stamp.id, &message->id));
	assert(event_encode(&event, scratch, &out) == 0);
	assert(out.size < 256 << 10);
	assert(event_decode(out.data, out.size, scratch, &event, NULL) == 0);
	assert(event.message.recipient_count == message->recipient_count);
	buffer_free(&out);
	arena_free(&scratch);
}

static void
play_header(struct session *session, char *text)
{
	char *value = strchr(text, ':');

	if (value == NULL)
		return;
	*value++ = '\0';
	session_header(session, text, value, tick());
}

static void
play_fact(struct session *session, const char *text)
{
	if (*text >= '0' && *text < '0' + SESSION_FACTS)
		session_fact(
		    session, (enum session_fact)(*text - '0'), text + 1);
}

static void
play_mail(struct session *session, char *const *arguments)
{
	if (session_abort(session, tick()))
		check_event(session);
	session_mail(session, arguments, tick());
	recipients = 0;
	assert(session_event(session)->recipient_count == 0);
	assert(session_event(session)->queue_id == NULL);
}

static void
play_recipient(struct session *session, char verb, char *text, bool open)
{
	char *arguments[] = {text, NULL};

	recipients += open;
	if (verb == 'R')
		session_rcpt(session, arguments, tick());
	else
		session_rcpt_rejected(session, arguments, text, text, tick());
}

static bool
is_open(const struct session *session)
{
	const struct message_event *event = session_event(session);

	return event != NULL && event->ending == MESSAGE_ENDING_NONE;
}

static void
play(struct session *session, char *line)
{
	struct client client = {.name = ""};
	char *text = line + 1, *space = strchr(line, ' ');
	char *arguments[] = {text, space != NULL ? space + 1 : NULL, NULL};
	bool open = is_open(session);

	switch (*line) {
	case 'C':
		client_describe(text, NULL, &client);
		session_connect(session, &client, *text == 't', tick());
		break;
	case 'H':
		session_helo(session, text, tick());
		break;
	case 'M':
		play_mail(session, arguments);
		break;
	case 'R':
	case 'J':
		play_recipient(session, *line, text, open);
		break;
	case 'D':
		session_data(session, tick());
		break;
	case 'F':
		play_fact(session, text);
		break;
	case 'L':
		play_header(session, text);
		break;
	case 'E':
		session_eom(session, tick());
		if (open)
			check_event(session);
		break;
	case 'A':
		if (session_abort(session, tick()))
			check_event(session);
		break;
	default:
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct session_settings settings = {
	    .stamp_name = "X-Perf-Sent",
	    .memory_bytes = 16 << 10,
	    .recipients_max = 50,
	};
	struct session *session = session_new(&settings, 1);
	char *script = malloc(size + 1), *rest = script, *line;

	if (session == NULL || script == NULL)
		abort();
	if (size > 0)
		memcpy(script, data, size);
	script[size] = '\0';
	now = (struct stamp){INT64_C(1764488862000000000), 1000};
	recipients = 0;
	while ((line = strsep(&rest, "\n")) != NULL) {
		for (char *c = line; *c != '\0'; c++)
			if (*c == '\1')
				*c = '\n';
		if (*line != '\0')
			play(session, line);
	}
	if (session_close(session, tick()))
		check_event(session);
	session_free(&session);
	free(script);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* One SMTP session without extensions. Called by selfcheck.c. */
#include "cli/smtp_probe.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/endpoint.h"
#include "base/reason.h"
#include "base/text.h"

enum {
	PATIENCE_SECONDS = 60, /* Postfix may ask its milters and access maps */
	ADDRESS_BYTES_MAX = 320,
	TEXT_SIZE = 4096,
	DATE_SIZE = 64
};

#define QUEUED_AS "queued as "

struct session {
	int fd;
	char reply[TEXT_SIZE]; /* the last one, whole */
	struct reason *reason;
};

bool
smtp_probe_is_address(const char *address)
{
	return strchr(address, '@') != NULL &&
	       strlen(address) <= ADDRESS_BYTES_MAX &&
	       strpbrk(address, "<> \t\r\n") == NULL;
}

/* The last line of a reply has no "-" behind its code. */
static bool
is_whole(const char *reply, size_t size)
{
	const char *line;

	if (size < 5 || reply[size - 1] != '\n')
		return false;
	for (line = reply + size - 1; line > reply && line[-1] != '\n';)
		line--;
	return strlen(line) < 4 || line[3] != '-';
}

static int
read_reply(struct session *session)
{
	size_t size = 0;
	ssize_t got;

	do {
		got = read(session->fd, session->reply + size,
		    sizeof(session->reply) - 1 - size);
		if (got < 0)
			return reason_set_errno(session->reason, "no reply");
		if (got == 0)
			return reason_set(session->reason, "no whole reply");
		size += (size_t)got;
		session->reply[size] = '\0';
	} while (!is_whole(session->reply, size));
	session->reply[strcspn(session->reply, "\r\n")] = '\0';
	text_sanitize(session->reply, strlen(session->reply));
	if (session->reply[0] == '2' || session->reply[0] == '3')
		return 0;
	return reason_set(session->reason, "%.400s", session->reply);
}

static int say(struct session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sends it, and reads the reply. */
static int
say(struct session *session, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list arguments;
	size_t size;

	va_start(arguments, format);
	size = (size_t)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (send(session->fd, text, size, MSG_NOSIGNAL) < 0)
		return reason_set_errno(session->reason, "cannot send");
	return read_reply(session);
}

static int
say_message(struct session *session, const struct smtp_message *message)
{
	time_t now = time(NULL);
	char date[DATE_SIZE];
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S +0000", &utc);
	return say(session,
	    "Date: %s\r\nFrom: <%s>\r\nTo: <%s>\r\nMessage-ID: <%s>\r\n"
	    "Subject: postlag selfcheck\r\nAuto-Submitted: auto-generated\r\n"
	    "\r\nSent by postlag selfcheck, to see whether all of Postlag sees "
	    "it.\r\n.\r\n",
	    date, message->from, message->to, message->message_id);
}

static void
take_queue_id(const char *reply, char *queue_id_r, size_t size)
{
	const char *found = strstr(reply, QUEUED_AS);

	snprintf(queue_id_r, size, "%s",
	    found != NULL ? found + strlen(QUEUED_AS) : "");
}

int
smtp_probe_send(const struct endpoint *server,
    const struct smtp_message *message, char *queue_id_r, size_t size,
    struct reason *reason)
{
	struct session session = {
	    .fd = endpoint_connect(server, PATIENCE_SECONDS, reason),
	    .reason = reason,
	};
	char host[HOST_NAME_MAX + 1] = "localhost";
	int result = -1;

	if (session.fd < 0)
		return -1;
	gethostname(host, sizeof(host) - 1);
	if (read_reply(&session) == 0 &&
	    say(&session, "HELO %s\r\n", host) == 0 &&
	    say(&session, "MAIL FROM:<%s>\r\n", message->from) == 0 &&
	    say(&session, "RCPT TO:<%s>\r\n", message->to) == 0 &&
	    say(&session, "DATA\r\n") == 0 &&
	    say_message(&session, message) == 0) {
		take_queue_id(session.reply, queue_id_r, size);
		say(&session, "QUIT\r\n");
		result = 0;
	}
	close(session.fd);
	return result;
}

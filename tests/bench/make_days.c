/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes what milter, hook and Postfix would have recorded of days of mail that
 * end now: journals and a mail log, for bench_days.py. What is there already is
 * added to.
 *
 *     make_days DIRECTORY MESSAGES DAYS
 *
 * Five lines of the log a message; one message in ten is deferred once first.
 */
#include <limits.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/reason.h"
#include "proto/journal_writer.h"
#include "tests/bench/mail.h"

#define INSTANCE "mx.example.com"
#define DEFERRED_NS (300 * CLOCK_NS_PER_SECOND)
#define RING 65536

static struct journal_writer *milter, *lmtp;
static FILE *maillog;

static void
die(const char *what)
{
	fprintf(stderr, "make_days: %s\n", what);
	exit(1);
}

static struct journal_writer *
open_writer(const char *directory, const char *source)
{
	const struct journal_writer_settings settings = {
	    .directory = directory,
	    .source = source,
	    .instance = INSTANCE,
	    .program = "make_days",
	    .segment_bytes = 16 << 20,
	    .segment_age_ns = 3600 * CLOCK_NS_PER_SECOND,
	    .limit_bytes = INT64_C(1) << 40,
	    .sync_interval_ns = 60 * CLOCK_NS_PER_SECOND,
	    .heartbeat_interval_ns = 3600 * CLOCK_NS_PER_SECOND,
	};
	struct reason reason;
	struct journal_writer *writer = journal_writer_open(&settings, &reason);

	if (writer == NULL)
		die(reason.text);
	return writer;
}

static void
append(struct journal_writer *writer, const struct event *event)
{
	if (journal_writer_append(writer, event, JOURNAL_SHARE_ALL) != 1)
		die("an event was not appended");
}

/* "2026-11-30T07:47:42.123456+00:00 mx postfix/SERVICE: QUEUE-ID: " */
static void
begin_line(int64_t wall_ns, const char *service, const char *queue_id)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(wall_ns, text);
	text[sizeof(text) - 2] = '\0';
	fprintf(
	    maillog, "%s+00:00 mx postfix/%s: %s: ", text, service, queue_id);
}

static void
log_acceptance(const struct mail *mail)
{
	const struct message_event *event = &mail->message;

	begin_line(event->mail_at.wall_ns + 1000, "smtpd[101]", mail->queue_id);
	fprintf(maillog, "client=%s[%s]\n", mail->helo, mail->client);
	begin_line(event->data_at.wall_ns, "cleanup[102]", mail->queue_id);
	fprintf(maillog, "message-id=%s\n", mail->message_id);
	begin_line(
	    event->eom_at.wall_ns + 2000000, "qmgr[103]", mail->queue_id);
	fprintf(maillog, "from=<%s>, size=%llu, nrcpt=%zu (queue active)\n",
	    mail->sender, (unsigned long long)mail->delivery.content_bytes,
	    event->recipient_count);
}

static void
log_delivery(const struct mail *mail, bool is_deferred)
{
	const struct delivery_event *event = &mail->delivery;

	for (size_t i = 0; i < event->recipient_count; i++) {
		const struct delivery_reply *reply = &mail->delivered[i].final;

		begin_line(event->end_at.wall_ns + 1000000, "lmtp[104]",
		    mail->queue_id);
		fprintf(maillog,
		    "to=<%s>, relay=127.0.0.1[127.0.0.1]:2424, delay=0.2, "
		    "delays=0.1/0/0/0.1, dsn=%s, status=%s (%s%u %s %s)\n",
		    mail->addresses[i], reply->enhanced,
		    is_deferred ? "deferred" : "sent",
		    is_deferred ? "host 127.0.0.1[127.0.0.1] said: " : "",
		    reply->code, reply->enhanced, reply->text);
	}
	if (is_deferred)
		return;
	begin_line(
	    event->end_at.wall_ns + 2000000, "qmgr[103]", mail->queue_id);
	fprintf(maillog, "removed\n");
}

static void
deliver(struct mail *mail, bool is_deferred)
{
	struct event event = {.type = EVENT_DELIVERY};

	for (size_t i = 0; i < mail->delivery.recipient_count && is_deferred;
	     i++) {
		mail->delivered[i].final.code = 451;
		mail->delivered[i].final.enhanced = "4.2.0";
		strcpy(mail->texts[i], "Mailbox is busy");
	}
	event.delivery = mail->delivery;
	append(lmtp, &event);
	log_delivery(mail, is_deferred);
}

static void
shift(struct mail *mail, int64_t by_ns)
{
	struct delivery_event *event = &mail->delivery;
	struct stamp *stamps[] = {&event->connect_at, &event->mail_at,
	    &event->data_at, &event->content_end_at, &event->end_at};

	for (size_t i = 0; i < sizeof(stamps) / sizeof(stamps[0]); i++) {
		stamps[i]->wall_ns += by_ns;
		stamps[i]->monotonic_ns += by_ns;
	}
	for (size_t i = 0; i < event->recipient_count; i++) {
		mail->delivered[i].final.at.wall_ns += by_ns;
		mail->delivered[i].final.at.monotonic_ns += by_ns;
	}
	event->id = make_id(event->mail_at.wall_ns, mix(event->session));
}

/* Those that were deferred, in their order. */
static uint64_t deferred[RING];
static size_t first_deferred, next_deferred;

static void
deliver_deferred(int64_t until_ns)
{
	struct mail mail;

	for (; first_deferred < next_deferred; first_deferred++) {
		uint64_t number = deferred[first_deferred % RING];

		make_message(&mail, number);
		make_delivery(&mail, number);
		if (mail.delivery.mail_at.wall_ns + DEFERRED_NS > until_ns)
			return;
		shift(&mail, DEFERRED_NS);
		deliver(&mail, false);
	}
}

static void
make_one(uint64_t number)
{
	bool is_deferred = number % 10 == 3;
	struct event event = {.type = EVENT_MESSAGE};
	struct mail mail;

	make_message(&mail, number);
	make_delivery(&mail, number);
	deliver_deferred(mail.message.mail_at.wall_ns);
	event.message = mail.message;
	append(milter, &event);
	log_acceptance(&mail);
	deliver(&mail, is_deferred);
	if (!is_deferred)
		return;
	if (next_deferred - first_deferred == RING)
		die("too many are deferred at a time");
	deferred[next_deferred++ % RING] = number;
}

int
main(int argc, char **argv)
{
	char path[PATH_MAX];

	if (argc != 4)
		die("usage: make_days DIRECTORY MESSAGES DAYS");
	message_count = atol(argv[2]);
	mail_span_ns = atol(argv[3]) * CLOCK_NS_PER_DAY;
	mail_start_ns = clock_stamp().wall_ns - mail_span_ns;
	snprintf(path, sizeof(path), "%s/journal", argv[1]);
	milter = open_writer(path, "milter");
	lmtp = open_writer(path, "lmtp");
	snprintf(path, sizeof(path), "%s/mail.log", argv[1]);
	maillog = fopen(path, "a");
	if (maillog == NULL)
		die(path);
	for (long i = 0; i < message_count; i++)
		make_one((uint64_t)i);
	deliver_deferred(INT64_MAX);
	journal_writer_close(&milter);
	journal_writer_close(&lmtp);
	return fclose(maillog) == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_journal [EVENTS [ROUNDS]]: what appending to and reading from a journal
 * costs, against a plain loop of write(2) of records of the same sizes into one
 * file.
 *
 * The rounds of the two are interleaved and medians told. Events are those of
 * one message in turn with its delivery, as the milter and the hook record
 * them.
 */
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/reason.h"
#include "proto/event.h"
#include "proto/journal_reader.h"
#include "proto/journal_writer.h"

#define SECOND_NS INT64_C(1000000000)
#define EVENTS 200000
#define ROUNDS 7
#define ROUNDS_MAX 99

enum measure { APPEND, PLAIN, READ, MEASURES };

static char directory[PATH_MAX];
static size_t sizes[2]; /* of the records of message and delivery */

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int
remove_one(
    const char *path, const struct stat *status, int type, struct FTW *walk)
{
	return remove(path);
}

static void
remove_files(void)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void
fill_message(struct event *event)
{
	static struct message_recipient recipient = {
	    .address = "somebody@example.org"};
	struct message_event *message = &event->message;
	struct stamp now = clock_stamp();

	*event = (struct event){.type = EVENT_MESSAGE};
	message->id = uuid_new(now.wall_ns);
	message->ending = MESSAGE_ENDING_ACCEPTED;
	message->phase = MESSAGE_PHASE_EOM;
	message->queue_id = "4Kt8Fh2vZlz9qYw";
	message->message_id = "<20261130074742.4Kt8Fh2vZlz9@mail.example.com>";
	message->sender = "newsletter@example.com";
	message->client_name = "mail.example.com";
	message->client_address = "192.0.2.25";
	message->client_port = 34567;
	message->helo = "mail.example.com";
	message->daemon_name = "smtpd";
	message->tls_version = "TLSv1.3";
	message->tls_cipher = "TLS_AES_256_GCM_SHA384";
	message->declared_bytes = 12345;
	message->session = 1000;
	message->sequence = 1;
	message->connect_at = message->helo_at = message->mail_at = now;
	message->data_at = message->content_at = message->eom_at = now;
	recipient.rcpt_at = now;
	message->recipients = &recipient;
	message->recipient_count = 1;
}

static void
fill_delivery(struct event *event)
{
	static struct delivery_recipient recipient = {
	    .address = "somebody@example.org",
	    .envelope = {250, "2.1.5", "OK", {0, 0}},
	    .final = {
		250, "2.0.0", "<somebody@example.org> yK0uBp Saved", {0, 0}}};
	struct delivery_event *delivery = &event->delivery;
	struct stamp now = clock_stamp();

	*event = (struct event){.type = EVENT_DELIVERY};
	delivery->id = delivery->stamp_id = uuid_new(now.wall_ns);
	delivery->ending = DELIVERY_ENDING_COMPLETED;
	delivery->phase = DELIVERY_PHASE_CONTENT_END;
	delivery->queue_id = delivery->stamp_queue_id = "4Kt8Fh2vZlz9qYw";
	delivery->message_id = "<20261130074742.4Kt8Fh2vZlz9@mail.example.com>";
	delivery->sender = "newsletter@example.com";
	delivery->content_bytes = 12345;
	delivery->backend = "unix:/run/dovecot/lmtp";
	delivery->session = 77;
	delivery->sequence = delivery->stamps_seen = 1;
	delivery->stamp_mail_wall_ns = now.wall_ns;
	delivery->connect_at = delivery->mail_at = delivery->data_at = now;
	delivery->content_end_at = delivery->end_at = now;
	recipient.rcpt_at = recipient.envelope.at = recipient.final.at = now;
	delivery->recipients = &recipient;
	delivery->recipient_count = 1;
}

static void
append_events(long count)
{
	struct journal_writer_settings settings = {
	    .directory = directory,
	    .source = "bench",
	    .instance = "mx.example.com",
	    .program = "bench_journal",
	    .segment_bytes = 16 << 20,
	    .segment_age_ns = 3600 * SECOND_NS,
	    .limit_bytes = INT64_C(1) << 40,
	    .sync_interval_ns = SECOND_NS,
	    .heartbeat_interval_ns = 10 * SECOND_NS,
	};
	struct reason reason = {""};
	struct journal_writer *writer = journal_writer_open(&settings, &reason);
	struct event events[2];

	if (writer == NULL) {
		fprintf(stderr, "%s\n", reason.text);
		exit(1);
	}
	fill_message(&events[0]);
	fill_delivery(&events[1]);
	for (long i = 0; i < count; i++)
		if (journal_writer_append(
			writer, &events[i % 2], JOURNAL_SHARE_ALL) != 1)
			die("append");
	journal_writer_abandon(writer);
}

/* Reads all; returns how many events there were. */
static long
read_events(void)
{
	struct journal_position from = {0, 0};
	struct journal_reader *reader =
	    journal_reader_open(directory, "bench", from, NULL);
	struct journal_record record;
	long count = 0;

	while (journal_reader_next(reader, &record, NULL) == 1) {
		if (record.event.type == EVENT_HEARTBEAT)
			continue;
		sizes[record.event.type == EVENT_DELIVERY] =
		    record.position.offset - record.offset;
		count++;
	}
	journal_reader_free(&reader);
	return count;
}

static void
write_plainly(long count)
{
	static const char bytes[4096];
	char path[PATH_MAX + 8];
	int fd;

	snprintf(path, sizeof(path), "%s/plain", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_TRUNC, 0600);
	for (long i = 0; i < count; i++)
		if (write(fd, bytes, sizes[i % 2]) < 0)
			die("write");
	close(fd);
}

static void
measure_round(long count, double times_r[MEASURES])
{
	const char *parent = getenv("TMPDIR");
	double began;

	snprintf(directory, sizeof(directory), "%s/bench.XXXXXX",
	    parent != NULL ? parent : "/tmp");
	if (mkdtemp(directory) == NULL)
		die(directory);
	began = seconds();
	append_events(count);
	times_r[APPEND] = seconds() - began;
	began = seconds();
	if (read_events() != count)
		die("events read");
	times_r[READ] = seconds() - began;
	began = seconds();
	write_plainly(count);
	times_r[PLAIN] = seconds() - began;
	remove_files();
}

static int
compare_times(const void *left, const void *right)
{
	double a, b;

	memcpy(&a, left, sizeof(a));
	memcpy(&b, right, sizeof(b));
	return a < b ? -1 : a > b;
}

int
main(int argc, char **argv)
{
	static const char *const names[MEASURES] = {
	    "append", "plain write(2)", "read"};
	static double times[MEASURES][ROUNDS_MAX];
	long count = argc > 1 ? atol(argv[1]) : EVENTS;
	int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS;
	double round_times[MEASURES], median[MEASURES];

	if (count < 2 || rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	for (int i = 0; i < rounds; i++) {
		measure_round(count, round_times);
		for (int m = 0; m < MEASURES; m++)
			times[m][i] = round_times[m];
	}
	for (int m = 0; m < MEASURES; m++) {
		qsort(times[m], (size_t)rounds, sizeof(double), compare_times);
		median[m] = times[m][rounds / 2];
	}
	for (int m = 0; m < MEASURES; m++)
		printf("%-15s %8.0f events/s  %6.2f us  %5.2f of plain\n",
		    names[m], (double)count / median[m],
		    median[m] * 1e6 / (double)count, median[m] / median[PLAIN]);
	printf(
	    "bytes a record: message %zu, delivery %zu\n", sizes[0], sizes[1]);
	return 0;
}

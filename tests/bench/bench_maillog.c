/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_maillog [FILE]: how many lines of a mail log are read in a second on
 * one core, from a line in memory to its record and its time, and by a follower
 * from a file.
 *
 * Without FILE the lines are those that Postfix writes for a message that
 * comes by SMTP and goes by LMTP, in each of the forms of time stamps.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "exporter/maillog/maillog_record.h"
#include "exporter/read/log_catalog.h"
#include "exporter/read/log_follower.h"

#define MESSAGES 20000
#define ROUNDS 9
#define SECOND_NS INT64_C(1000000000)

static const char *const forms[] = {
    "Nov 30 07:47:%02u mx ", "2026-11-30T07:47:%02u.123456+01:00 mx "};

static const char *const shapes[] = {
    "postfix/smtpd[%u]: connect from mail.example.org[192.0.2.17]\n",
    "postfix/smtpd[%u]: %s: client=mail.example.org[192.0.2.17]\n",
    "postfix/cleanup[%u]: %s: message-id="
    "<20261130074742.4Kt8Fh2vZlz9@mail.example.org>\n",
    "postfix/qmgr[%u]: %s: from=<newsletter@example.org>, size=24517, nrcpt=1 "
    "(queue active)\n",
    "postfix/lmtp[%u]: %s: to=<somebody@example.com>, orig_to="
    "<sales@example.com>, relay=127.0.0.1[127.0.0.1]:24, delay=0.11, "
    "delays=0.01/0.02/0.03/0.05, dsn=2.0.0, status=sent (250 2.0.0 "
    "<somebody@example.com> PbjFJwFPDWsWXQAAg+zDdQ Saved)\n",
    "postfix/qmgr[%u]: %s: removed\n",
    "postfix/smtpd[%u]: disconnect from mail.example.org[192.0.2.17] ehlo=1 "
    "mail=1 rcpt=1 data=1 quit=1 commands=5\n"};

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void
write_messages(struct buffer *log, const char *form)
{
	for (unsigned message = 0; message < MESSAGES; message++) {
		char id[32];

		snprintf(id, sizeof(id), "4jdKsF%04u9z1ck%u", message % 10000,
		    message % 97);
		for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]);
		     i++) {
			buffer_append_format(
			    log, form, message * 60 / MESSAGES);
			buffer_append_format(log, shapes[i], 23800 + i, id);
		}
	}
}

static void
read_lines(struct buffer *log, const char *path)
{
	char piece[65536];
	size_t size;
	FILE *file = fopen(path, "rb");

	if (file == NULL) {
		perror(path);
		exit(1);
	}
	while ((size = fread(piece, 1, sizeof(piece), file)) > 0)
		buffer_append(log, piece, size);
	fclose(file);
}

static volatile unsigned kinds_seen;

/* Reads all of it; returns how many lines there are. */
static uint64_t
parse(const struct buffer *log)
{
	struct maillog_clock clock = {
	    .reference = {0, INT64_C(1796083200) * SECOND_NS}};
	const char *at = (const char *)log->data, *end = at + log->size;
	uint64_t lines = 0;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct maillog_line line;
		struct maillog_record record;

		if (newline == NULL)
			break;
		maillog_line_parse(at, (size_t)(newline - at), &line);
		maillog_clock_resolve(&clock, &line.time);
		maillog_record_parse(&line, &record);
		kinds_seen |= 1u << (record.kind & 31);
		at = newline + 1;
		lines++;
	}
	return lines;
}

/* The same from a file. */
static uint64_t
follow(const char *path)
{
	struct log_catalog catalog = {0};
	struct log_follower *follower = log_follower_open(
	    path, &catalog, (struct journal_position){0, 0}, false);
	struct log_entry entry;
	uint64_t lines = 0;

	while (log_follower_next(follower, &entry, NULL) == 1) {
		struct maillog_record record;

		maillog_record_parse(&entry.line, &record);
		kinds_seen |= 1u << (record.kind & 31);
		lines++;
	}
	log_follower_free(&follower);
	log_catalog_free(&catalog);
	return lines;
}

static int
compare(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;

	return (difference > 0) - (difference < 0);
}

static void
tell(const char *what, double rates[ROUNDS])
{
	qsort(rates, ROUNDS, sizeof(rates[0]), compare);
	printf("%s: %.2f million lines/s (median of %d rounds; %.2f to %.2f)\n",
	    what, rates[ROUNDS / 2] / 1e6, ROUNDS, rates[0] / 1e6,
	    rates[ROUNDS - 1] / 1e6);
}

static void
measure(const char *what, const struct buffer *log, const char *path)
{
	double in_memory[ROUNDS], followed[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		double start = seconds();

		in_memory[round] = (double)parse(log) / (seconds() - start);
		start = seconds();
		followed[round] = (double)follow(path) / (seconds() - start);
	}
	printf("%s\n", what);
	tell("  in memory", in_memory);
	tell("  from a file", followed);
}

static void
measure_form(const char *what, const char *form)
{
	char path[] = "/tmp/bench_maillog.XXXXXX";
	struct buffer log = {0};
	int fd = mkstemp(path);

	write_messages(&log, form);
	if (fd < 0 || write(fd, log.data, log.size) != (ssize_t)log.size) {
		perror(path);
		exit(1);
	}
	close(fd);
	measure(what, &log, path);
	unlink(path);
	buffer_free(&log);
}

int
main(int argc, char **argv)
{
	struct buffer log = {0};

	if (argc > 1) {
		read_lines(&log, argv[1]);
		measure(argv[1], &log, argv[1]);
		buffer_free(&log);
		return 0;
	}
	measure_form("traditional", forms[0]);
	measure_form("RFC 3339", forms[1]);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The store against one table that holds everything as text: messages a second,
 * bytes a message, one message by its id. Both in the same run, interleaved,
 * with the same events.
 *
 *     bench_store [MESSAGES [ROUNDS]]
 *
 * Messages lie evenly over one day; 1.2 recipients each, addresses and senders
 * out of skewed pools; twelve durations a message go into histograms. Commits
 * each 1,000 messages, synced. "log" is the store with what Postfix's log adds,
 * some time behind: evidence, sizes and a line for each delivery.
 */
#include <dirent.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/reason.h"
#include "store/query.h"
#include "store/store.h"
#include "store/totals.h"
#include "tests/bench/mail.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BATCH 1000
#define MIDNIGHT_NS (INT64_C(20787) * CLOCK_NS_PER_DAY)
#define FINDS 2000
/* How many messages the log is behind. */
#define LAG 500

static const char *const counters[] = {"messages", "deliveries"};
static const char *const histograms[] = {"latency", "connect", "helo", "mail",
    "rcpt", "data", "content", "queue", "envelope", "lmtp_data", "lmtp_reply"};
static const struct totals_names names = {
    counters, COUNT(counters), histograms, COUNT(histograms)};
static const struct segment_header segment = {
    .source = "milter", .instance = "mx.example.com", .boot_id = {42}};

static struct stamp
clock_at_noon(void)
{
	int64_t wall_ns = MIDNIGHT_NS + CLOCK_NS_PER_DAY / 2;

	return (struct stamp){wall_ns, wall_ns};
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Evidence as exporter/join/fate.h numbers it. */
enum { ACCEPTED = 1, SEEN_BY_HOOK = 2, QUEUED = 4, REMOVED = 8 };
enum { NAMED = 1, HOOK_DELIVERED = 4, LOG_DELIVERED = 32 };

static void
die(const char *what)
{
	fprintf(stderr, "bench_store: %s\n", what);
	exit(1);
}

static int
remove_one(
    const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

static long
bytes_in(const char *directory)
{
	DIR *entries = opendir(directory);
	const struct dirent *entry;
	struct stat status;
	char path[600];
	long bytes = 0;

	while (entries != NULL && (entry = readdir(entries)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (strstr(path, ".db") != NULL &&
		    strstr(path, "-shm") == NULL && stat(path, &status) == 0)
			bytes += status.st_size;
	}
	closedir(entries);
	return bytes;
}

struct result {
	double write_seconds, find_us;
	long bytes;
	double longest_commit_ms;
};

struct written {
	struct message_key key;
	int64_t leg_row;
};

static void
change_message(
    const struct message_key *key, uint32_t evidence, uint64_t size_bytes)
{
	const struct message_change change = {
	    .evidence = evidence, .size_bytes = size_bytes};
	struct reason reason;

	if (store_change_message(key, &change, &reason) != 0)
		die(reason.text);
}

static void
write_log_line(
    const struct mail *mail, const struct written *written, uint32_t number)
{
	const struct delivery_reply *reply = &mail->delivered[number].final;
	const struct recipient_change change = {.number = number,
	    .state = RECIPIENT_DELIVERED,
	    .evidence = NAMED | HOOK_DELIVERED | LOG_DELIVERED,
	    .attempts = 1,
	    .leg_row = written->leg_row,
	    .leg_position = number};
	char text[200];
	const struct attempt_record attempt = {
	    .wall_ns = reply->at.wall_ns + 1000000,
	    .recipient = number,
	    .queue_id = mail->queue_id,
	    .agent = "lmtp",
	    .relay = "127.0.0.1[127.0.0.1]:2424",
	    .dsn = reply->enhanced,
	    .status = "sent",
	    .text = text};
	struct reason reason;

	snprintf(text, sizeof(text), "250 2.0.0 %s", reply->text);
	if (store_add_attempt(&written->key, &attempt, NULL, &reason) != 0 ||
	    store_change_recipient(&written->key, &change, &reason) != 0)
		die(reason.text);
}

/* The lines of qmgr, lmtp and qmgr again. */
static void
write_log(const struct mail *mail, const struct written *written)
{
	change_message(&written->key, ACCEPTED | SEEN_BY_HOOK | QUEUED,
	    mail->delivery.content_bytes);
	for (uint32_t i = 0; i < mail->message.recipient_count; i++)
		write_log_line(mail, written, i);
	change_message(
	    &written->key, ACCEPTED | SEEN_BY_HOOK | QUEUED | REMOVED, 0);
}

static struct written
write_mail(struct store *store, struct mail *mail)
{
	static const struct recipient_verdict verdicts[] = {
	    {.evidence = NAMED}, {.evidence = NAMED}};
	const struct message_verdict message = {
	    .evidence = ACCEPTED, .recipients = verdicts};
	struct leg_verdict verdict = {LEG_STAMPED, NULL};
	struct message_key key;
	struct reason reason;
	struct day_file *file =
	    store_file(store, mail->message.mail_at.wall_ns, &reason);
	int64_t leg_row, done = mail->delivered[0].final.at.wall_ns;

	verdict.message = &key;
	if (file == NULL ||
	    store_add_message(
		file, &mail->message, &segment, &message, &key, &reason) != 0 ||
	    store_add_leg(file, &mail->delivery, &segment, &verdict, &leg_row,
		&reason) != 0)
		die(reason.text);
	change_message(&key, ACCEPTED | SEEN_BY_HOOK, 0);
	day_file_count(file, 0, 1);
	for (uint32_t i = 0; i < mail->message.recipient_count; i++) {
		struct recipient_change change = {.number = i,
		    .state = RECIPIENT_DELIVERED,
		    .evidence = NAMED | HOOK_DELIVERED,
		    .attempts = 1,
		    .leg_row = leg_row,
		    .leg_position = i};

		if (store_change_recipient(&key, &change, &reason) != 0)
			die(reason.text);
		day_file_count(file, 1, 1);
	}
	for (unsigned i = 0; i < COUNT(histograms); i++)
		day_file_observe(file, i, done,
		    (int64_t)(mix((uint64_t)done + i) % 100000000) *
			(1 + i % 3));
	return (struct written){key, leg_row};
}

static void
find_mails(const char *directory, struct result *result)
{
	struct reason reason;
	struct store_reader *reader = store_reader_open(directory, &reason);
	struct arena *arena = arena_new(16 << 20);
	struct message_record *records;
	struct mail mail;
	char id[UUID_TEXT_SIZE];
	double spent = 0;

	for (uint64_t i = 0; i < FINDS; i++) {
		double start;

		make_message(&mail, mix(i) % (uint64_t)message_count);
		uuid_format(&mail.message.id, id);
		arena_reset(arena);
		start = seconds();
		if (store_find(reader, id, 10, arena, &records, &reason) != 1)
			die("a message is not found");
		spent += seconds() - start;
	}
	result->find_us = spent * 1e6 / FINDS;
	arena_free(&arena);
	store_reader_free(&reader);
}

static void
commit(struct store *store, const struct source_position *position)
{
	struct reason reason;

	if (store_commit(store, position, 1, &reason) != 0)
		die(reason.text);
	store_shorten_logs(store);
}

static struct result
run_store(char *root, bool with_log)
{
	static struct written ring[LAG];

	struct store_settings settings = {
	    .directory = root, .queue_lifetime_ns = 5 * CLOCK_NS_PER_DAY};
	struct totals *totals = totals_new(&names);
	struct source_position position = {"milter", {1, 0}};
	struct store_figures figures;
	struct result result = {0};
	struct reason reason;
	struct store *store = store_open(&settings, totals, &reason);
	struct written logged;
	struct mail mail;
	double start;

	if (store == NULL)
		die(reason.text);
	for (long n = 0; n < message_count; n++) {
		make_message(&mail, (uint64_t)n);
		make_delivery(&mail, (uint64_t)n);
		start = seconds();
		logged = ring[n % LAG];
		ring[n % LAG] = write_mail(store, &mail);
		result.write_seconds += seconds() - start;
		make_message(&mail, (uint64_t)(n - LAG));
		make_delivery(&mail, (uint64_t)(n - LAG));
		start = seconds();
		if (with_log && n >= LAG)
			write_log(&mail, &logged);
		position.position.offset++;
		if ((n + 1) % BATCH == 0)
			commit(store, &position);
		result.write_seconds += seconds() - start;
	}
	commit(store, &position);
	store_figures(store, &figures);
	start = seconds();
	store_close(&store);
	result.write_seconds += seconds() - start;
	totals_free(&totals);
	result.bytes = bytes_in(root);
	find_mails(root, &result);
	return result;
}

/* The table that one would write first. */
static const char naive_schema[] =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
    "CREATE TABLE event(at TEXT, kind TEXT, id TEXT, queue_id TEXT,"
    " message_id TEXT, sender TEXT, recipient TEXT, client TEXT, helo TEXT,"
    " status TEXT, reply TEXT, seconds REAL);"
    "CREATE INDEX event_id ON event(id);"
    "CREATE INDEX event_queue_id ON event(queue_id);"
    "CREATE INDEX event_message_id ON event(message_id);"
    "CREATE INDEX event_recipient ON event(recipient);";

static void
naive_row(sqlite3_stmt *insert, const struct mail *mail, int kind, size_t i)
{
	static const char *const kinds[] = {"accepted", "rcpt", "delivered"};
	const struct message_event *event = &mail->message;
	char at[CLOCK_TEXT_SIZE], id[UUID_TEXT_SIZE];
	const char *values[] = {at, kinds[kind], id, mail->queue_id,
	    mail->message_id, mail->sender, kind > 0 ? mail->addresses[i] : "",
	    mail->client, mail->helo, "sent", kind == 2 ? mail->texts[i] : ""};

	clock_format(event->mail_at.wall_ns, at);
	uuid_format(&event->id, id);
	for (int c = 0; c < (int)COUNT(values); c++)
		sqlite3_bind_text(
		    insert, c + 1, values[c], -1, SQLITE_TRANSIENT);
	sqlite3_bind_double(insert, (int)COUNT(values) + 1, 0.123456);
	if (sqlite3_step(insert) != SQLITE_DONE)
		die("naive insert");
	sqlite3_reset(insert);
}

static void
find_naively(sqlite3 *database, struct result *result)
{
	sqlite3_stmt *find;
	struct mail mail;
	char id[UUID_TEXT_SIZE];
	double spent = 0;

	sqlite3_prepare_v2(
	    database, "SELECT * FROM event WHERE id = ?", -1, &find, NULL);
	for (uint64_t i = 0; i < FINDS; i++) {
		double start;

		make_message(&mail, mix(i) % (uint64_t)message_count);
		uuid_format(&mail.message.id, id);
		start = seconds();
		sqlite3_bind_text(find, 1, id, -1, SQLITE_TRANSIENT);
		while (sqlite3_step(find) == SQLITE_ROW)
			;
		sqlite3_reset(find);
		spent += seconds() - start;
	}
	result->find_us = spent * 1e6 / FINDS;
	sqlite3_finalize(find);
}

static struct result
run_naive(const char *root)
{
	struct result result = {0};
	sqlite3 *database;
	sqlite3_stmt *insert;
	struct mail mail;
	char path[600];
	double start;

	mkdir(root, 0700);
	snprintf(path, sizeof(path), "%s/naive.db", root);
	sqlite3_open(path, &database);
	sqlite3_exec(database, naive_schema, NULL, NULL, NULL);
	sqlite3_prepare_v2(database,
	    "INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", -1, &insert,
	    NULL);
	sqlite3_exec(database, "BEGIN", NULL, NULL, NULL);
	for (long n = 0; n < message_count; n++) {
		make_message(&mail, (uint64_t)n);
		make_delivery(&mail, (uint64_t)n);
		start = seconds();
		naive_row(insert, &mail, 0, 0);
		for (size_t i = 0; i < mail.message.recipient_count; i++) {
			naive_row(insert, &mail, 1, i);
			naive_row(insert, &mail, 2, i);
		}
		if ((n + 1) % BATCH == 0)
			sqlite3_exec(
			    database, "COMMIT; BEGIN", NULL, NULL, NULL);
		result.write_seconds += seconds() - start;
	}
	start = seconds();
	sqlite3_exec(database, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)", NULL,
	    NULL, NULL);
	result.write_seconds += seconds() - start;
	sqlite3_finalize(insert);
	result.bytes = bytes_in(root);
	find_naively(database, &result);
	sqlite3_close(database);
	return result;
}

static void
report(const char *name, const struct result *result)
{
	printf("%-6s %8.0f messages/s  %5.0f bytes/message  %6.1f us by id\n",
	    name, (double)message_count / result->write_seconds,
	    (double)result->bytes / (double)message_count, result->find_us);
}

int
main(int argc, char **argv)
{
	const char *parent = getenv("TMPDIR");
	char root[400], path[500];
	long rounds = argc > 2 ? atol(argv[2]) : 3;

	message_count = argc > 1 ? atol(argv[1]) : 100000;
	mail_start_ns = MIDNIGHT_NS;
	mail_span_ns = CLOCK_NS_PER_DAY;
	snprintf(root, sizeof(root), "%s/bench_store.XXXXXX",
	    parent != NULL ? parent : "/tmp");
	if (message_count <= 0 || mkdtemp(root) == NULL)
		die("usage: bench_store [MESSAGES [ROUNDS]]");
	clock_set_source(clock_at_noon);
	for (long round = 0; round < rounds; round++) {
		struct result ours, log, naive;

		snprintf(path, sizeof(path), "%s/store%ld", root, round);
		ours = run_store(path, false);
		snprintf(path, sizeof(path), "%s/log%ld", root, round);
		log = run_store(path, true);
		snprintf(path, sizeof(path), "%s/naive%ld", root, round);
		naive = run_naive(path);
		report("store", &ours);
		report("log", &log);
		report("naive", &naive);
		printf("ratio  %8.2f              %5.2f                "
		       "%6.2f\n",
		    naive.write_seconds / ours.write_seconds,
		    (double)ours.bytes / (double)naive.bytes,
		    ours.find_us / naive.find_us);
	}
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return 0;
}

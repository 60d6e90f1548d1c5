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

static long message_count = 100000;

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

static uint64_t
mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* One out of `count`, the first ones far more often. */
static unsigned
skewed(uint64_t seed, unsigned count)
{
	double r = (double)(mix(seed) >> 11) / 9007199254740992.0;

	return (unsigned)(r * r * r * r * r * count);
}

/* Evidence as exporter/join/fate.h numbers it. */
enum { ACCEPTED = 1, SEEN_BY_HOOK = 2, QUEUED = 4, REMOVED = 8 };
enum { NAMED = 1, HOOK_DELIVERED = 4, LOG_DELIVERED = 32 };

struct mail {
	struct message_event message;
	struct message_recipient recipients[2];
	struct recipient_verdict verdicts[2];
	struct delivery_event delivery;
	struct delivery_recipient delivered[2];
	char queue_id[32], message_id[96], sender[64], helo[64], client[32];
	char addresses[2][64], texts[2][128];
};

static struct stamp
stamp_at(int64_t wall_ns, uint64_t seed)
{
	return (struct stamp){
	    wall_ns, wall_ns - MIDNIGHT_NS + (int64_t)(mix(seed) % 90) + 5000};
}

static struct uuid
make_id(int64_t wall_ns, uint64_t seed)
{
	uint64_t ms = (uint64_t)(wall_ns / 1000000), random = mix(seed);
	struct uuid id;

	memcpy(id.bytes + 8, &random, 8);
	for (int i = 0; i < 6; i++)
		id.bytes[i] = (uint8_t)(ms >> (40 - 8 * i));
	id.bytes[6] = 0x70 | (random & 15);
	id.bytes[7] = (uint8_t)(random >> 8);
	id.bytes[8] = (id.bytes[8] & 0x3f) | 0x80;
	return id;
}

static void
make_texts(struct mail *mail, uint64_t n)
{
	static const char letters[] = "BCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstv";
	uint64_t r = mix(n * 5 + 1);
	unsigned sender = skewed(n * 5 + 2, 50000);

	strcpy(mail->queue_id, "4g");
	for (int i = 2; i < 15; i++)
		mail->queue_id[i] = letters[mix(n * 32 + (uint64_t)i) % 37];
	mail->queue_id[15] = '\0';
	snprintf(mail->message_id, sizeof(mail->message_id),
	    "<20261130.%016llx@mail%u.sender%u.example>", (unsigned long long)r,
	    sender % 3, sender % 5000);
	snprintf(mail->sender, sizeof(mail->sender),
	    "bounce+%u@sender%u.example", sender, sender % 5000);
	snprintf(mail->helo, sizeof(mail->helo), "mail%u.sender%u.example",
	    sender % 3, sender % 5000);
	snprintf(mail->client, sizeof(mail->client), "198.51.%u.%u",
	    sender % 200, sender % 250);
}

static void
make_message(struct mail *mail, uint64_t n)
{
	int64_t at = MIDNIGHT_NS +
		     (int64_t)((double)CLOCK_NS_PER_DAY * (double)n /
			       (double)message_count) +
		     (int64_t)(mix(n) % 100000);
	struct message_event *event = &mail->message;

	memset(mail, 0, sizeof(*mail));
	make_texts(mail, n);
	*event = (struct message_event){.id = make_id(at, n * 3),
	    .ending = MESSAGE_ENDING_ACCEPTED,
	    .phase = MESSAGE_PHASE_EOM,
	    .queue_id = mail->queue_id,
	    .message_id = mail->message_id,
	    .sender = mail->sender,
	    .session = n * 2 / 3,
	    .sequence = 1,
	    .declared_bytes = mix(n * 5 + 3) % 200000,
	    .client_name = mail->helo,
	    .client_address = mail->client,
	    .client_port = (uint32_t)(1024 + mix(n * 5 + 4) % 60000),
	    .helo = mail->helo,
	    .daemon_name = "smtpd",
	    .tls_version = "TLSv1.3",
	    .tls_cipher = "TLS_AES_256_GCM_SHA384",
	    .connect_at = stamp_at(at - 90000000, n * 16),
	    .helo_at = stamp_at(at - 40000000, n * 16 + 1),
	    .mail_at = stamp_at(at, n * 16 + 2),
	    .data_at = stamp_at(at + 30000000, n * 16 + 3),
	    .content_at = stamp_at(at + 70000000, n * 16 + 4),
	    .eom_at = stamp_at(at + 71000000, n * 16 + 5),
	    .recipients = mail->recipients,
	    .recipient_count = n % 5 == 0 ? 2 : 1};
	for (uint64_t i = 0; i < event->recipient_count; i++) {
		unsigned user = skewed(n * 5 + 6 + i, 200000);

		snprintf(mail->addresses[i], sizeof(mail->addresses[i]),
		    "firstname.lastname%u@domain%u.example", user,
		    user % 20000);
		mail->recipients[i].address = mail->addresses[i];
		mail->verdicts[i].evidence = NAMED;
		mail->recipients[i].rcpt_at =
		    stamp_at(at + 15000000 + (int64_t)i * 9000000, n * 16 + 6);
	}
}

static void
make_delivery(struct mail *mail, uint64_t n)
{
	const struct message_event *message = &mail->message;
	int64_t at = message->eom_at.wall_ns + 20000000 +
		     (int64_t)(mix(n * 7) % 100000000);

	mail->delivery = (struct delivery_event){.id = make_id(at, n * 3 + 1),
	    .ending = DELIVERY_ENDING_COMPLETED,
	    .phase = DELIVERY_PHASE_CONTENT_END,
	    .queue_id = mail->queue_id,
	    .ident = mail->queue_id,
	    .message_id = mail->message_id,
	    .sender = mail->sender,
	    .session = n,
	    .sequence = 1,
	    .content_bytes = message->declared_bytes + 321,
	    .backend = "unix:/run/dovecot/lmtp",
	    .stamps_seen = 1,
	    .stamp_id = message->id,
	    .stamp_queue_id = mail->queue_id,
	    .stamp_mail_wall_ns = message->mail_at.wall_ns / 1000 * 1000,
	    .connect_at = stamp_at(at - 1000000, n * 16 + 7),
	    .mail_at = stamp_at(at, n * 16 + 8),
	    .data_at = stamp_at(at + 3000000, n * 16 + 9),
	    .content_end_at = stamp_at(at + 5000000, n * 16 + 10),
	    .end_at = stamp_at(at + 21000000, n * 16 + 11),
	    .recipients = mail->delivered,
	    .recipient_count = message->recipient_count};
	for (uint64_t i = 0; i < message->recipient_count; i++) {
		snprintf(mail->texts[i], sizeof(mail->texts[i]),
		    "<%s> %016llx%04llx Saved", mail->addresses[i],
		    (unsigned long long)mix(n * 9),
		    (unsigned long long)mix(n * 9 + 1) % 65536);
		mail->delivered[i] =
		    (struct delivery_recipient){.address = mail->addresses[i],
			.position = (uint32_t)i,
			.rcpt_at = stamp_at(at + 1000000, n * 16 + 12),
			.envelope = {250, "2.1.5", "OK",
			    stamp_at(at + 2000000, n * 16 + 13)},
			.final = {250, "2.0.0", mail->texts[i],
			    stamp_at(at + 20000000, n * 16 + 14)}};
	}
}

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
	const struct message_change change = {evidence, size_bytes};
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
	if (store_add_attempt(&written->key, &attempt, &reason) != 0 ||
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
	const struct message_verdict message = {
	    .evidence = ACCEPTED, .recipients = mail->verdicts};
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
		if ((n + 1) % BATCH == 0 &&
		    store_commit(store, &position, 1, &reason) != 0)
			die(reason.text);
		result.write_seconds += seconds() - start;
	}
	if (store_commit(store, &position, 1, &reason) != 0)
		die(reason.text);
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

	if (argc > 1)
		message_count = atol(argv[1]);
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

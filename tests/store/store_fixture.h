/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_fixture: a private store, events to put into it, and what is found
 * there.
 *
 * Events are made from a number: the same number gives the same event, ids
 * included.
 */
#ifndef TESTS_STORE_STORE_FIXTURE_H
#define TESTS_STORE_STORE_FIXTURE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/reason.h"
#include "proto/event.h"
#include "proto/segment.h"
#include "store/query.h"
#include "store/store.h"
#include "store/totals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/unit.h"

#define SECOND_NS INT64_C(1000000000)
#define DAY_NS CLOCK_NS_PER_DAY
/* 2026-11-30T00:00:00Z, the stopped clock's day. */
#define MIDNIGHT_NS (INT64_C(20787) * DAY_NS)
#define NOW_NS (MIDNIGHT_NS + 12 * 3600 * SECOND_NS)
#define SOURCE "milter"

enum { COUNTER_MESSAGES, COUNTER_DELIVERIES, COUNTERS };
enum { HISTOGRAM_LATENCY, HISTOGRAM_QUEUE, HISTOGRAMS };

static const char *const fixture_counters[] = {"messages", "deliveries"};
static const char *const fixture_histograms[] = {"latency", "queue"};
static const struct totals_names fixture_names = {
    fixture_counters, COUNTERS, fixture_histograms, HISTOGRAMS};

static const struct segment_header fixture_segment = {.source = SOURCE,
    .instance = "mx.example.com",
    .boot_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};

struct fixture {
	char root[PATH_MAX];
	char directory[PATH_MAX + 8];
	struct store_settings settings;
	struct totals *totals;
	struct store *store;
	struct store_reader *reader;
	struct arena *arena;
	struct reason reason;
};

/* The wall clock of the tests; set before the store is opened. */
static int64_t fixture_now_ns = NOW_NS;

static inline struct stamp
fixture_clock(void)
{
	return (struct stamp){fixture_now_ns, fixture_now_ns - MIDNIGHT_NS};
}

static inline void
fixture_open(struct fixture *fixture)
{
	fixture->totals = totals_new(&fixture_names);
	fixture->store =
	    store_open(&fixture->settings, fixture->totals, &fixture->reason);
	if (fixture->store == NULL)
		fail_msg("%s", fixture->reason.text);
}

static inline void
fixture_close(struct fixture *fixture)
{
	store_reader_free(&fixture->reader);
	store_close(&fixture->store);
	totals_free(&fixture->totals);
}

static inline void
fixture_reopen(struct fixture *fixture)
{
	fixture_close(fixture);
	fixture_open(fixture);
}

/* Without opening the store. */
static inline struct fixture *
fixture_new(void)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const char *parent = getenv("TMPDIR");

	fixture_now_ns = NOW_NS;
	clock_set_source(fixture_clock);
	snprintf(fixture->root, sizeof(fixture->root), "%s/store.XXXXXX",
	    parent != NULL ? parent : "/tmp");
	if (mkdtemp(fixture->root) == NULL)
		return NULL;
	chmod(fixture->root, 0755);
	snprintf(fixture->directory, sizeof(fixture->directory), "%s/store",
	    fixture->root);
	fixture->settings = (struct store_settings){
	    .directory = fixture->directory, .queue_lifetime_ns = 5 * DAY_NS};
	fixture->arena = arena_new(256 << 20);
	return fixture;
}

static inline int
fixture_setup(void **state)
{
	struct fixture *fixture = fixture_new();

	*state = fixture;
	if (fixture == NULL)
		return -1;
	fixture_open(fixture);
	return 0;
}

static inline int
fixture_remove(
    const char *path, const struct stat *status, int type, struct FTW *where)
{
	return remove(path);
}

static inline int
fixture_teardown(void **state)
{
	struct fixture *fixture = *state;

	fixture_close(fixture);
	arena_free(&fixture->arena);
	nftw(fixture->root, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
	free(fixture);
	clock_set_source(NULL);
	return 0;
}

static inline struct stamp
fixture_stamp(int64_t wall_ns)
{
	/* A boot a thousand seconds before midnight; clocks read one after the
	 * other. */
	return (struct stamp){
	    wall_ns, wall_ns - MIDNIGHT_NS + 1000 * SECOND_NS + 77};
}

/* An id made at a moment; the rest of it is the number. */
static inline struct uuid
fixture_id(int64_t wall_ns, uint64_t number)
{
	uint64_t ms = (uint64_t)(wall_ns / 1000000);
	struct uuid id = {{0}};

	for (int i = 0; i < 6; i++)
		id.bytes[i] = (uint8_t)(ms >> (40 - 8 * i));
	id.bytes[6] = 0x70;
	id.bytes[8] = 0x80;
	for (int i = 0; i < 7; i++)
		id.bytes[15 - i] = (uint8_t)(number >> (8 * i));
	return id;
}

#define FIXTURE_RECIPIENTS_MAX 8

/* A message and everything it points to. */
struct fixture_message {
	struct message_event event;
	struct message_verdict verdict;
	struct recipient_verdict verdicts[FIXTURE_RECIPIENTS_MAX];
	struct message_recipient recipients[FIXTURE_RECIPIENTS_MAX];
	char addresses[FIXTURE_RECIPIENTS_MAX][64];
	char queue_id[32], message_id[80], sender[64], helo[64];
};

static inline int64_t
fixture_message_ns(uint64_t number)
{
	return MIDNIGHT_NS + 3600 * SECOND_NS +
	       (int64_t)number * 137 * 1000 * 1000 + 123456;
}

static inline void
fixture_fill_recipients(struct fixture_message *message, uint64_t number,
    size_t count, int64_t at_ns)
{
	for (size_t i = 0; i < count; i++) {
		snprintf(message->addresses[i], sizeof(message->addresses[i]),
		    "user%u@example%u.org", (unsigned)(number * 7 + i) % 5000,
		    (unsigned)(number + i) % 20);
		message->recipients[i] =
		    (struct message_recipient){.address = message->addresses[i],
			.rcpt_at =
			    fixture_stamp(at_ns + ((int64_t)i + 2) * 1000003)};
	}
	message->event.recipients = message->recipients;
	message->event.recipient_count = count;
}

static inline void
fixture_fill_texts(struct fixture_message *message, uint64_t number)
{
	struct message_event *event = &message->event;

	snprintf(message->queue_id, sizeof(message->queue_id), "%010llX",
	    (unsigned long long)(number * 2654435761u % 0xffffffffff));
	snprintf(message->message_id, sizeof(message->message_id),
	    "<20261130.%llu.abc@client%llu.example.net>",
	    (unsigned long long)number, (unsigned long long)number % 50);
	snprintf(message->sender, sizeof(message->sender),
	    "sender%llu@example.net", (unsigned long long)number % 300);
	snprintf(message->helo, sizeof(message->helo), "client%llu.example.net",
	    (unsigned long long)number % 50);
	event->queue_id = message->queue_id;
	event->message_id = message->message_id;
	event->sender = message->sender;
	event->helo = event->client_name = message->helo;
	event->client_address = "192.0.2.17";
	event->client_port = 40000 + (uint32_t)(number % 20000);
	event->daemon_name = "smtpd";
	event->tls_version = "TLSv1.3";
	event->tls_cipher = "TLS_AES_256_GCM_SHA384";
}

/* One to three recipients, by the number. */
static inline void
fixture_fill_message(struct fixture_message *message, uint64_t number)
{
	int64_t at_ns = fixture_message_ns(number);
	struct message_event *event = &message->event;

	memset(message, 0, sizeof(*message));
	message->verdict.recipients = message->verdicts;
	event->id = fixture_id(at_ns, number);
	event->ending = MESSAGE_ENDING_ACCEPTED;
	event->phase = MESSAGE_PHASE_EOM;
	event->session = number / 3;
	event->sequence = 1 + (uint32_t)(number % 3);
	event->declared_bytes = 1000 + number;
	event->connect_at = fixture_stamp(at_ns - 3000007);
	event->helo_at = fixture_stamp(at_ns - 2000005);
	event->mail_at = fixture_stamp(at_ns);
	event->data_at = fixture_stamp(at_ns + 20000021);
	event->content_at = fixture_stamp(at_ns + 31000033);
	event->eom_at = fixture_stamp(at_ns + 32000041);
	fixture_fill_texts(message, number);
	fixture_fill_recipients(message, number, 1 + number % 3, at_ns);
}

/* A delivery of that message, and everything it points to. */
struct fixture_delivery {
	struct delivery_event event;
	struct delivery_recipient recipients[FIXTURE_RECIPIENTS_MAX];
	char texts[FIXTURE_RECIPIENTS_MAX][160];
};

static inline int64_t
fixture_delivery_ns(uint64_t number)
{
	return fixture_message_ns(number) + 50 * 1000 * 1000;
}

static inline void
fixture_fill_replies(struct fixture_delivery *delivery,
    const struct fixture_message *message, uint64_t number, int64_t at_ns)
{
	size_t count = message->event.recipient_count;

	for (size_t i = 0; i < count; i++) {
		struct delivery_recipient *to = &delivery->recipients[i];

		snprintf(delivery->texts[i], sizeof(delivery->texts[i]),
		    "<%s> KqcXBmR%llu/%zu Saved", message->addresses[i],
		    (unsigned long long)number, i);
		to->address = message->addresses[i];
		to->position = (uint32_t)i;
		to->rcpt_at = fixture_stamp(at_ns + ((int64_t)i + 1) * 99991);
		to->envelope = (struct delivery_reply){.code = 250,
		    .enhanced = "2.1.5",
		    .text = "OK",
		    .at = fixture_stamp(at_ns + ((int64_t)i + 1) * 299993)};
		to->final = (struct delivery_reply){.code = 250,
		    .enhanced = "2.0.0",
		    .text = delivery->texts[i],
		    .at = fixture_stamp(at_ns + 9000011 + (int64_t)i * 7001)};
	}
	delivery->event.recipients = delivery->recipients;
	delivery->event.recipient_count = count;
}

static inline void
fixture_fill_delivery(struct fixture_delivery *delivery,
    const struct fixture_message *message, uint64_t number)
{
	int64_t at_ns = fixture_delivery_ns(number);
	struct delivery_event *event = &delivery->event;

	memset(delivery, 0, sizeof(*delivery));
	event->id = fixture_id(at_ns, number + 1000000);
	event->ending = DELIVERY_ENDING_COMPLETED;
	event->phase = DELIVERY_PHASE_CONTENT_END;
	event->queue_id = event->ident = message->queue_id;
	event->message_id = message->message_id;
	event->sender = message->sender;
	event->session = number / 2;
	event->sequence = 1 + (uint32_t)(number % 2);
	event->content_bytes = 1500 + number;
	event->backend = "unix:/run/dovecot/lmtp";
	event->stamps_seen = 1;
	event->stamp_id = message->event.id;
	event->stamp_queue_id = message->queue_id;
	event->stamp_mail_wall_ns =
	    message->event.mail_at.wall_ns / 1000 * 1000;
	event->connect_at = fixture_stamp(at_ns - 1000003);
	event->mail_at = fixture_stamp(at_ns);
	event->data_at = fixture_stamp(at_ns + 2000003);
	event->content_end_at = fixture_stamp(at_ns + 4000007);
	event->end_at = fixture_stamp(at_ns + 9500009);
	fixture_fill_replies(delivery, message, number, at_ns);
}

/* Both events of a number, as a join would write them. Return 0 or -1. */
static inline int
fixture_add_message(struct fixture *fixture, uint64_t number,
    struct fixture_message *message, struct message_key *key_r)
{
	struct day_file *file;

	fixture_fill_message(message, number);
	file = store_file(
	    fixture->store, message->event.mail_at.wall_ns, &fixture->reason);
	if (file == NULL ||
	    store_add_message(file, &message->event, &fixture_segment,
		&message->verdict, key_r, &fixture->reason) != 0)
		return -1;
	day_file_count(file, COUNTER_MESSAGES, 1);
	return 0;
}

/* `former`: the state that the recipients have. */
static inline int
fixture_add_delivery_after(struct fixture *fixture, uint64_t number,
    const struct fixture_message *message, const struct message_key *key,
    enum recipient_state former)
{
	struct leg_verdict verdict = {LEG_STAMPED, key};
	struct fixture_delivery delivery;
	int64_t leg_row, latency_ns;

	fixture_fill_delivery(&delivery, message, number);
	if (store_add_leg(key->file, &delivery.event, &fixture_segment,
		&verdict, &leg_row, &fixture->reason) != 0)
		return -1;
	for (uint32_t i = 0; i < delivery.event.recipient_count; i++) {
		struct recipient_change change = {.number = i,
		    .former = former,
		    .state = RECIPIENT_DELIVERED,
		    .attempts = 1,
		    .leg_row = leg_row,
		    .leg_position = i};

		if (store_change_recipient(key, &change, &fixture->reason) != 0)
			return -1;
		latency_ns = delivery.recipients[i].final.at.wall_ns -
			     message->event.mail_at.wall_ns;
		day_file_count(key->file, COUNTER_DELIVERIES, 1);
		day_file_observe(key->file, HISTOGRAM_LATENCY,
		    delivery.recipients[i].final.at.wall_ns, latency_ns);
		day_file_observe(key->file, HISTOGRAM_QUEUE,
		    delivery.event.mail_at.wall_ns, 50 * 1000 * 1000);
	}
	return 0;
}

static inline int
fixture_add_delivery(struct fixture *fixture, uint64_t number,
    const struct fixture_message *message, const struct message_key *key)
{
	return fixture_add_delivery_after(
	    fixture, number, message, key, RECIPIENT_IN_FLIGHT);
}

static inline void
fixture_add_both(struct fixture *fixture, uint64_t number)
{
	struct fixture_message message;
	struct message_key key;

	if (fixture_add_message(fixture, number, &message, &key) != 0 ||
	    fixture_add_delivery(fixture, number, &message, &key) != 0)
		fail_msg("%s", fixture->reason.text);
}

static inline int
fixture_commit(struct fixture *fixture, uint64_t position)
{
	struct source_position positions[] = {{SOURCE, {1, position}}};
	int result =
	    store_commit(fixture->store, positions, 1, &fixture->reason);

	store_shorten_logs(fixture->store);
	return result;
}

static inline void
fixture_must_commit(struct fixture *fixture, uint64_t position)
{
	if (fixture_commit(fixture, position) != 0)
		fail_msg("%s", fixture->reason.text);
}

/* A batch of large messages: more than a megabyte of the log. */
static inline void
fixture_write_large_batch(struct fixture *fixture, uint64_t batch)
{
	static char helo[60000];
	struct fixture_message message;
	struct message_key key;
	struct day_file *file;

	memset(helo, 'x', sizeof(helo) - 1);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t number = batch * 20 + i;

		fixture_fill_message(&message, number);
		snprintf(helo, 30, "%029llu", (unsigned long long)number);
		helo[29] = 'x';
		message.event.helo = helo;
		file = store_file(
		    fixture->store, message.event.mail_at.wall_ns, NULL);
		assert_non_null(file);
		assert_int_equal(
		    store_add_message(file, &message.event, &fixture_segment,
			&message.verdict, &key, NULL),
		    0);
	}
	fixture_must_commit(fixture, batch + 1);
}

static inline uint64_t
fixture_counted(struct fixture *fixture, unsigned counter)
{
	uint64_t counters[COUNTERS];
	struct histogram_total histograms[HISTOGRAMS];

	totals_snapshot(fixture->totals, counters, histograms);
	return counters[counter];
}

/* Finds with a reader that is opened at first use. */
static inline long
fixture_find(
    struct fixture *fixture, const char *key, struct message_record **records_r)
{
	if (fixture->reader == NULL)
		fixture->reader =
		    store_reader_open(fixture->directory, &fixture->reason);
	assert_non_null(fixture->reader);
	arena_reset(fixture->arena);
	return store_find(fixture->reader, key, 100, fixture->arena, records_r,
	    &fixture->reason);
}

static inline const struct message_record *
fixture_find_one(struct fixture *fixture, const char *key)
{
	struct message_record *records;
	long count = fixture_find(fixture, key, &records);

	if (count != 1)
		fail_msg("%s: %ld found: %s", key, count, fixture->reason.text);
	return records;
}

#define FIXTURE_PATH_SIZE (PATH_MAX + 300)

static inline void
fixture_path(const struct fixture *fixture, const char *name, char *path_r)
{
	snprintf(path_r, FIXTURE_PATH_SIZE, "%s/%s", fixture->directory, name);
}

/* What a write-ahead log says that is another each time it is begun. */
static inline uint64_t
fixture_log_salt(const struct fixture *fixture, const char *name)
{
	char path[FIXTURE_PATH_SIZE];
	uint64_t salt = 0;
	FILE *file;

	fixture_path(fixture, name, path);
	file = fopen(path, "rb");
	assert_non_null(file);
	if (fseek(file, 16, SEEK_SET) != 0 ||
	    fread(&salt, sizeof(salt), 1, file) != 1)
		salt = 0;
	fclose(file);
	return salt;
}

#endif

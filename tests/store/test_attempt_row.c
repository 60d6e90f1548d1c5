/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attempts: what they say comes back as it was, however little of it is
 * written.
 */
#include "tests/store/store_fixture.h"

#include <sqlite3.h>

static struct message_key
add_message(
    struct fixture *fixture, uint64_t number, struct fixture_message *message)
{
	struct message_key key;

	if (fixture_add_message(fixture, number, message, &key) != 0)
		fail_msg("%s", fixture->reason.text);
	return key;
}

static void
change(struct fixture *fixture, const struct message_key *key,
    const struct recipient_change *change)
{
	if (store_change_recipient(key, change, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
}

/* Of message 2: user14@example2.org, user15@example3.org, user16@example4.org.
 */
static const struct attempt_record attempts[] = {
    {.agent = "lmtp",
	.relay = "host.example[192.0.2.1]:24",
	.dsn = "2.0.0",
	.status = "sent",
	.text = "250 2.0.0 <user14@example2.org> KqcXBmR1/0 Saved"},
    {.agent = "smtp",
	.recipient = 1,
	.relay = "none",
	.dsn = "4.4.1",
	.status = "deferred",
	.text =
	    "connect to mx.example.net[2001:db8::1]:25: Connection refused"},
    {.agent = "smtp",
	.recipient = 2,
	.relay = "mx.example.net[192.0.2.9]:25",
	.dsn = "5.1.1",
	.status = "bounced",
	.text = "host mx.example.net[192.0.2.9] said: 550 5.1.1 <user16@"
		"example4.org>: no such user (in reply to RCPT TO command)"},
    /* The reply's code and the line's DSN differ, or end early. */
    {.agent = "smtp", .dsn = "5.0.0", .status = "sent", .text = "250 2.0.0 Ok"},
    {.agent = "smtp", .dsn = "2.0.0", .status = "sent", .text = "250 2.0.0"},
    {.agent = "smtp", .dsn = "2.0.0", .status = "sent", .text = "250 2.0.0 "},
    {.agent = "smtp", .dsn = "2.0.0", .status = "sent", .text = "250 "},
    {.agent = "smtp", .dsn = "2.0.0", .status = "sent", .text = "250"},
    {.agent = "smtp", .status = "sent", .text = "250 2.0.0 no DSN"},
    {.agent = "smtp", .dsn = "", .status = "sent", .text = "550  two"},
    {.agent = "smtp", .text = "199 no code"},
    {.agent = "smtp", .text = "2500 no code either"},
    {.agent = "pipe", .status = "sent", .text = "delivered via filter service"},
    /* Another queue id; nothing; any bytes, those that mark words included. */
    {.queue_id = "OTHER", .agent = "local", .text = ""},
    {.recipient = 2},
    {.agent = "\xff\xfe",
	.relay = "\x01\x02",
	.dsn = "\x03",
	.status = "caf\xc3\xa9",
	.text = "250 \x01\x02\x03\x04 \xe9 <user14@example2.org>"},
    {.agent = "x", .text = "250 2.0.0 \x01 \x7f", .dsn = "2.0.0"},
};

static void
assert_text(size_t row, const char *got, const char *wanted)
{
	if (wanted == NULL)
		assert_row(row, got == NULL);
	else
		assert_row_string(row, got != NULL ? got : "(null)", wanted);
}

/* In the order they were added, whatever their times. */
static void
attempts_come_back_in_their_order(void **state)
{
	static const int64_t times[] = {
	    50000000, 0, -3600 * SECOND_NS, 5 * DAY_NS + 1000};
	struct fixture *fixture = *state;
	struct fixture_message message;
	const struct message_record *record;
	struct message_key key = add_message(fixture, 2, &message);
	struct attempt_record added;

	for (size_t i = 0; i < COUNT(attempts); i++) {
		added = attempts[i];
		added.wall_ns = fixture_message_ns(2) / 1000 * 1000 +
				times[i % COUNT(times)];
		if (i % 2 == 0 && added.queue_id == NULL)
			added.queue_id = message.queue_id;
		assert_int_equal(
		    store_add_attempt(&key, &added, NULL, &fixture->reason), 0);
		if (i == 5)
			fixture_must_commit(fixture, 1);
	}
	/* A neighbour's are its own. */
	key = add_message(fixture, 3, &message);
	assert_int_equal(store_add_attempt(&key, &attempts[0], NULL, NULL), 0);
	fixture_must_commit(fixture, 2);
	fixture_fill_message(&message, 2);
	record = fixture_find_one(fixture, message.queue_id);
	assert_int_equal(record->attempt_count, COUNT(attempts));
	for (size_t i = 0; i < COUNT(attempts); i++) {
		const struct attempt_record *got = &record->attempts[i];

		assert_row(
		    i, got->wall_ns == fixture_message_ns(2) / 1000 * 1000 +
					   times[i % COUNT(times)]);
		assert_row(i, got->recipient == attempts[i].recipient);
		assert_row_string(i, got->queue_id,
		    attempts[i].queue_id != NULL ? attempts[i].queue_id
						 : message.queue_id);
		assert_text(i, got->agent, attempts[i].agent);
		assert_text(i, got->relay, attempts[i].relay);
		assert_text(i, got->dsn, attempts[i].dsn);
		assert_text(i, got->status, attempts[i].status);
		assert_text(i, got->text, attempts[i].text);
	}
}

/* As long as they would be without the leg, or shorter. */
static int64_t
attempt_bytes(struct fixture *fixture)
{
	char path[FIXTURE_PATH_SIZE];
	sqlite3 *database;
	sqlite3_stmt *sum;
	int64_t bytes;

	fixture_path(fixture, "day-20261130.db", path);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	sqlite3_prepare_v2(database, "SELECT sum(length(packed)) FROM attempt",
	    -1, &sum, NULL);
	assert_int_equal(sqlite3_step(sum), SQLITE_ROW);
	bytes = sqlite3_column_int64(sum, 0);
	sqlite3_finalize(sum);
	sqlite3_close(database);
	return bytes;
}

/* One line a recipient, with the hook's replies, or nearly. */
static void
add_lines(struct fixture *fixture, const struct message_key *key,
    uint64_t number, const char *end)
{
	struct fixture_message message;
	struct fixture_delivery delivery;
	char text[200];

	fixture_fill_message(&message, number);
	fixture_fill_delivery(&delivery, &message, number);
	for (uint32_t i = 0; i < message.event.recipient_count; i++) {
		const struct attempt_record line = {.wall_ns = NOW_NS,
		    .recipient = i,
		    .agent = "lmtp",
		    .dsn = "2.0.0",
		    .text = text};

		snprintf(text, sizeof(text), "250 2.0.0 %s%s",
		    delivery.texts[i], end);
		assert_int_equal(
		    store_add_attempt(key, &line, NULL, &fixture->reason), 0);
	}
}

static void
assert_lines(
    const struct message_record *record, uint64_t number, const char *end)
{
	struct fixture_message message;
	struct fixture_delivery delivery;
	char text[200];

	fixture_fill_message(&message, number);
	fixture_fill_delivery(&delivery, &message, number);
	for (uint32_t i = 0; i < message.event.recipient_count; i++) {
		snprintf(text, sizeof(text), "250 2.0.0 %s%s",
		    delivery.texts[i], end);
		assert_string_equal(record->attempts[i].text, text);
		assert_string_equal(record->attempts[i].dsn, "2.0.0");
	}
}

static void
a_reply_that_the_hook_saw_is_not_written_again(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	const struct message_record *record;
	struct message_key key;
	struct recipient_change revised = {.number = 1};
	int64_t own_bytes;

	for (uint64_t number = 2; number < 12; number += 3) {
		key = add_message(fixture, number, &message);
		assert_int_equal(
		    fixture_add_delivery(fixture, number, &message, &key), 0);
		add_lines(fixture, &key, number, number == 2 ? "!" : "");
		fixture_must_commit(fixture, number);
		if (number == 2)
			own_bytes = attempt_bytes(fixture);
		/* What decided may change later. */
		if (number == 11)
			change(fixture, &key, &revised);
		fixture_must_commit(fixture, number + 1);
		record = fixture_find_one(fixture, message.queue_id);
		assert_int_equal(record->attempt_count, 3);
		assert_lines(record, number, number == 2 ? "!" : "");
	}
	assert_true(attempt_bytes(fixture) < 3 * own_bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	    TEST(attempts_come_back_in_their_order),
	    TEST(a_reply_that_the_hook_saw_is_not_written_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

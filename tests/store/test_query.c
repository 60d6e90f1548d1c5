/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was written is found again, by each key, exactly as it was: while the
 * writer is open, after it was closed, whatever bytes it holds.
 */
#include "tests/store/store_fixture.h"

static void
assert_text(const char *got, const char *wanted)
{
	if (wanted == NULL || got == NULL)
		assert_ptr_equal(got, wanted);
	else
		assert_string_equal(got, wanted);
}

/* To the microsecond, rounded down. */
static void
assert_stamp(struct stamp got, struct stamp wanted)
{
	assert_true(got.wall_ns <= wanted.wall_ns);
	assert_true(wanted.wall_ns - got.wall_ns < 1000);
	assert_true(got.monotonic_ns <= wanted.monotonic_ns);
	assert_true(wanted.monotonic_ns - got.monotonic_ns < 1000);
}

static void
assert_message(
    const struct message_event *got, const struct message_event *wanted)
{
	assert_true(uuid_equal(&got->id, &wanted->id));
	assert_true(uuid_equal(&got->previous, &wanted->previous));
	assert_int_equal(got->ending, wanted->ending);
	assert_int_equal(got->phase, wanted->phase);
	assert_text(got->queue_id, wanted->queue_id);
	assert_text(got->message_id, wanted->message_id);
	assert_text(got->run, wanted->run);
	assert_text(got->sender, wanted->sender);
	assert_int_equal(got->session, wanted->session);
	assert_int_equal(got->sequence, wanted->sequence);
	assert_int_equal(got->forged_stamps, wanted->forged_stamps);
	assert_int_equal(got->declared_bytes, wanted->declared_bytes);
	assert_text(got->client_name, wanted->client_name);
	assert_text(got->client_address, wanted->client_address);
	assert_int_equal(got->client_port, wanted->client_port);
	assert_text(got->helo, wanted->helo);
	assert_text(got->daemon_name, wanted->daemon_name);
	assert_text(got->tls_version, wanted->tls_version);
	assert_text(got->tls_cipher, wanted->tls_cipher);
	assert_text(got->sasl_method, wanted->sasl_method);
	assert_text(got->sasl_user, wanted->sasl_user);
	assert_stamp(got->connect_at, wanted->connect_at);
	assert_stamp(got->helo_at, wanted->helo_at);
	assert_stamp(got->mail_at, wanted->mail_at);
	assert_stamp(got->data_at, wanted->data_at);
	assert_stamp(got->content_at, wanted->content_at);
	assert_stamp(got->eom_at, wanted->eom_at);
	assert_stamp(got->end_at, wanted->end_at);
	assert_int_equal(got->recipients_omitted, wanted->recipients_omitted);
}

static void
assert_reply(
    const struct delivery_reply *got, const struct delivery_reply *wanted)
{
	assert_int_equal(got->code, wanted->code);
	assert_text(got->enhanced, wanted->enhanced);
	assert_text(got->text, wanted->text);
	assert_stamp(got->at, wanted->at);
}

static void
assert_delivery_recipients(
    const struct delivery_event *got, const struct delivery_event *wanted)
{
	assert_int_equal(got->recipient_count, wanted->recipient_count);
	for (size_t i = 0; i < wanted->recipient_count; i++) {
		const struct delivery_recipient *a = &got->recipients[i];
		const struct delivery_recipient *b = &wanted->recipients[i];

		assert_text(a->address, b->address);
		assert_int_equal(a->position, b->position);
		assert_stamp(a->rcpt_at, b->rcpt_at);
		assert_reply(&a->envelope, &b->envelope);
		assert_reply(&a->final, &b->final);
	}
}

static void
assert_delivery(
    const struct delivery_event *got, const struct delivery_event *wanted)
{
	assert_true(uuid_equal(&got->id, &wanted->id));
	assert_int_equal(got->part, wanted->part);
	assert_int_equal(got->ending, wanted->ending);
	assert_int_equal(got->phase, wanted->phase);
	assert_text(got->queue_id, wanted->queue_id);
	assert_text(got->ident, wanted->ident);
	assert_text(got->message_id, wanted->message_id);
	assert_text(got->run, wanted->run);
	assert_text(got->sender, wanted->sender);
	assert_int_equal(got->session, wanted->session);
	assert_int_equal(got->sequence, wanted->sequence);
	assert_int_equal(got->content_bytes, wanted->content_bytes);
	assert_text(got->backend, wanted->backend);
	assert_int_equal(got->stamps_seen, wanted->stamps_seen);
	assert_true(uuid_equal(&got->stamp_id, &wanted->stamp_id));
	assert_text(got->stamp_queue_id, wanted->stamp_queue_id);
	assert_int_equal(got->stamp_mail_wall_ns, wanted->stamp_mail_wall_ns);
	assert_stamp(got->connect_at, wanted->connect_at);
	assert_stamp(got->mail_at, wanted->mail_at);
	assert_stamp(got->data_at, wanted->data_at);
	assert_stamp(got->content_end_at, wanted->content_end_at);
	assert_stamp(got->end_at, wanted->end_at);
	assert_delivery_recipients(got, wanted);
}

static void
assert_number(const struct message_record *record, uint64_t number)
{
	struct fixture_message message;
	struct fixture_delivery delivery;

	fixture_fill_message(&message, number);
	fixture_fill_delivery(&delivery, &message, number);
	assert_message(&record->event, &message.event);
	assert_string_equal(record->instance, fixture_segment.instance);
	assert_memory_equal(
	    record->boot_id, fixture_segment.boot_id, sizeof(record->boot_id));
	assert_int_equal(record->leg_count, 1);
	assert_int_equal(record->legs[0].state, LEG_STAMPED);
	assert_delivery(&record->legs[0].event, &delivery.event);
	assert_int_equal(
	    record->recipient_count, message.event.recipient_count);
	for (size_t i = 0; i < record->recipient_count; i++) {
		const struct recipient_record *recipient =
		    &record->recipients[i];

		assert_text(recipient->address, message.addresses[i]);
		assert_stamp(recipient->rcpt_at, message.recipients[i].rcpt_at);
		assert_int_equal(recipient->state, RECIPIENT_DELIVERED);
		assert_int_equal(recipient->attempts, 1);
		assert_true(recipient->expected);
		assert_int_equal(recipient->leg, 0);
		assert_int_equal(recipient->leg_recipient, i);
	}
}

static void
every_key_finds_the_message_as_it_was(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	char id[UUID_TEXT_SIZE], *bare;

	for (uint64_t number = 1; number <= 300; number++)
		fixture_add_both(fixture, number);
	fixture_must_commit(fixture, 1);
	for (uint64_t number = 1; number <= 300; number += 13) {
		fixture_fill_message(&message, number);
		uuid_format(&message.event.id, id);
		assert_number(fixture_find_one(fixture, id), number);
		assert_number(
		    fixture_find_one(fixture, message.queue_id), number);
		assert_number(
		    fixture_find_one(fixture, message.message_id), number);
		bare = strndup(
		    message.message_id + 1, strlen(message.message_id) - 2);
		assert_number(fixture_find_one(fixture, bare), number);
		free(bare);
	}
}

static void
nothing_is_found_before_commit_nor_for_other_keys(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_record *records;
	char id[UUID_TEXT_SIZE];

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	fixture_add_both(fixture, 2);
	fixture_fill_message(&message, 2);
	uuid_format(&message.event.id, id);
	assert_int_equal(fixture_find(fixture, id, &records), 0);
	assert_int_equal(fixture_find(fixture, message.queue_id, &records), 0);
	assert_int_equal(fixture_find(fixture, "x@y", &records), 0);
	assert_int_equal(fixture_find(fixture, "", &records), 0);
	fixture_must_commit(fixture, 2);
	assert_number(fixture_find_one(fixture, id), 2);
}

static void
a_queue_id_used_again_gives_the_newest_first(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_record *records;
	struct message_key key;
	struct day_file *file;

	for (uint64_t number = 1; number <= 4; number++) {
		int64_t at_ns =
		    fixture_message_ns(number) - (number == 3 ? DAY_NS : 0);

		fixture_fill_message(&message, number);
		message.event.queue_id = "4F1A2B3C";
		message.event.id = fixture_id(at_ns, number);
		message.event.mail_at = fixture_stamp(at_ns);
		file = store_file(fixture->store, at_ns, &fixture->reason);
		assert_non_null(file);
		assert_int_equal(
		    store_add_message(file, &message.event, &fixture_segment,
			&message.verdict, &key, NULL),
		    0);
	}
	fixture_must_commit(fixture, 1);
	assert_int_equal(fixture_find(fixture, "4F1A2B3C", &records), 4);
	assert_int_equal(records[0].event.declared_bytes, 1004);
	assert_int_equal(records[1].event.declared_bytes, 1002);
	assert_int_equal(records[2].event.declared_bytes, 1001);
	assert_int_equal(records[3].event.declared_bytes, 1003);
}

static void
any_bytes_come_back_exactly(void **state)
{
	static const char bytes[] = "\xff\xfe"
				    "caf\xe9 \xc3\xa9\x01\x7f";
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct fixture_delivery delivery;
	const struct message_record *record;
	struct leg_verdict verdict = {LEG_STAMPED, NULL};
	struct message_key key;
	struct day_file *file;
	char address[64], id[UUID_TEXT_SIZE];
	int64_t leg_row;

	fixture_fill_message(&message, 1);
	snprintf(address, sizeof(address), "%s@%s", bytes, bytes);
	message.event.sender = "";
	message.event.helo = bytes;
	message.event.client_name = "";
	message.event.sasl_user = address;
	message.event.sasl_method = bytes;
	message.event.run = bytes;
	message.event.message_id = bytes;
	message.event.previous = fixture_id(NOW_NS, 99);
	message.event.forged_stamps = 3;
	message.recipients[0].address = address;
	message.recipients[1].address = "postmaster";
	message.recipients[1].rejected = true;
	message.recipients[1].reject_dsn = "5.1.1";
	message.recipients[1].reject_text = bytes;
	message.verdicts[1].state = RECIPIENT_REJECTED;
	fixture_fill_delivery(&delivery, &message, 1);
	delivery.event.message_id = bytes;
	delivery.event.sender = address;
	delivery.recipients[0].address = address;
	delivery.recipients[0].final.text = bytes;
	delivery.recipients[1].final.text = "";
	delivery.recipients[1].envelope = (struct delivery_reply){0};

	file = store_file(fixture->store, message.event.mail_at.wall_ns, NULL);
	assert_int_equal(store_add_message(file, &message.event,
			     &fixture_segment, &message.verdict, &key, NULL),
	    0);
	verdict.message = &key;
	assert_int_equal(store_add_leg(file, &delivery.event, &fixture_segment,
			     &verdict, &leg_row, NULL),
	    0);
	fixture_must_commit(fixture, 1);
	uuid_format(&message.event.id, id);
	record = fixture_find_one(fixture, id);
	assert_message(&record->event, &message.event);
	assert_string_equal(record->recipients[0].address, address);
	assert_string_equal(record->recipients[1].address, "postmaster");
	assert_int_equal(record->recipients[1].state, RECIPIENT_REJECTED);
	assert_string_equal(record->recipients[1].reject_text, bytes);
	assert_string_equal(record->recipients[1].reject_dsn, "5.1.1");
	assert_delivery(&record->legs[0].event, &delivery.event);
}

static void
stamps_that_cannot_be_true_come_back_too(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	const struct message_record *record;
	struct message_key key;
	struct day_file *file;
	char id[UUID_TEXT_SIZE];

	fixture_fill_message(&message, 1);
	message.event.connect_at = (struct stamp){INT64_MAX, -1};
	message.event.helo_at = (struct stamp){0, 1000};
	message.event.data_at = (struct stamp){-1, -1};
	message.event.eom_at = (struct stamp){INT64_MIN + 1000, INT64_MAX};
	file = store_file(fixture->store, message.event.mail_at.wall_ns, NULL);
	assert_int_equal(store_add_message(file, &message.event,
			     &fixture_segment, &message.verdict, &key, NULL),
	    0);
	fixture_must_commit(fixture, 1);
	uuid_format(&message.event.id, id);
	record = fixture_find_one(fixture, id);
	assert_message(&record->event, &message.event);
}

static void
ten_thousand_recipients_keep_their_numbers(void **state)
{
	enum { MANY = 10000 };
	struct fixture *fixture = *state;
	struct fixture_message message;
	const struct message_record *record;
	struct message_recipient *recipients =
	    calloc(MANY, sizeof(*recipients));
	struct recipient_verdict *verdicts = calloc(MANY, sizeof(*verdicts));
	const struct message_verdict verdict = {.recipients = verdicts};
	struct recipient_change change = {.number = MANY};
	char(*addresses)[32] = calloc(MANY, sizeof(*addresses));
	char id[UUID_TEXT_SIZE];
	struct message_key key, next;
	struct day_file *file;

	fixture_fill_message(&message, 1);
	for (int i = 0; i < MANY; i++) {
		snprintf(addresses[i], sizeof(addresses[i]),
		    "list%d@example.org", i);
		recipients[i].address = addresses[i];
		recipients[i].rcpt_at = fixture_stamp(NOW_NS + i);
	}
	message.event.recipients = recipients;
	message.event.recipient_count = MANY;
	file = store_file(fixture->store, message.event.mail_at.wall_ns, NULL);
	assert_int_equal(store_add_message(file, &message.event,
			     &fixture_segment, &verdict, &key, NULL),
	    0);
	/* The very next microsecond is another message's. */
	fixture_fill_message(&message, 1);
	message.event.mail_at.wall_ns += 1000;
	message.event.id = fixture_id(message.event.mail_at.wall_ns, 2);
	assert_int_equal(store_add_message(file, &message.event,
			     &fixture_segment, &message.verdict, &next, NULL),
	    0);
	assert_int_equal(next.row, key.row + 1);
	assert_int_equal(
	    store_add_recipient(&key, "late@example.org", &change, NULL), 0);
	fixture_must_commit(fixture, 1);
	fixture_fill_message(&message, 1);
	uuid_format(&message.event.id, id);
	record = fixture_find_one(fixture, id);
	assert_int_equal(record->recipient_count, MANY + 1);
	for (int i = 0; i < MANY; i++) {
		assert_string_equal(
		    record->recipients[i].address, addresses[i]);
		assert_stamp(
		    record->recipients[i].rcpt_at, recipients[i].rcpt_at);
	}
	assert_string_equal(
	    record->recipients[MANY].address, "late@example.org");
	assert_false(record->recipients[MANY].expected);
	free(recipients);
	free(verdicts);
	free(addresses);
}

static void
a_thousand_ids_of_one_moment_are_all_found(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct open_message open;
	struct message_key key;
	struct day_file *file;
	struct uuid id;

	for (uint64_t i = 0; i < 1000; i++) {
		fixture_fill_message(&message, 1);
		message.event.id = fixture_id(NOW_NS, i);
		message.event.mail_at = fixture_stamp(NOW_NS);
		file = store_file(fixture->store, NOW_NS, NULL);
		assert_int_equal(
		    store_add_message(file, &message.event, &fixture_segment,
			&message.verdict, &key, NULL),
		    0);
	}
	for (uint64_t i = 0; i < 1000; i += 37) {
		id = fixture_id(NOW_NS, i);
		arena_reset(fixture->arena);
		assert_int_equal(store_find_message(fixture->store, &id,
				     fixture->arena, &open, NULL),
		    1);
		assert_true(uuid_equal(&open.id, &id));
	}
	id = fixture_id(NOW_NS, 1000);
	assert_int_equal(store_find_message(
			     fixture->store, &id, fixture->arena, &open, NULL),
	    0);
}

static void
an_id_of_a_wrong_clock_goes_to_odd_db(void **state)
{
	static const int64_t moments[] = {1000000, NOW_NS - 10 * DAY_NS,
	    NOW_NS + 3 * DAY_NS, INT64_C(4102444800) * SECOND_NS};
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_key key;
	char path[FIXTURE_PATH_SIZE], id[UUID_TEXT_SIZE];
	struct day_file *file;

	for (size_t i = 0; i < COUNT(moments); i++) {
		fixture_fill_message(&message, i);
		message.event.id = fixture_id(moments[i], i);
		message.event.mail_at = fixture_stamp(moments[i]);
		file = store_file(fixture->store, moments[i], NULL);
		assert_int_equal(
		    store_add_message(file, &message.event, &fixture_segment,
			&message.verdict, &key, NULL),
		    0);
	}
	fixture_must_commit(fixture, 1);
	fixture_path(fixture, "odd.db", path);
	assert_int_equal(access(path, F_OK), 0);
	for (size_t i = 0; i < COUNT(moments); i++) {
		const struct message_record *record;

		message.event.id = fixture_id(moments[i], i);
		uuid_format(&message.event.id, id);
		record = fixture_find_one(fixture, id);
		assert_int_equal(record->event.mail_at.wall_ns, moments[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	    TEST(every_key_finds_the_message_as_it_was),
	    TEST(nothing_is_found_before_commit_nor_for_other_keys),
	    TEST(a_queue_id_used_again_gives_the_newest_first),
	    TEST(any_bytes_come_back_exactly),
	    TEST(stamps_that_cannot_be_true_come_back_too),
	    TEST(ten_thousand_recipients_keep_their_numbers),
	    TEST(a_thousand_ids_of_one_moment_are_all_found),
	    TEST(an_id_of_a_wrong_clock_goes_to_odd_db),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

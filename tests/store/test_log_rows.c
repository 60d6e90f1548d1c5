/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Postfix's log adds to messages: evidence and reasons, original
 * addresses, further queue ids, messages that only the log knows.
 */
#include "tests/store/store_fixture.h"

#include "store/timeline.h"

#define INSTANCE "mx.example.com"

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

static struct open_message
read_open(struct fixture *fixture, const struct message_key *key)
{
	struct open_message open;

	arena_reset(fixture->arena);
	assert_int_equal(
	    store_read_message(key, fixture->arena, &open, &fixture->reason),
	    1);
	return open;
}

static void
evidence_and_reasons_come_back(void **state)
{
	static const uint32_t evidence[] = {0, 1, 2, 37, 127, 0xfff, 0xffffff};
	struct fixture *fixture = *state;
	struct fixture_message message;
	const struct message_record *record;
	struct open_message open;
	struct message_change said = {.evidence = 0xffffffff, .size_bytes = 0};
	struct message_key key;

	fixture_fill_message(&message, 2);
	message.verdict.evidence = 3;
	for (uint32_t i = 0; i < 3; i++)
		message.verdicts[i] =
		    (struct recipient_verdict){.state = RECIPIENT_GHOST + i,
			.reason = FATE_REASONS - 1 - i,
			.evidence = 1 + i};
	key.file =
	    store_file(fixture->store, message.event.mail_at.wall_ns, NULL);
	assert_int_equal(store_add_message(key.file, &message.event,
			     &fixture_segment, &message.verdict, &key, NULL),
	    0);
	open = read_open(fixture, &key);
	assert_int_equal(open.evidence, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(open.recipients[i].state, RECIPIENT_GHOST + i);
		assert_int_equal(
		    open.recipients[i].reason, FATE_REASONS - 1 - i);
		assert_int_equal(open.recipients[i].evidence, 1 + i);
	}
	for (size_t i = 0; i < COUNT(evidence); i++) {
		change(fixture, &key,
		    &(struct recipient_change){.number = 1,
			.state = RECIPIENT_UNKNOWN,
			.reason = FATE_REASON_BULK_DELETE,
			.evidence = evidence[i]});
		open = read_open(fixture, &key);
		assert_int_equal(open.recipients[1].evidence, evidence[i]);
		assert_int_equal(
		    open.recipients[1].reason, FATE_REASON_BULK_DELETE);
	}
	/* What nothing is said of is kept. */
	assert_int_equal(store_change_message(&key, &said, NULL), 0);
	said = (struct message_change){.evidence = 15, .size_bytes = 1234567};
	assert_int_equal(store_change_message(&key, &said, NULL), 0);
	said = (struct message_change){.queue_recipients = RECORD_UNCOUNTED};
	assert_int_equal(store_change_message(&key, &said, NULL), 0);
	said = (struct message_change){.evidence = 0x80000000};
	assert_int_equal(store_change_message(&key, &said, NULL), 0);
	fixture_must_commit(fixture, 1);
	record = fixture_find_one(fixture, message.queue_id);
	assert_int_equal(record->evidence, 0x80000000);
	assert_int_equal(record->size_bytes, 1234567);
	assert_true(record->queue_recipients == RECORD_UNCOUNTED);
	assert_int_equal(record->recipients[1].reason, FATE_REASON_BULK_DELETE);
}

static void
an_original_address_is_kept_until_another_is_said(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	const struct message_record *record;
	struct message_key key = add_message(fixture, 2, &message);
	struct recipient_change said = {.number = 3, .original = "team@a.org"};

	assert_int_equal(store_add_recipient(&key, "jo@b.org", &said, NULL), 0);
	said.number = 0;
	said.original = "postmaster";
	change(fixture, &key, &said);
	said.original = "webmaster";
	change(fixture, &key, &said);
	said.original = NULL;
	change(fixture, &key, &said);
	fixture_must_commit(fixture, 1);
	record = fixture_find_one(fixture, message.queue_id);
	assert_string_equal(record->recipients[0].original, "webmaster");
	assert_null(record->recipients[1].original);
	assert_string_equal(record->recipients[3].original, "team@a.org");
	assert_string_equal(record->recipients[3].address, "jo@b.org");
}

static void
what_dovecot_did_is_kept_once(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	const struct message_record *record;
	struct recipient_key key = {add_message(fixture, 2, &message), 1};
	const struct filing_record filings[] = {
	    {FILING_DISCARDED, NULL},
	    {FILING_FORWARDED, "a@x.org"},
	    {FILING_STORED, "Junk"},
	    {FILING_FORWARDED, "b@x.org"},
	};
	static const size_t order[] = {2, 1, 3, 0};

	for (size_t i = 0; i < COUNT(filings); i++) {
		assert_int_equal(store_add_filing(&key, &filings[i], NULL), 1);
		assert_int_equal(store_add_filing(&key, &filings[i], NULL), 0);
	}
	fixture_must_commit(fixture, 1);
	record = fixture_find_one(fixture, message.queue_id);
	assert_int_equal(record->recipients[0].filing_count, 0);
	assert_int_equal(record->recipients[1].filing_count, COUNT(filings));
	for (size_t i = 0; i < COUNT(filings); i++) {
		const struct filing_record *found =
		    &record->recipients[1].filings[i];
		const struct filing_record *wanted = &filings[order[i]];

		assert_int_equal(found->action, wanted->action);
		if (wanted->name == NULL)
			assert_null(found->name);
		else
			assert_string_equal(found->name, wanted->name);
	}
}

/* Case 50. */
static void
an_lmtp_session_finds_its_recipients(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message, other;
	struct recipient_key keys[] = {
	    {add_message(fixture, 1, &message), 0},
	    {add_message(fixture, 2, &other), 1},
	    {add_message(fixture, 3, &other), 0},
	};
	struct recipient_keys found;

	for (size_t i = 0; i < COUNT(keys); i++)
		assert_int_equal(
		    store_add_session(&keys[i], i > 0 ? "s:T2" : "s/+", NULL),
		    0);
	assert_int_equal(store_add_session(&keys[0], "s/+", NULL), 0);
	assert_int_equal(store_find_session(fixture->store, "s:T2",
			     fixture->arena, &found, NULL),
	    0);
	assert_int_equal(found.count, 2);
	assert_int_equal(store_find_session(fixture->store, "s/+",
			     fixture->arena, &found, NULL),
	    0);
	assert_int_equal(found.count, 1);
	assert_true(found.items[0].message.file == keys[0].message.file);
	assert_int_equal(found.items[0].message.row, keys[0].message.row);
	assert_int_equal(found.items[0].number, 0);
	assert_int_equal(store_find_session(
			     fixture->store, "s", fixture->arena, &found, NULL),
	    0);
	assert_int_equal(found.count, 0);
	fixture_must_commit(fixture, 1);
	fixture_find_one(fixture, "s/+");
}

/* What is said of them is written when the batch ends. */
static void
nobody_is_changed_who_is_not_there(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_key key = add_message(fixture, 1, &message);
	const struct message_change said = {.evidence = 1};
	const struct recipient_change to = {.number = 7, .original = "a@b.org"};

	key.row++;
	fixture_must_commit(fixture, 1);
	assert_int_equal(
	    store_change_message(&key, &said, &fixture->reason), 0);
	assert_int_equal(fixture_commit(fixture, 2), -1);
	assert_int_equal(
	    store_change_recipient(&key, &to, &fixture->reason), 0);
	assert_int_equal(fixture_commit(fixture, 2), -1);
	fixture_must_commit(fixture, 2);
}

static void
claim(struct fixture *fixture, const struct message_key *key,
    const char *instance, const char *queue_id, int64_t since_wall_ns)
{
	const struct queue_id_claim claim = {instance, queue_id, since_wall_ns};

	if (store_add_queue_id(key, &claim, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
}

/* Which message answers to a queue id at a time; 0: none. */
static int64_t
owner(struct fixture *fixture, const char *instance, const char *queue_id,
    int64_t before_wall_ns)
{
	const struct queue_id_key key = {instance, queue_id, before_wall_ns};
	struct open_message open;
	int found;

	arena_reset(fixture->arena);
	found = store_find_queue_id(
	    fixture->store, &key, fixture->arena, &open, &fixture->reason);
	assert_true(found >= 0);
	return found == 1 ? open.key.row : 0;
}

static void
a_further_queue_id_finds_its_message(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	const struct message_record *record;
	struct open_message open;
	struct message_key key = add_message(fixture, 1, &message);

	claim(fixture, &key, INSTANCE, "LATER", NOW_NS);
	claim(fixture, &key, "filter.example.com", "SOONER", NOW_NS - 1);
	claim(fixture, &key, INSTANCE, "LATER", NOW_NS + 5);
	claim(fixture, &key, NULL, "\xff", NOW_NS + 1);
	open = read_open(fixture, &key);
	assert_int_equal(open.queue_id_count, 3);
	assert_string_equal(open.queue_ids[0].queue_id, "SOONER");
	assert_string_equal(open.queue_ids[0].instance, "filter.example.com");
	assert_string_equal(open.queue_ids[1].queue_id, "LATER");
	assert_int_equal(open.queue_ids[1].since_wall_ns, NOW_NS);
	assert_string_equal(open.queue_ids[2].queue_id, "\xff");
	fixture_must_commit(fixture, 1);
	record = fixture_find_one(fixture, "LATER");
	assert_true(uuid_equal(&record->event.id, &message.event.id));
	assert_int_equal(record->queue_id_count, 3);
	assert_string_equal(record->queue_ids[0], "SOONER");
	fixture_find_one(fixture, "SOONER");
	fixture_find_one(fixture, "\xff");
}

/* Each claims it from a time on; instances do not see each other's (case 29's
 * kind). */
static void
who_claimed_a_queue_id_last_has_it(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_key first = add_message(fixture, 1, &message);
	struct message_key second = add_message(fixture, 2, &message);
	int64_t second_ns = fixture_message_ns(2);

	claim(fixture, &first, INSTANCE, message.queue_id, second_ns + 1000);
	claim(fixture, &first, "other", "X1", second_ns);
	assert_int_equal(
	    owner(fixture, INSTANCE, message.queue_id, second_ns), second.row);
	assert_int_equal(
	    owner(fixture, INSTANCE, message.queue_id, second_ns + 999),
	    second.row);
	assert_int_equal(
	    owner(fixture, INSTANCE, message.queue_id, second_ns + 1000),
	    first.row);
	assert_int_equal(
	    owner(fixture, INSTANCE, message.queue_id, second_ns - 1), 0);
	assert_int_equal(owner(fixture, "other", "X1", NOW_NS), first.row);
	assert_int_equal(owner(fixture, INSTANCE, "X1", NOW_NS), 0);
}

/* The message of yesterday was requeued today. */
static void
an_older_message_may_claim_later(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_key old, young = add_message(fixture, 5, &message);
	int64_t old_ns = fixture_message_ns(5) - DAY_NS;

	message.event.id = fixture_id(old_ns, 5);
	message.event.mail_at = fixture_stamp(old_ns);
	old.file = store_file(fixture->store, old_ns, NULL);
	assert_int_equal(store_add_message(old.file, &message.event,
			     &fixture_segment, &message.verdict, &old, NULL),
	    0);
	assert_int_equal(
	    owner(fixture, INSTANCE, message.queue_id, NOW_NS), young.row);
	assert_int_equal(owner(fixture, INSTANCE, message.queue_id,
			     fixture_message_ns(5) - 1),
	    old.row);
	claim(fixture, &old, INSTANCE, message.queue_id, NOW_NS);
	assert_int_equal(
	    owner(fixture, INSTANCE, message.queue_id, NOW_NS), old.row);
}

static int
note_open(void *context, const struct open_message *message)
{
	uint64_t *states = context;

	for (size_t i = 0; i < message->recipient_count; i++)
		*states |= UINT64_C(1) << message->recipients[i].state;
	assert_int_equal(message->evidence, 7);
	assert_int_equal(message->recipients[0].evidence, 9);
	assert_int_equal(message->queue_id_count, 1);
	assert_string_equal(message->queue_ids[0].queue_id, "AGAIN");
	return 0;
}

static void
in_flight_deferred_and_held_are_open(void **state)
{
	const struct message_change said = {.evidence = 7};
	struct fixture *fixture = *state;
	struct fixture_message message;
	uint64_t seen = 0;

	for (int to = 0; to < RECIPIENT_STATES; to++) {
		/* Those numbers have one recipient. */
		struct message_key key =
		    add_message(fixture, 3 * (uint64_t)to, &message);

		change(fixture, &key,
		    &(struct recipient_change){.state = to, .evidence = 9});
		assert_int_equal(store_change_message(&key, &said, NULL), 0);
		claim(fixture, &key, INSTANCE, "AGAIN", NOW_NS);
	}
	fixture_must_commit(fixture, 1);
	fixture_reopen(fixture);
	assert_int_equal(
	    store_each_open(fixture->store, note_open, &seen, &fixture->reason),
	    0);
	assert_int_equal(seen, 1u << RECIPIENT_IN_FLIGHT |
				   1u << RECIPIENT_DEFERRED |
				   1u << RECIPIENT_HELD);
}

/* Only the log knows it: no boot, no monotonic clock, few stamps. */
static struct message_key
add_logged(struct fixture *fixture, uint64_t number, bool timed,
    struct fixture_message *message)
{
	static const struct segment_header segment = {.instance = INSTANCE};
	struct message_key key;
	int64_t at_ns = fixture_message_ns(number);

	fixture_fill_message(message, number);
	message->event = (struct message_event){.id = message->event.id,
	    .ending = MESSAGE_ENDING_LOGGED,
	    .queue_id = message->queue_id,
	    .recipients = message->recipients,
	    .recipient_count = 1};
	message->recipients[0].rcpt_at = (struct stamp){0, 0};
	if (timed)
		message->event.mail_at = (struct stamp){.wall_ns = at_ns};
	key.file = store_file(fixture->store, at_ns, &fixture->reason);
	assert_non_null(key.file);
	assert_int_equal(store_add_message(key.file, &message->event, &segment,
			     &message->verdict, &key, &fixture->reason),
	    0);
	return key;
}

static void
a_message_of_the_log_alone_is_kept(void **state)
{
	static const uint8_t nowhere[CLOCK_BOOT_ID_BYTES];
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct open_message open;
	struct timeline *timeline;
	const struct message_record *record;
	char id[UUID_TEXT_SIZE], *json;

	for (uint64_t number = 1; number < 5; number++) {
		bool timed = number % 2 == 0;
		struct message_key key =
		    add_logged(fixture, number, timed, &message);

		open = read_open(fixture, &key);
		assert_int_equal(open.ending, MESSAGE_ENDING_LOGGED);
		assert_int_equal(open.mail_at.wall_ns,
		    timed ? fixture_message_ns(number) : 0);
		assert_int_equal(open.mail_at.monotonic_ns, 0);
		assert_memory_equal(open.boot_id, nowhere, sizeof(nowhere));
		assert_int_equal(owner(fixture, INSTANCE, message.queue_id,
				     fixture_message_ns(number)),
		    key.row);
		fixture_must_commit(fixture, number);
		uuid_format(&message.event.id, id);
		record = fixture_find_one(fixture, id);
		assert_true(uuid_equal(&record->event.id, &message.event.id));
		assert_int_equal(record_begin_ns(record) / 1000000,
		    fixture_message_ns(number) / 1000000);
		assert_string_equal(record->instance, INSTANCE);
		timeline = timeline_build(record, fixture->arena);
		assert_int_equal(timeline->phase_count, 0);
		json = timeline_json(timeline);
		assert_non_null(strstr(json, "\"ending\": \"logged\""));
		free(json);
	}
}

/* Such a delivery had no stamp; its message became known by the log. */
static void
a_delivery_joins_a_message_of_the_log(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct fixture_delivery delivery;
	const struct message_record *record;
	struct message_key key = add_logged(fixture, 2, true, &message);
	struct leg_verdict verdict = {LEG_QUEUE_ID, &key};
	int64_t row;

	fixture_fill_delivery(&delivery, &message, 2);
	delivery.event.recipients = delivery.recipients;
	delivery.event.recipient_count = 0;
	assert_int_equal(store_add_leg(key.file, &delivery.event,
			     &fixture_segment, &verdict, &row, NULL),
	    0);
	fixture_must_commit(fixture, 1);
	record = fixture_find_one(fixture, message.queue_id);
	assert_int_equal(record->leg_count, 1);
	assert_int_equal(record->legs[0].event.mail_at.wall_ns,
	    delivery.event.mail_at.wall_ns / 1000 * 1000);
	assert_int_equal(record->legs[0].event.mail_at.monotonic_ns,
	    delivery.event.mail_at.monotonic_ns / 1000 * 1000);
}

static void
the_timeline_tells_what_the_log_said(void **state)
{
	static const char *const wanted[] = {"\"size_bytes\": 4321",
	    "\"queue_ids\": [\n    \"AGAIN\"\n  ]", "\"reason\": \"log_gap\"",
	    "\"reason\": null", "\"original\": \"team@example.org\"",
	    "\"state\": \"unknown\"", "\"at\": \"2026-11-30T12:00:00.000000Z\"",
	    "\"recipient\": \"user15@example3.org\"", "\"agent\": \"smtp\"",
	    "\"relay\": \"none\"", "\"dsn\": \"4.4.1\"",
	    "\"status\": \"deferred\"", "\"offset_seconds\": 0.0,"};
	const struct message_change said = {.size_bytes = 4321};
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_key key = add_message(fixture, 2, &message);
	const struct attempt_record attempt = {.wall_ns = NOW_NS,
	    .recipient = 1,
	    .agent = "smtp",
	    .relay = "none",
	    .dsn = "4.4.1",
	    .status = "deferred",
	    .text = "connect to mx.example.net[192.0.2.1]:25: refused"};
	const struct message_record *record;
	char *json;

	assert_int_equal(store_change_message(&key, &said, NULL), 0);
	assert_int_equal(store_add_attempt(&key, &attempt, NULL, NULL), 0);
	claim(fixture, &key, INSTANCE, "AGAIN", NOW_NS);
	change(fixture, &key,
	    &(struct recipient_change){.state = RECIPIENT_UNKNOWN,
		.reason = FATE_REASON_LOG_GAP,
		.original = "team@example.org"});
	fixture_must_commit(fixture, 1);
	record = fixture_find_one(fixture, message.queue_id);
	json = timeline_json(timeline_build(record, fixture->arena));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		if (strstr(json, wanted[i]) == NULL)
			fail_msg("%s is not in %s", wanted[i], json);
	}
	free(json);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	    TEST(evidence_and_reasons_come_back),
	    TEST(an_original_address_is_kept_until_another_is_said),
	    TEST(what_dovecot_did_is_kept_once),
	    TEST(an_lmtp_session_finds_its_recipients),
	    TEST(nobody_is_changed_who_is_not_there),
	    TEST(a_further_queue_id_finds_its_message),
	    TEST(who_claimed_a_queue_id_last_has_it),
	    TEST(an_older_message_may_claim_later),
	    TEST(in_flight_deferred_and_held_are_open),
	    TEST(a_message_of_the_log_alone_is_kept),
	    TEST(a_delivery_joins_a_message_of_the_log),
	    TEST(the_timeline_tells_what_the_log_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

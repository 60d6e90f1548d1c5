/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records laid out in time, and as JSON: golden files tests/store/NAME.json,
 * which are written anew when POSTLAG_GOLDEN is set.
 */
#include "tests/store/store_fixture.h"

#include <jansson.h>

#include "store/timeline.h"

/* A message, read back, and its timeline. */
static struct timeline *
timeline_of(struct fixture *fixture, const char *key)
{
	const struct message_record *record = fixture_find_one(fixture, key);
	struct timeline *timeline = timeline_build(record, fixture->arena);

	assert_non_null(timeline);
	return timeline;
}

static char *
read_file(const char *path)
{
	static char text[1 << 17];
	FILE *file = fopen(path, "r");

	if (file == NULL)
		fail_msg("%s: %s", path, strerror(errno));
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void
assert_golden(const struct timeline *timeline, const char *name)
{
	char *json = timeline_json(timeline), path[128], *text;
	json_t *parsed = json_loads(json, 0, NULL);
	FILE *file;

	assert_non_null(parsed);
	json_decref(parsed);
	snprintf(path, sizeof(path), "tests/store/%s.json", name);
	if (getenv("POSTLAG_GOLDEN") != NULL) {
		file = fopen(path, "w");
		assert_non_null(file);
		fprintf(file, "%s\n", json);
		fclose(file);
	}
	assert_true(asprintf(&text, "%s\n", json) > 0);
	assert_string_equal(text, read_file(path));
	free(text);
	free(json);
}

static void
phases_of_a_delivered_message_follow_each_other(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	const struct timeline *timeline;
	int64_t end_ns = INT64_MIN;

	fixture_add_both(fixture, 2);
	fixture_must_commit(fixture, 1);
	fixture_fill_message(&message, 2);
	timeline = timeline_of(fixture, message.queue_id);
	assert_int_equal(
	    timeline->start_wall_ns, fixture_message_ns(2) / 1000 * 1000);
	assert_int_equal(timeline->phases[0].phase, PHASE_CONNECT_TO_HELO);
	assert_true(timeline->phases[0].offset_ns < 0);
	assert_int_equal(
	    timeline->first_offset_ns, timeline->phases[0].offset_ns);
	for (size_t i = 0; i < timeline->phase_count; i++) {
		const struct timeline_phase *phase = &timeline->phases[i];

		assert_false(phase->skewed);
		if (i > 0)
			assert_int_equal(phase->offset_ns, end_ns);
		end_ns = phase->offset_ns + phase->duration_ns;
	}
	assert_int_equal(timeline->recipient_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct timeline_recipient *to = &timeline->recipients[i];
		const struct timeline_phase *last =
		    &to->phases[to->phase_count - 1];

		assert_int_equal(to->phase_count, 4);
		assert_int_equal(to->phases[0].phase, PHASE_QUEUE);
		assert_int_equal(to->phases[0].offset_ns, end_ns);
		assert_int_equal(to->latency.state, DURATION_KNOWN);
		assert_int_equal(
		    last->offset_ns + last->duration_ns, to->latency.ns);
		assert_int_equal(to->reply->code, 250);
	}
	assert_int_equal(
	    timeline->last_offset_ns, timeline->recipients[2].latency.ns);
	assert_golden(timeline, "timeline_delivered");
}

static void
an_aborted_message_shows_how_far_it_came(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_key key;
	struct day_file *file;

	fixture_fill_message(&message, 4);
	message.event.ending = MESSAGE_ENDING_ABORTED;
	message.event.phase = MESSAGE_PHASE_DATA;
	message.event.sequence = 1;
	message.event.content_at = message.event.eom_at = (struct stamp){0};
	message.event.end_at = fixture_stamp(fixture_message_ns(4) + SECOND_NS);
	message.recipients[0].rejected = true;
	message.recipients[0].reject_dsn = "5.1.1";
	message.recipients[0].reject_text =
	    "<user28@example4.org>: Recipient address rejected: User unknown";
	message.verdicts[0].state = RECIPIENT_REJECTED;
	message.verdicts[1].state = RECIPIENT_ABORTED;
	file = store_file(fixture->store, fixture_message_ns(4), NULL);
	assert_int_equal(store_add_message(file, &message.event,
			     &fixture_segment, &message.verdict, &key, NULL),
	    0);
	fixture_must_commit(fixture, 1);
	assert_golden(
	    timeline_of(fixture, message.queue_id), "timeline_aborted");
}

/* Another machine's clock lags; one recipient bounced at RCPT TO; bytes that
 * are no UTF-8; an attempt that decided nothing. */
static void
the_awkward_is_shown_too(void **state)
{
	struct fixture *fixture = *state;
	struct segment_header other = fixture_segment;
	struct fixture_message message;
	struct fixture_delivery delivery;
	struct message_key key;
	struct leg_verdict verdict = {LEG_STAMPED, &key};
	struct recipient_change change = {
	    .state = RECIPIENT_DELIVERED, .attempts = 2};
	const struct timeline *timeline;
	int64_t row;

	fixture_fill_message(&message, 2);
	message.event.helo = "caf\xe9\xff \xc3\xa9";
	message.recipients[2].address = "t\xc3\xa4st@\xff.example";
	key.file = store_file(fixture->store, fixture_message_ns(2), NULL);
	assert_int_equal(store_add_message(key.file, &message.event,
			     &fixture_segment, &message.verdict, &key, NULL),
	    0);
	other.boot_id[0] = 99;
	other.instance = "backend.example.com";
	for (int attempt = 0; attempt < 2; attempt++) {
		int64_t lag_ns = attempt == 0 ? 0 : -3600 * SECOND_NS;

		fixture_fill_delivery(&delivery, &message, 2);
		delivery.event.id = fixture_id(
		    fixture_delivery_ns(2) + lag_ns, 500 + (uint64_t)attempt);
		delivery.event.mail_at.wall_ns += lag_ns;
		delivery.event.data_at.wall_ns += lag_ns;
		delivery.event.content_end_at.wall_ns += lag_ns;
		for (size_t i = 0; i < 3; i++)
			delivery.recipients[i].final.at.wall_ns += lag_ns;
		delivery.recipients[1].envelope = (struct delivery_reply){550,
		    "5.1.1", "User unknown", delivery.recipients[1].final.at};
		delivery.recipients[1].final = (struct delivery_reply){0};
		delivery.recipients[2].address = message.recipients[2].address;
		if (attempt == 0)
			delivery.event.ending = DELIVERY_ENDING_BACKEND_LOST;
		assert_int_equal(store_add_leg(key.file, &delivery.event,
				     &other, &verdict, &row, NULL),
		    0);
	}
	change.leg_row = row;
	for (uint32_t i = 0; i < 2; i++) {
		change.number = change.leg_position = i;
		assert_int_equal(
		    store_change_recipient(&key, &change, NULL), 0);
		change.state = RECIPIENT_BOUNCED;
	}
	fixture_must_commit(fixture, 1);
	timeline = timeline_of(fixture, message.queue_id);
	assert_true(timeline->recipients[0].phases[0].skewed);
	assert_int_equal(
	    timeline->recipients[0].latency.state, DURATION_SKEWED);
	assert_int_equal(timeline->recipients[1].reply->code, 550);
	assert_null(timeline->recipients[2].reply);
	assert_golden(timeline, "timeline_awkward");
}

static void
a_leg_without_a_message_counts_from_its_own_mail(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct fixture_delivery delivery;
	struct leg_verdict verdict = {LEG_UNSTAMPED, NULL};
	const struct timeline *timeline;
	struct day_file *file;
	int64_t row;

	fixture_fill_message(&message, 1);
	fixture_fill_delivery(&delivery, &message, 1);
	delivery.event.stamps_seen = 0;
	delivery.event.stamp_id = (struct uuid){{0}};
	delivery.event.stamp_queue_id = NULL;
	delivery.event.stamp_mail_wall_ns = 0;
	delivery.recipients[1].final.code = 450;
	file = store_file(fixture->store, fixture_delivery_ns(1), NULL);
	assert_int_equal(store_add_leg(file, &delivery.event, &fixture_segment,
			     &verdict, &row, NULL),
	    0);
	fixture_must_commit(fixture, 1);
	timeline = timeline_of(fixture, message.message_id);
	assert_int_equal(timeline->start_wall_ns, fixture_delivery_ns(1));
	assert_int_equal(timeline->phase_count, 0);
	assert_int_equal(
	    timeline->recipients[0].phases[0].phase, PHASE_LMTP_ENVELOPE);
	assert_int_equal(timeline->recipients[0].phases[0].offset_ns, 0);
	assert_int_equal(
	    timeline->recipients[0].latency.state, DURATION_UNKNOWN);
	assert_golden(timeline, "timeline_leg");
}

static void
add_lines(struct fixture *fixture, const struct message_key *key)
{
	static const struct attempt_record lines[] = {
	    {.wall_ns = NOW_NS,
		.agent = "smtp",
		.relay = "none",
		.dsn = "4.4.1",
		.status = "deferred",
		.text = "connect to mx.example.net[192.0.2.9]:25: refused"},
	    {.wall_ns = NOW_NS + 300 * SECOND_NS,
		.queue_id = "AGAIN",
		.agent = "smtp",
		.relay = "mx.example.net[192.0.2.9]:25",
		.dsn = "2.0.0",
		.status = "sent",
		.text = "250 2.0.0 Ok: queued as 4F00"}};

	for (size_t i = 0; i < COUNT(lines); i++)
		assert_int_equal(
		    store_add_attempt(key, &lines[i], NULL, &fixture->reason),
		    0);
}

/* Sent by sendmail(1), without a milter; requeued; to an alias. */
static void
a_message_of_the_log_alone_shows_its_attempts(void **state)
{
	static const struct segment_header nowhere = {.instance = "mx"};
	const struct message_change change = {
	    .evidence = 15, .size_bytes = 4321};
	const struct queue_id_claim claim = {"mx", "AGAIN", NOW_NS};
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_key key;

	fixture_fill_message(&message, 3);
	message.event = (struct message_event){.id = message.event.id,
	    .ending = MESSAGE_ENDING_LOGGED,
	    .queue_id = message.queue_id,
	    .sender = message.sender};
	key.file = store_file(fixture->store, fixture_message_ns(3), NULL);
	assert_int_equal(store_add_message(key.file, &message.event, &nowhere,
			     &message.verdict, &key, NULL),
	    0);
	assert_int_equal(
	    store_add_recipient(&key, "jo@example.net",
		&(struct recipient_change){.state = RECIPIENT_RELAYED,
		    .evidence = 64,
		    .original = "team@example.org"},
		NULL),
	    0);
	assert_int_equal(store_change_message(&key, &change, NULL), 0);
	assert_int_equal(store_add_queue_id(&key, &claim, NULL), 0);
	add_lines(fixture, &key);
	fixture_must_commit(fixture, 1);
	assert_golden(timeline_of(fixture, "AGAIN"), "timeline_logged");
}

static void
an_arena_that_is_full_gives_null(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	const struct message_record *record;
	struct arena *arena = arena_new(64);

	fixture_add_both(fixture, 2);
	fixture_must_commit(fixture, 1);
	fixture_fill_message(&message, 2);
	record = fixture_find_one(fixture, message.queue_id);
	assert_null(timeline_build(record, arena));
	arena_free(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	    TEST(phases_of_a_delivered_message_follow_each_other),
	    TEST(an_aborted_message_shows_how_far_it_came),
	    TEST(the_awkward_is_shown_too),
	    TEST(a_leg_without_a_message_counts_from_its_own_mail),
	    TEST(a_message_of_the_log_alone_shows_its_attempts),
	    TEST(an_arena_that_is_full_gives_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

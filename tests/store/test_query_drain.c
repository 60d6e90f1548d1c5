/* SPDX-License-Identifier: BSD-2-Clause */
/* Who waits in the queue and how many left it, beside a living writer. */
#include "store/query_drain.h"

#include "tests/store/store_fixture.h"

#define MINUTE_NS (60 * SECOND_NS)

/* Message `number`, to one recipient (of example<number % 20>.org). */
static struct message_key
add(struct fixture *fixture, uint64_t number, enum recipient_state state)
{
	struct fixture_message message;
	struct recipient_change change = {.state = state};
	struct message_key key;

	assert_int_equal(number % 3, 0);
	if (fixture_add_message(fixture, number, &message, &key) != 0 ||
	    store_change_recipient(&key, &change, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	return key;
}

/* The same of the day before, its domain in capitals. */
static struct message_key
add_yesterday(struct fixture *fixture, uint64_t number)
{
	struct fixture_message message;
	struct message_key key;
	int64_t at_ns = fixture_message_ns(number) - DAY_NS;

	fixture_fill_message(&message, number);
	message.event.id = fixture_id(at_ns, number);
	message.event.mail_at = fixture_stamp(at_ns);
	for (char *at = message.addresses[0]; *at != '\0'; at++)
		if (*at >= 'a' && *at <= 'z')
			*at -= 'a' - 'A';
	key.file = store_file(fixture->store, at_ns, &fixture->reason);
	if (key.file == NULL ||
	    store_add_message(key.file, &message.event, &fixture_segment,
		&message.verdict, &key, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	return key;
}

static void
depart(struct fixture *fixture, const struct message_key *key, int minutes_ago)
{
	if (store_add_departure(key, 0, NOW_NS - minutes_ago * MINUTE_NS,
		&fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
}

static struct drain_answer
ask(struct fixture *fixture, int64_t since_wall_ns)
{
	const struct drain_question question = {NOW_NS, since_wall_ns, 1};
	struct drain_answer answer;

	if (fixture->reader == NULL)
		fixture->reader =
		    store_reader_open(fixture->directory, &fixture->reason);
	assert_non_null(fixture->reader);
	arena_reset(fixture->arena);
	if (store_drain(fixture->reader, &question, fixture->arena, &answer,
		&fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	return answer;
}

static void
who_waits_is_counted_by_domain_over_all_days(void **state)
{
	struct fixture *fixture = *state;
	struct drain_answer answer;

	add(fixture, 3, RECIPIENT_IN_FLIGHT);
	add(fixture, 63, RECIPIENT_DEFERRED);
	add(fixture, 123, RECIPIENT_HELD);
	add(fixture, 183, RECIPIENT_DELIVERED);
	add(fixture, 6, RECIPIENT_DEFERRED);
	add(fixture, 9, RECIPIENT_LOST);
	add_yesterday(fixture, 243);
	fixture_must_commit(fixture, 1);
	answer = ask(fixture, 0);
	assert_int_equal(answer.count, 2);
	assert_int_equal(answer.domains[0].waiting, 3);
	assert_int_equal(strcasecmp(answer.domains[0].name, "example3.org"), 0);
	assert_in_range(
	    fixture_message_ns(243) - DAY_NS - answer.domains[0].oldest_wall_ns,
	    0, 1000);
	assert_int_equal(answer.domains[1].waiting, 1);
	assert_string_equal(answer.domains[0].oldest->recipients[0].address,
	    "USER1701@EXAMPLE3.ORG");
	assert_null(answer.domains[1].oldest);
	answer = ask(fixture, MIDNIGHT_NS);
	assert_int_equal(answer.domains[0].waiting, 2);
}

static void
who_left_is_counted_by_minute_and_domain(void **state)
{
	struct fixture *fixture = *state;
	struct message_key key = add(fixture, 3, RECIPIENT_DELIVERED);
	struct message_key yesterday = add_yesterday(fixture, 63);
	struct message_key other = add(fixture, 6, RECIPIENT_DELIVERED);
	struct drain_answer answer;

	add(fixture, 123, RECIPIENT_DEFERRED);
	add(fixture, 9, RECIPIENT_DEFERRED);
	depart(fixture, &key, 0);
	depart(fixture, &key, 0);
	depart(fixture, &key, DRAIN_SHORT_MINUTES);
	fixture_must_commit(fixture, 1);
	depart(fixture, &key, 0);
	depart(fixture, &key, DRAIN_SHORT_MINUTES + 1);
	depart(fixture, &yesterday, 1);
	depart(fixture, &yesterday, DRAIN_LONG_MINUTES);
	depart(fixture, &yesterday, DRAIN_LONG_MINUTES + 1);
	depart(fixture, &other, 1);
	fixture_must_commit(fixture, 2);
	answer = ask(fixture, 0);
	/* Nobody waits for that of `other`. */
	assert_int_equal(answer.count, 2);
	assert_int_equal(answer.domains[0].left_short, 5);
	assert_int_equal(answer.domains[0].left_long, 7);
	assert_int_equal(answer.domains[1].left_long, 0);
}

/* I2: like everything that a batch does. */
static void
what_is_rolled_back_did_not_leave(void **state)
{
	struct fixture *fixture = *state;
	struct message_key key = add(fixture, 3, RECIPIENT_DEFERRED);

	depart(fixture, &key, 1);
	fixture_must_commit(fixture, 1);
	depart(fixture, &key, 1);
	store_rollback(fixture->store);
	assert_int_equal(ask(fixture, 0).domains[0].left_short, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	    TEST(who_waits_is_counted_by_domain_over_all_days),
	    TEST(who_left_is_counted_by_minute_and_domain),
	    TEST(what_is_rolled_back_did_not_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

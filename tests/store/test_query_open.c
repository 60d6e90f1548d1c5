/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue and what is missing, beside a living writer. */
#include "store/query_open.h"

#include "tests/store/store_fixture.h"

#define QUESTION(kind_, limit_)                                                \
	(struct open_question)                                                 \
	{                                                                      \
		.kind = (kind_), .limit = (limit_)                             \
	}

static struct message_key
add_with_state(
    struct fixture *fixture, uint64_t number, enum recipient_state state)
{
	struct fixture_message message;
	struct recipient_change change = {.state = state};
	struct message_key key;

	if (fixture_add_message(fixture, number, &message, &key) != 0 ||
	    store_change_recipient(&key, &change, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	return key;
}

static struct open_answer
ask(struct fixture *fixture, struct open_question question)
{
	struct open_answer answer;

	if (fixture->reader == NULL)
		fixture->reader =
		    store_reader_open(fixture->directory, &fixture->reason);
	assert_non_null(fixture->reader);
	arena_reset(fixture->arena);
	if (store_open_messages(fixture->reader, &question, fixture->arena,
		&answer, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	return answer;
}

/* Numbers divisible by three have one recipient, in flight at first. */
static void
the_oldest_open_messages_come_first(void **state)
{
	struct fixture *fixture = *state;
	struct open_answer answer;

	add_with_state(fixture, 9, RECIPIENT_DEFERRED);
	add_with_state(fixture, 3, RECIPIENT_HELD);
	add_with_state(fixture, 6, RECIPIENT_DELIVERED);
	add_with_state(fixture, 12, RECIPIENT_LOST);
	add_with_state(fixture, 15, RECIPIENT_IN_FLIGHT);
	fixture_must_commit(fixture, 1);
	answer = ask(fixture, QUESTION(OPEN_QUEUED, 2));
	assert_int_equal(answer.count, 2);
	assert_int_equal(answer.records[0].recipients[0].state, RECIPIENT_HELD);
	assert_int_equal(
	    answer.records[1].recipients[0].state, RECIPIENT_DEFERRED);
	assert_int_equal(answer.messages, 3);
	assert_int_equal(answer.recipients[RECIPIENT_HELD], 1);
	assert_int_equal(answer.recipients[RECIPIENT_DEFERRED], 1);
	assert_int_equal(answer.recipients[RECIPIENT_IN_FLIGHT], 1);
	assert_int_equal(answer.recipients[RECIPIENT_LOST], 0);
	assert_false(answer.incomplete);
}

static void
the_newest_missing_messages_come_first(void **state)
{
	struct fixture *fixture = *state;
	struct open_answer answer;

	add_with_state(fixture, 3, RECIPIENT_LOST);
	add_with_state(fixture, 9, RECIPIENT_UNKNOWN);
	add_with_state(fixture, 6, RECIPIENT_DEFERRED);
	fixture_must_commit(fixture, 1);
	answer = ask(fixture, QUESTION(OPEN_MISSING, 9));
	assert_int_equal(answer.count, 2);
	assert_int_equal(
	    answer.records[0].recipients[0].state, RECIPIENT_UNKNOWN);
	assert_int_equal(answer.records[1].recipients[0].state, RECIPIENT_LOST);
	assert_int_equal(answer.messages, 2);
}

/* A recovered loss is none any more. */
static void
what_is_done_leaves_the_lists(void **state)
{
	struct fixture *fixture = *state;
	struct recipient_change change = {.state = RECIPIENT_DELIVERED};
	struct message_key key = add_with_state(fixture, 3, RECIPIENT_LOST);

	fixture_must_commit(fixture, 1);
	assert_int_equal(ask(fixture, QUESTION(OPEN_MISSING, 9)).messages, 1);
	assert_int_equal(
	    0, store_change_recipient(&key, &change, &fixture->reason));
	fixture_must_commit(fixture, 2);
	assert_int_equal(ask(fixture, QUESTION(OPEN_MISSING, 9)).messages, 0);
	assert_int_equal(ask(fixture, QUESTION(OPEN_QUEUED, 9)).messages, 0);
}

static void
older_days_than_asked_for_are_left_out(void **state)
{
	struct fixture *fixture = *state;
	struct open_question question = QUESTION(OPEN_QUEUED, 9);

	question.since_wall_ns = MIDNIGHT_NS;
	add_with_state(fixture, 3, RECIPIENT_DEFERRED);
	fixture_must_commit(fixture, 1);
	assert_int_equal(ask(fixture, question).messages, 1);
	question.since_wall_ns += DAY_NS;
	assert_int_equal(ask(fixture, question).messages, 0);
}

static void
only_what_began_in_a_time_is_listed_and_counted(void **state)
{
	struct fixture *fixture = *state;
	struct open_question question = QUESTION(OPEN_MISSING, 9);

	add_with_state(fixture, 3, RECIPIENT_LOST);
	add_with_state(fixture, 6, RECIPIENT_LOST);
	add_with_state(fixture, 9, RECIPIENT_LOST);
	fixture_must_commit(fixture, 1);
	question.from_wall_ns = fixture_message_ns(5);
	assert_int_equal(ask(fixture, question).messages, 2);
	assert_int_equal(ask(fixture, question).recipients[RECIPIENT_LOST], 2);
	question.before_wall_ns = fixture_message_ns(8);
	assert_int_equal(ask(fixture, question).count, 1);
	question.from_wall_ns = 0;
	assert_int_equal(ask(fixture, question).messages, 2);
	question.before_wall_ns = fixture_message_ns(3) - DAY_NS;
	assert_int_equal(ask(fixture, question).messages, 0);
	question.before_wall_ns = 0;
	question.from_wall_ns = fixture_message_ns(9) + DAY_NS;
	assert_int_equal(ask(fixture, question).messages, 0);
}

/* But not who was delivered since, or deleted by Postfix's own means. */
static void
what_an_operator_acknowledged_is_listed_when_asked_for(void **state)
{
	static const struct {
		enum recipient_state state;
		enum fate_reason reason;
		bool acknowledged;
	} rows[] = {
	    {RECIPIENT_DELETED, FATE_REASON_ACKNOWLEDGED, true},
	    {RECIPIENT_DELETED, FATE_REASON_ACKNOWLEDGED_UNKNOWN, true},
	    {RECIPIENT_DELIVERED, FATE_REASON_NONE, true},
	    {RECIPIENT_DELETED, FATE_REASON_NONE, false},
	    {RECIPIENT_LOST, FATE_REASON_NONE, true},
	};
	struct fixture *fixture = *state;
	struct operation_event operation = {.kind = OPERATION_ACKNOWLEDGE,
	    .who = "root",
	    .comment = "restored"};
	struct open_answer answer;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct recipient_change change = {.state = rows[i].state,
		    .reason = rows[i].reason,
		    .evidence = 0xffffff};
		struct message_key key =
		    add_with_state(fixture, 3 * i + 3, RECIPIENT_LOST);

		assert_int_equal(
		    0, store_change_recipient(&key, &change, NULL));
		for (int twice = 0; twice < 2 && rows[i].acknowledged;
		     twice++) {
			operation.at.wall_ns = NOW_NS + twice;
			assert_int_equal(
			    0, store_add_operation(&key, &operation, NULL));
		}
	}
	fixture_must_commit(fixture, 1);
	answer = ask(fixture, QUESTION(OPEN_MISSING, 9));
	assert_int_equal(answer.messages, 1);
	assert_int_equal(answer.count, 1);
	answer = ask(fixture, QUESTION(OPEN_EVER_MISSING, 9));
	assert_int_equal(answer.messages, 3);
	assert_int_equal(answer.count, 3);
	assert_int_equal(answer.recipients[RECIPIENT_DELETED], 2);
	assert_int_equal(answer.recipients[RECIPIENT_LOST], 1);
	assert_int_equal(answer.records[2].operation_count, 2);
	assert_string_equal(answer.records[2].operations[1].who, "root");
	assert_string_equal(
	    answer.records[2].operations[1].comment, "restored");
	assert_true(answer.records[2].operations[0].wall_ns == NOW_NS);
	answer = ask(fixture, QUESTION(OPEN_EVER_MISSING, 2));
	assert_int_equal(answer.messages, 3);
	assert_int_equal(answer.count, 2);
	assert_int_equal(answer.records[0].recipients[0].state, RECIPIENT_LOST);
}

static void
a_file_that_cannot_be_read_makes_the_answer_incomplete(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];
	struct open_answer answer;
	FILE *file;

	add_with_state(fixture, 3, RECIPIENT_LOST);
	fixture_must_commit(fixture, 1);
	fixture_path(fixture, "day-20261129.db", path);
	file = fopen(path, "w");
	assert_non_null(file);
	for (int i = 0; i < 1000; i++)
		fputs("not a database ", file);
	fclose(file);
	answer = ask(fixture, QUESTION(OPEN_MISSING, 9));
	assert_int_equal(answer.messages, 1);
	assert_true(answer.incomplete);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(the_oldest_open_messages_come_first,
		fixture_setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		the_newest_missing_messages_come_first, fixture_setup,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		what_is_done_leaves_the_lists, fixture_setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		older_days_than_asked_for_are_left_out, fixture_setup,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		only_what_began_in_a_time_is_listed_and_counted, fixture_setup,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		what_an_operator_acknowledged_is_listed_when_asked_for,
		fixture_setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		a_file_that_cannot_be_read_makes_the_answer_incomplete,
		fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forgetting an address: nothing of it is left and nothing else is touched,
 * whoever is killed whenever (I2, I3). In bytes of files, e2e/test_forget.
 */
#include "store/store_forget.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "store/database.h"
#include "store/query_forget.h"

#include "tests/store/store_fixture.h"

#define MESSAGES 1200
/* Who sends every message whose number is 7 modulo 300. */
#define SENDER "sender7@example.net"
/* The first recipient of message 5. */
#define RECIPIENT "user35@example5.org"
#define CALLS_MAX 10000

static struct journal_position
at(uint64_t offset)
{
	return (struct journal_position){1, offset};
}

static void
fill(struct fixture *fixture)
{
	for (uint64_t number = 0; number < MESSAGES; number++)
		fixture_add_both(fixture, number);
	fixture_must_commit(fixture, 1);
}

static void
note(struct fixture *fixture, const char *address, uint64_t offset)
{
	if (store_forget(
		fixture->store, address, at(offset), &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
}

/* At most so many parts. Returns how many there were. */
static int
go_on(struct fixture *fixture, int parts)
{
	int count = 0;
	int64_t due_ns;

	while (
	    count < parts && (due_ns = store_forget_due(fixture->store)) != 0) {
		store_forget_some(fixture->store, due_ns, 0);
		poll(NULL, 0, 1); /* the checkpoint thread is asked, too */
		count++;
	}
	return count;
}

static uint64_t
messages_of(struct fixture *fixture, const char *address)
{
	struct address_count count;
	struct store_reader *reader =
	    store_reader_open(fixture->directory, &fixture->reason);

	if (reader == NULL ||
	    store_count_address(reader, address, &count, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	store_reader_free(&reader);
	return count.messages;
}

static void
check_text(const char *got, const char *wanted, const char *forgotten)
{
	if (strcmp(wanted, forgotten) != 0)
		assert_string_equal(got, wanted);
	else
		assert_string_equal(strchr(got, '@'), strchr(wanted, '@'));
}

/* Every message is as it was written, but for the address. */
static void
check_messages(struct fixture *fixture, const char *forgotten)
{
	for (uint64_t number = 0; number < MESSAGES; number += 7) {
		const struct message_record *record;
		struct fixture_message message;
		struct fixture_delivery delivery;
		char id[UUID_TEXT_SIZE];

		fixture_fill_message(&message, number);
		fixture_fill_delivery(&delivery, &message, number);
		uuid_format(&message.event.id, id);
		record = fixture_find_one(fixture, id);
		check_text(record->event.sender, message.sender, forgotten);
		assert_int_equal(
		    record->recipient_count, message.event.recipient_count);
		for (size_t i = 0; i < record->recipient_count; i++) {
			check_text(record->recipients[i].address,
			    message.addresses[i], forgotten);
			assert_int_equal(
			    record->recipients[i].state, RECIPIENT_DELIVERED);
			if (strcmp(message.addresses[i], forgotten) != 0)
				assert_string_equal(record->legs[0]
							.event.recipients[i]
							.final.text,
				    delivery.texts[i]);
		}
	}
	store_reader_free(&fixture->reader);
}

static void
check_integrity(struct fixture *fixture)
{
	char path[FIXTURE_PATH_SIZE];
	enum database_failure failure;
	struct database *database;
	int64_t faults = -1;

	fixture_path(fixture, "day-20261130.db", path);
	database = database_open(
	    path, DATABASE_READ, NULL, 0, &failure, &fixture->reason);
	assert_non_null(database);
	database_read_integer(database,
	    "SELECT count(*) FROM pragma_integrity_check"
	    " WHERE integrity_check <> 'ok'",
	    &faults);
	assert_int_equal(faults, 0);
	database_close(&database);
}

static void
an_address_is_forgotten_and_nothing_else(void **state)
{
	struct fixture *fixture = *state;
	uint64_t deliveries;

	fill(fixture);
	deliveries = fixture_counted(fixture, COUNTER_DELIVERIES);
	assert_int_equal(messages_of(fixture, SENDER), MESSAGES / 300);
	note(fixture, "SENDER7@Example.NET", 100);
	assert_true(go_on(fixture, CALLS_MAX) < CALLS_MAX);
	assert_int_equal(messages_of(fixture, SENDER), 0);
	check_messages(fixture, SENDER);
	assert_int_equal(
	    fixture_counted(fixture, COUNTER_DELIVERIES), deliveries);
	assert_int_equal(messages_of(fixture, RECIPIENT), 1);
	note(fixture, RECIPIENT, 200);
	go_on(fixture, CALLS_MAX);
	assert_int_equal(messages_of(fixture, RECIPIENT), 0);
	check_integrity(fixture);
}

/* Read again after a crash, the same operation asks for nothing. */
static void
an_operation_is_noted_once_and_what_comes_later_is_stored(void **state)
{
	struct fixture *fixture = *state;

	fill(fixture);
	note(fixture, SENDER, 100);
	go_on(fixture, CALLS_MAX);
	fixture_add_both(fixture, MESSAGES + 7);
	fixture_must_commit(fixture, 2);
	assert_int_equal(messages_of(fixture, SENDER), 1);
	fixture_reopen(fixture);
	note(fixture, SENDER, 100);
	assert_int_equal(store_forget_due(fixture->store), 0);
	assert_int_equal(messages_of(fixture, SENDER), 1);
	note(fixture, SENDER, 101);
	go_on(fixture, CALLS_MAX);
	assert_int_equal(messages_of(fixture, SENDER), 0);
}

/* In a child that has the store to itself. */
static void
die_after(struct fixture *fixture, int parts)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		fixture_open(fixture);
		note(fixture, SENDER, 100);
		go_on(fixture, parts);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

static void
killed_behind_any_part_it_is_done_in_the_end(void **state)
{
	struct fixture *fixture = *state;
	int parts;

	fill(fixture);
	fixture_close(fixture);
	for (parts = 0; parts < 15; parts++) {
		die_after(fixture, parts);
		check_integrity(fixture);
	}
	fixture_open(fixture);
	go_on(fixture, CALLS_MAX);
	assert_int_equal(store_forget_due(fixture->store), 0);
	assert_int_equal(messages_of(fixture, SENDER), 0);
	check_messages(fixture, SENDER);
	assert_int_equal(fixture_counted(fixture, COUNTER_MESSAGES), MESSAGES);
	check_integrity(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		an_address_is_forgotten_and_nothing_else, fixture_setup,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		an_operation_is_noted_once_and_what_comes_later_is_stored,
		fixture_setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		killed_behind_any_part_it_is_done_in_the_end, fixture_setup,
		fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are not written for a while give back memory, and lose nothing. */
#include "store/store.h"

#include <sqlite3.h>

#include "tests/store/store_fixture.h"

#define DAY_NS CLOCK_NS_PER_DAY

/* More than any file may stay idle for. */
#define COMMITS 100

static void
write_the_day_before(struct fixture *fixture, uint64_t number)
{
	struct fixture_message message;
	struct message_key key;
	int64_t wall_ns = fixture_message_ns(number) - DAY_NS;

	fixture_fill_message(&message, number);
	message.event.id = fixture_id(wall_ns, number);
	key.file = store_file(fixture->store, wall_ns, &fixture->reason);
	assert_non_null(key.file);
	assert_int_equal(
	    store_add_message(key.file, &message.event, &fixture_segment,
		&message.verdict, &key, &fixture->reason),
	    0);
}

static int64_t
ask(const struct fixture *fixture, const char *sql)
{
	char path[FIXTURE_PATH_SIZE];
	sqlite3 *database;
	sqlite3_stmt *query;
	int64_t answer;

	fixture_path(fixture, "day-20261130.db", path);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(
	    sqlite3_prepare_v2(database, sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	answer = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	sqlite3_close(database);
	return answer;
}

static void
a_file_that_was_idle_is_written_on(void **state)
{
	static const char addresses[] = "SELECT count(*) FROM address";
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_key key;
	int64_t before;

	assert_int_equal(fixture_add_message(fixture, 1, &message, &key), 0);
	fixture_must_commit(fixture, 1);
	before = ask(fixture, addresses);
	for (uint64_t i = 2; i < COMMITS; i++) {
		write_the_day_before(fixture, i);
		fixture_must_commit(fixture, i);
	}
	assert_int_equal(fixture_add_delivery(fixture, 1, &message, &key), 0);
	fixture_must_commit(fixture, COMMITS);
	assert_int_equal(
	    fixture_find_one(fixture, message.queue_id)->leg_count, 1);
	assert_int_equal(
	    fixture_find_one(fixture, message.queue_id)->recipients[0].state,
	    RECIPIENT_DELIVERED);
	assert_int_equal(ask(fixture, addresses), before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_file_that_was_idle_is_written_on,
		fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

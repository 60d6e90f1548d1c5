/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of an older version: upgraded by the writer as it opens them, left
 * alone by readers (I2, I3).
 */
#include "tests/store/store_fixture.h"

#include <sqlite3.h>

#include "store/hash.h"
#include "store/query_feed.h"
#include "store/schema.h"

#include "tests/lib/outcome_rows.h"

#define DAY "day-20261130.db"

/* Evidence as exporter/join/fate.h numbers it. */
enum { NAMED = 1, REFUSED = 2, DELIVERED = 4, BOUNCED = 8, DEFERRED = 16 };
enum { ACCEPTED = 1, SEEN_BY_HOOK = 2 };

static void
execute(const char *path, const char *sql)
{
	sqlite3 *database;
	char *error = NULL;

	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	if (sqlite3_exec(database, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", path, error);
	sqlite3_close(database);
}

static int64_t
ask(const char *path, const char *sql)
{
	sqlite3 *database;
	sqlite3_stmt *query;
	int64_t answer;

	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(
	    sqlite3_prepare_v2(database, sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	answer = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	sqlite3_close(database);
	return answer;
}

static const char control_version1[] =
    "PRAGMA application_id = 1349471335; PRAGMA user_version = 1;"
    "CREATE TABLE lower_bound(source ANY PRIMARY KEY,"
    " segment INTEGER NOT NULL, offset INTEGER NOT NULL)"
    " STRICT, WITHOUT ROWID;"
    "INSERT INTO lower_bound VALUES('milter', 1, 1234);";

static const char control_to_version2[] =
    "PRAGMA user_version = 2;"
    "CREATE TABLE note(name ANY PRIMARY KEY, value BLOB NOT NULL)"
    " STRICT, WITHOUT ROWID;";

/* A store of an older version, whose day file is in `name`, not yet opened. */
static int
setup_from(void **state, const char *name)
{
	struct fixture *fixture = fixture_new();
	char path[FIXTURE_PATH_SIZE], sql[32768];
	FILE *file = fopen(name, "r");
	size_t size;

	*state = fixture;
	if (fixture == NULL || file == NULL ||
	    mkdir(fixture->directory, 0750) != 0)
		return -1;
	size = fread(sql, 1, sizeof(sql) - 1, file);
	fclose(file);
	sql[size] = '\0';
	fixture_path(fixture, DAY, path);
	execute(path, sql);
	fixture_path(fixture, "control.db", path);
	execute(path, control_version1);
	return 0;
}

static int
setup_version1(void **state)
{
	return setup_from(state, "tests/store/version1.sql");
}

static int
setup_version2(void **state)
{
	char path[FIXTURE_PATH_SIZE];
	int result = setup_from(state, "tests/store/version2.sql");

	if (result == 0) {
		fixture_path(*state, "control.db", path);
		execute(path, control_to_version2);
	}
	return result;
}

static int
setup_version3(void **state)
{
	char path[FIXTURE_PATH_SIZE];
	int result = setup_from(state, "tests/store/version3.sql");

	if (result == 0) {
		fixture_path(*state, "control.db", path);
		execute(path, control_to_version2);
		execute(path, "PRAGMA user_version = 3;");
	}
	return result;
}

static void
find_open(struct fixture *fixture, uint64_t number, struct open_message *open_r)
{
	struct fixture_message message;

	fixture_fill_message(&message, number);
	arena_reset(fixture->arena);
	if (store_find_message(fixture->store, &message.event.id,
		fixture->arena, open_r, &fixture->reason) != 1)
		fail_msg("%s", fixture->reason.text);
}

static void
what_was_known_is_told_as_evidence(void **state)
{
	static const struct {
		uint32_t evidence;
		size_t count;
		struct {
			enum recipient_state state;
			uint32_t evidence;
		} recipients[3];
	} wanted[] = {
	    {ACCEPTED | SEEN_BY_HOOK, 2,
		{{RECIPIENT_DELIVERED, NAMED | DELIVERED},
		    {RECIPIENT_DELIVERED, NAMED | DELIVERED}}},
	    {ACCEPTED | SEEN_BY_HOOK, 3,
		{{RECIPIENT_BOUNCED, NAMED | BOUNCED},
		    {RECIPIENT_IN_FLIGHT, NAMED | DEFERRED},
		    {RECIPIENT_REJECTED, REFUSED}}},
	    {ACCEPTED, 1, {{RECIPIENT_IN_FLIGHT, NAMED}}},
	    {0, 2, {{RECIPIENT_ABORTED, NAMED}, {RECIPIENT_ABORTED, NAMED}}},
	};
	struct fixture *fixture = *state;
	struct open_message open;

	fixture_open(fixture);
	for (size_t i = 0; i < COUNT(wanted); i++) {
		find_open(fixture, i + 1, &open);
		assert_row(i, open.evidence == wanted[i].evidence);
		assert_row(i, open.recipient_count == wanted[i].count);
		for (size_t j = 0; j < wanted[i].count; j++) {
			assert_row(i, open.recipients[j].state ==
					  wanted[i].recipients[j].state);
			assert_row(i, open.recipients[j].evidence ==
					  wanted[i].recipients[j].evidence);
			assert_row(
			    i, open.recipients[j].reason == FATE_REASON_NONE);
		}
	}
}

static int
count_message(void *context, const struct open_message *message)
{
	++*(unsigned *)context;
	return 0;
}

static int
count_leg(void *context, const struct waiting_leg *leg)
{
	++*(unsigned *)context;
	return 0;
}

static void
an_upgraded_store_goes_on_where_it_was(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	const struct message_record *record;
	struct open_message open;
	unsigned messages = 0, legs = 0;
	struct recipient_change change = {.state = RECIPIENT_DEFERRED,
	    .evidence = 1024,
	    .original = "old@example.org"};
	const struct attempt_record attempt = {
	    .wall_ns = NOW_NS, .agent = "smtp", .status = "deferred"};
	const struct operation_event operation = {
	    .kind = OPERATION_ACKNOWLEDGE, .at = {NOW_NS, 0}, .who = "root"};

	fixture_open(fixture);
	assert_int_equal(
	    store_lower_bound(fixture->store, SOURCE).offset, 1234);
	assert_int_equal(fixture_counted(fixture, COUNTER_DELIVERIES), 2);
	assert_int_equal(store_each_open(fixture->store, count_message,
			     &messages, &fixture->reason),
	    0);
	assert_int_equal(messages, 2);
	assert_int_equal(store_each_waiting(fixture->store, count_leg, &legs,
			     &fixture->reason),
	    0);
	assert_int_equal(legs, 1);
	find_open(fixture, 3, &open);
	assert_int_equal(store_change_recipient(&open.key, &change, NULL), 0);
	assert_int_equal(store_add_attempt(&open.key, &attempt, NULL, NULL), 0);
	assert_int_equal(store_add_operation(&open.key, &operation, NULL), 0);
	fixture_add_both(fixture, 10);
	fixture_must_commit(fixture, 2000);
	fixture_reopen(fixture);
	fixture_fill_message(&message, 3);
	record = fixture_find_one(fixture, message.queue_id);
	assert_int_equal(record->recipients[0].state, RECIPIENT_DEFERRED);
	assert_string_equal(record->recipients[0].original, "old@example.org");
	assert_int_equal(record->attempt_count, 1);
	assert_int_equal(record->operation_count, 1);
	assert_null(record->operations[0].comment);
	fixture_fill_message(&message, 1);
	record = fixture_find_one(fixture, message.queue_id);
	assert_int_equal(record->leg_count, 1);
	assert_int_equal(record->recipients[1].leg, 0);
}

/* Counters do not sink because labels were added. */
static void
latencies_without_a_route_are_of_mailboxes(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];

	fixture_path(fixture, DAY, path);
	execute(path, "INSERT INTO series"
		      " VALUES(90, 'postlag_delivery_latency_seconds')");
	fixture_open(fixture);
	fixture_close(fixture);
	assert_int_equal(
	    ask(path, "SELECT id FROM series WHERE name ="
		      " 'postlag_delivery_latency_seconds{route=\"inbound\"}'"),
	    90);
}

/* As one that this version made. */
static void
an_upgraded_file_has_every_table_and_index(void **state)
{
	static const char objects[] =
	    "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'";
	static const char open_recipients[] =
	    "SELECT count(*) FROM recipient INDEXED BY recipient_open"
	    " WHERE " SCHEMA_OPEN;
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_key key;
	char old[FIXTURE_PATH_SIZE], new[FIXTURE_PATH_SIZE];

	fixture_open(fixture);
	fixture_fill_message(&message, 1);
	message.event.id = fixture_id(fixture_message_ns(1) - DAY_NS, 1);
	key.file =
	    store_file(fixture->store, fixture_message_ns(1) - DAY_NS, NULL);
	assert_int_equal(store_add_message(key.file, &message.event,
			     &fixture_segment, &message.verdict, &key, NULL),
	    0);
	fixture_must_commit(fixture, 1235);
	fixture_close(fixture);
	fixture_path(fixture, DAY, old);
	fixture_path(fixture, "day-20261129.db", new);
	assert_int_equal(ask(old, objects), ask(new, objects));
	assert_int_equal(
	    ask(old, "PRAGMA user_version"), ask(new, "PRAGMA user_version"));
	assert_int_equal(ask(old, open_recipients), 2);
	assert_int_equal(ask(new, open_recipients), 2);
	fixture_path(fixture, "control.db", old);
	assert_int_equal(
	    ask(old, "PRAGMA user_version"), ask(new, "PRAGMA user_version"));
}

/* Otherwise one that is written in several ways is not found in all. */
static void
hashes_of_names_become_those_of_their_lower_case(void **state)
{
	static const char domain[] = "Example.ORG", local[] = "Alice";
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE], sql[300];

	fixture_path(fixture, DAY, path);
	snprintf(sql, sizeof(sql),
	    "INSERT INTO domain(hash, text) VALUES(%lld, '%s');"
	    "INSERT INTO address(hash, domain, local) VALUES(%lld, 1, '%s');",
	    (long long)hash_for_index(domain, strlen(domain)), domain,
	    (long long)hash_for_index(local, strlen(local)), local);
	execute(path, sql);
	fixture_open(fixture);
	fixture_close(fixture);
	assert_int_equal(
	    ask(path, "SELECT hash FROM domain WHERE text = 'Example.ORG'"),
	    hash_for_index("example.org", strlen("example.org")));
	assert_int_equal(
	    ask(path, "SELECT hash FROM address WHERE local = 'Alice'"),
	    hash_for_index("alice", strlen("alice")));
}

/* Until then nobody counted; now they count on. */
static void
outcomes_are_counted_from_the_rows(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];

	fixture_path(fixture, DAY, path);
	fixture_open(fixture);
	outcome_rows_check_file(path);
	assert_int_equal(
	    ask(path, "SELECT sum(count) FROM outcome_hour WHERE time = 1"), 8);
	fixture_add_both(fixture, 10);
	fixture_must_commit(fixture, 2000);
	outcome_rows_check_file(path);
}

static void
a_reader_asks_for_the_upgrade(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_record *records;

	fixture_fill_message(&message, 1);
	assert_int_equal(fixture_find(fixture, message.queue_id, &records), -1);
	assert_non_null(strstr(fixture->reason.text, "older version"));
	/* The same reader, once the exporter was started. */
	fixture->totals = totals_new(&fixture_names);
	fixture->store =
	    store_open(&fixture->settings, fixture->totals, &fixture->reason);
	assert_int_equal(fixture_find(fixture, message.queue_id, &records), 1);
}

static void
who_watches_is_told_what_comes_after_it(void **state)
{
	struct fixture *fixture = *state;
	struct store_reader *reader =
	    store_reader_open(fixture->directory, &fixture->reason);
	struct store_feed *feed = store_feed_open(reader, false);
	struct feed_page page;

	assert_int_equal(
	    store_feed_next(feed, fixture->arena, &page, &fixture->reason), 0);
	assert_true(page.incomplete && page.count == 0);
	fixture_open(fixture);
	fixture_add_both(fixture, 12);
	fixture_must_commit(fixture, 2000);
	assert_int_equal(
	    store_feed_next(feed, fixture->arena, &page, &fixture->reason), 0);
	assert_false(page.incomplete || page.has_gap);
	assert_int_equal(page.count, 2);
	store_feed_free(&feed);
	store_reader_free(&reader);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST_BEFORE_3(name)                                                    \
	cmocka_unit_test_setup_teardown(                                       \
	    name, setup_version1, fixture_teardown),                           \
	    cmocka_unit_test_setup_teardown(                                   \
		name, setup_version2, fixture_teardown)
#define TEST(name)                                                             \
	TEST_BEFORE_3(name), cmocka_unit_test_setup_teardown(                  \
				 name, setup_version3, fixture_teardown)
	    TEST(what_was_known_is_told_as_evidence),
	    TEST(an_upgraded_store_goes_on_where_it_was),
	    TEST(an_upgraded_file_has_every_table_and_index),
	    TEST_BEFORE_3(hashes_of_names_become_those_of_their_lower_case),
	    TEST(outcomes_are_counted_from_the_rows),
	    TEST(a_reader_asks_for_the_upgrade),
	    TEST(who_watches_is_told_what_comes_after_it),
	    TEST_BEFORE_3(latencies_without_a_route_are_of_mailboxes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

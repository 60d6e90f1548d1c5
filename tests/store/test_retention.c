/* SPDX-License-Identifier: BSD-2-Clause */
/* Days are purged; what was counted of them stays, and who reads goes on
 * reading (case 8, I8). */
#include "tests/store/retention_fixture.h"

#include "store/database.h"
#include "store/reader_file.h"

static void
what_was_counted_survives_a_purge(void **state)
{
	struct fixture *fixture = *state;
	struct store_figures figures;
	char *before;

	days_pass(fixture, 20);
	assert_false(days_purge(fixture));
	assert_int_equal(days_files(fixture), 20);
	before = days_describe(fixture);
	days_keep(fixture, 8);
	assert_true(days_purge(fixture));
	store_figures(fixture->store, &figures);
	assert_int_equal(figures.purged_days, 12);
	assert_int_equal(figures.files, 8);
	assert_int_equal(figures.oldest_day, FIRST_DAY + 12);
	assert_false(days_has_file(fixture, FIRST_DAY + 11));
	assert_true(days_has_file(fixture, FIRST_DAY + 12));
	assert_described(fixture, before);
	assert_false(days_purge(fixture));
	free(before);
}

static void
hours_in_the_archive_are_those_of_the_file(void **state)
{
	static const char of_file[] =
	    "SELECT name, time, count, sum_ns, hex(cells) FROM hour"
	    " JOIN series ON series.id = series ORDER BY 1, 2";
	static const char of_archive[] =
	    "SELECT name, time, count, sum_ns, hex(cells) FROM hour"
	    " JOIN series ON series.id = series WHERE day = 20787"
	    " ORDER BY 1, 2";
	struct fixture *fixture = *state;
	char *file, *archive;

	for (uint64_t number = 0; number < 200; number++)
		fixture_add_both(fixture, number);
	fixture_must_commit(fixture, 1);
	days_pass(fixture, 10);
	file = days_ask(fixture, "day-20261130.db", of_file);
	assert_true(strlen(file) > 100);
	days_keep(fixture, 7);
	assert_true(days_purge(fixture));
	archive = days_ask(fixture, "archive.db", of_archive);
	assert_string_equal(archive, file);
	free(file);
	free(archive);
}

static void
nothing_of_a_purged_day_is_left(void **state)
{
	static const char *const names[] = {
	    "day-20261130.db", "day-20261130.db-wal", "day-20261130.db-shm"};
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];

	days_pass(fixture, 12);
	days_keep(fixture, 7);
	for (int purged = 0; purged < 2; purged++) {
		for (size_t i = 0; i < 3; i++) {
			fixture_path(fixture, names[i], path);
			assert_int_equal(access(path, F_OK), -purged);
		}
		assert_int_equal(days_purge(fixture), !purged);
	}
}

/* What would be written there from now on would be lost. */
static void
nothing_is_found_in_a_day_that_is_being_purged(void **state)
{
	struct fixture *fixture = *state;
	const struct uuid id = fixture_id(fixture_message_ns(1), 1);
	struct open_message message;
	char path[FIXTURE_PATH_SIZE];
	sqlite3 *archive;
	bool is_done;

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	days_pass(fixture, 12);
	days_keep(fixture, 7);
	assert_int_equal(store_find_message(fixture->store, &id, fixture->arena,
			     &message, &fixture->reason),
	    1);
	fixture_path(fixture, "archive.db", path);
	assert_int_equal(sqlite3_open(path, &archive), SQLITE_OK);
	assert_int_equal(
	    sqlite3_exec(archive, "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE",
		NULL, NULL, NULL),
	    SQLITE_OK);
	assert_true(store_has_purge(fixture->store));
	store_purge(fixture->store);
	assert_int_equal(store_find_message(fixture->store, &id, fixture->arena,
			     &message, &fixture->reason),
	    0);
	assert_true(store_is_purging(fixture->store, &is_done));
	assert_true(days_has_file(fixture, FIRST_DAY));
	sqlite3_close(archive);
	while (store_is_purging(fixture->store, &is_done) || !is_done)
		poll(NULL, 0, 1);
	assert_false(days_has_file(fixture, FIRST_DAY));
}

/* The days that may be written are not purged, whatever is asked for. */
static void
a_day_that_may_be_written_is_never_purged(void **state)
{
	struct fixture *fixture = *state;

	fixture->settings.retention_ns = 1;
	fixture->settings.retention_bytes = 1;
	fixture_reopen(fixture);
	for (int days = 0; days < 12; days++) {
		days_pass(fixture, 1);
		while (days_purge(fixture))
			;
		/* Six and today, which has no file yet. */
		assert_true(days_files(fixture) <= 6);
		for (int64_t ago = 1; ago <= 6 && ago <= days; ago++)
			assert_true(
			    days_has_file(fixture, FIRST_DAY + days + 1 - ago));
	}
	assert_int_equal(fixture_counted(fixture, COUNTER_MESSAGES), 36);
}

static void
add_messages(struct fixture *fixture, int64_t wall_ns, int count)
{
	static uint64_t number;
	struct fixture_message message;
	struct message_key key;

	for (int i = 0; i < count; i++) {
		struct day_file *file =
		    store_file(fixture->store, wall_ns, &fixture->reason);

		fixture_fill_message(&message, ++number);
		wall_ns += 1000000;
		message.event.id = fixture_id(wall_ns, number);
		message.event.mail_at = fixture_stamp(wall_ns);
		for (size_t j = 0; j < message.event.recipient_count; j++)
			message.verdicts[j].state = RECIPIENT_DELIVERED;
		if (store_add_message(file, &message.event, &fixture_segment,
			&message.verdict, &key, &fixture->reason) != 0)
			fail_msg("%s", fixture->reason.text);
		day_file_count(file, COUNTER_MESSAGES, 1);
	}
}

/* Days of different size: the oldest go until the rest fits. */
static void
the_oldest_days_go_when_all_are_too_large(void **state)
{
	static const int messages[] = {300, 2000, 10, 1500, 700, 10};
	struct fixture *fixture = *state;
	struct store_figures figures;
	uint64_t bytes[6] = {0};
	char *before;

	for (int i = 0; i < 6; i++) {
		add_messages(fixture, fixture_now_ns, messages[i]);
		days_pass(fixture, 1);
	}
	days_pass(fixture, 7);
	fixture_reopen(fixture);
	before = days_describe(fixture);
	for (int i = 0; i < 6; i++) {
		char *path = layout_day_path(fixture->directory, FIRST_DAY + i);

		bytes[i] = layout_bytes(path);
		free(path);
	}
	store_figures(fixture->store, &figures);
	/* The second must go, the third need not. */
	fixture->settings.retention_bytes =
	    (int64_t)(figures.bytes - bytes[0] - bytes[1] / 2);
	fixture_reopen(fixture);
	assert_true(days_purge(fixture));
	assert_false(days_has_file(fixture, FIRST_DAY + 1));
	assert_true(days_has_file(fixture, FIRST_DAY + 2));
	store_figures(fixture->store, &figures);
	assert_true(
	    (int64_t)figures.bytes <= fixture->settings.retention_bytes);
	assert_false(days_purge(fixture));
	assert_described(fixture, before);
	free(before);
}

/* Not by age; but when there is no room, nobody is waited for. */
static void
a_day_with_open_recipients_is_sealed_first(void **state)
{
	struct recipient_change change = {.state = RECIPIENT_UNKNOWN};
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_key key;

	assert_int_equal(fixture_add_message(fixture, 0, &message, &key), 0);
	fixture_must_commit(fixture, 1);
	days_pass(fixture, 20);
	days_keep(fixture, 8);
	assert_true(days_purge(fixture));
	assert_true(days_has_file(fixture, FIRST_DAY));
	assert_false(days_has_file(fixture, FIRST_DAY + 1));
	assert_false(store_is_pressed(fixture->store));
	fixture->settings.retention_bytes = 1;
	fixture_reopen(fixture);
	days_purge(fixture);
	assert_true(days_has_file(fixture, FIRST_DAY));
	assert_false(store_has_purge(fixture->store));
	assert_true(store_is_pressed(fixture->store));
	for (change.number = 0; change.number < message.event.recipient_count;
	     change.number++) {
		struct open_message found;

		arena_reset(fixture->arena);
		store_find_message(fixture->store, &message.event.id,
		    fixture->arena, &found, &fixture->reason);
		assert_int_equal(store_change_recipient(
				     &found.key, &change, &fixture->reason),
		    0);
	}
	fixture_must_commit(fixture, 100);
	store_disk_wait(fixture->store);
	store_seal(fixture->store);
	assert_true(days_purge(fixture));
	assert_false(days_has_file(fixture, FIRST_DAY));
}

static int
rows_until(struct statement *rows, int most)
{
	int count = 0;

	while (count < most && statement_step(rows) == 1)
		count++;
	return count;
}

static int
deleted_files_open(void)
{
	char link[64], target[PATH_MAX];
	int count = 0;

	for (int fd = 0; fd < 1024; fd++) {
		ssize_t size;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		size = readlink(link, target, sizeof(target) - 1);
		if (size <= 0)
			continue;
		target[size] = '\0';
		count += strstr(target, "day-") != NULL &&
			 strstr(target, "(deleted)") != NULL;
	}
	return count;
}

static void
who_reads_finishes_and_then_sees_it_gone(void **state)
{
	struct fixture *fixture = *state;
	struct reader_pool *pool = reader_pool_new(fixture->directory);
	struct day_tables *tables;
	struct statement *rows;
	char log[FIXTURE_PATH_SIZE];

	fixture_path(fixture, "day-20261130.db-shm", log);
	add_messages(fixture, fixture_now_ns, 3000);
	days_pass(fixture, 12);
	days_keep(fixture, 7);
	assert_int_equal(
	    reader_file(pool, FIRST_DAY, &tables, &fixture->reason), 1);
	rows = database_statement(tables->database, SQL_MESSAGE_SCAN);
	bind_integer(rows, 0);
	assert_int_equal(rows_until(rows, 100), 100);
	assert_int_equal(access(log, F_OK), 0);
	assert_true(days_purge(fixture));
	assert_false(days_has_file(fixture, FIRST_DAY));
	assert_int_equal(access(log, F_OK), -1);
	assert_int_equal(rows_until(rows, 5000), 2900);
	statement_end(rows);
	reader_file_done(tables);
	assert_int_equal(
	    reader_file(pool, FIRST_DAY, &tables, &fixture->reason), 0);
	reader_pool_free(&pool);
	assert_int_equal(deleted_files_open(), 0);
}

/* As long as somebody has them open, files take room. */
static void
a_reader_that_waits_lets_go_of_what_is_gone(void **state)
{
	struct fixture *fixture = *state;
	struct message_record *records;

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	days_pass(fixture, 12);
	days_keep(fixture, 7);
	assert_int_equal(fixture_find(fixture, "nothing", &records), 0);
	assert_true(days_purge(fixture));
	assert_true(deleted_files_open() > 0);
	store_reader_close_gone(fixture->reader);
	assert_int_equal(deleted_files_open(), 0);
	assert_int_equal(fixture_find(fixture, "nothing", &records), 0);
}

static void
what_was_purged_does_not_come_back_with_the_clock(void **state)
{
	struct fixture *fixture = *state;
	struct day_file *file;

	days_pass(fixture, 20);
	days_keep(fixture, 7);
	assert_true(days_purge(fixture));
	for (int restart = 0; restart < 2; restart++) {
		fixture_now_ns = NOW_NS + 10 * DAY_NS;
		file = store_file(
		    fixture->store, fixture_now_ns, &fixture->reason);
		assert_true(day_file_is_odd(file));
		day_file_count(file, COUNTER_MESSAGES, 1);
		fixture_must_commit(fixture, 1000 + (uint64_t)restart);
		fixture_reopen(fixture);
		assert_int_equal(
		    fixture_counted(fixture, COUNTER_MESSAGES), 61 + restart);
	}
}

static void
a_purge_that_fails_is_tried_again(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];
	char *before;

	days_pass(fixture, 20);
	before = days_describe(fixture);
	days_keep(fixture, 7);
	fixture_path(fixture, "archive.db", path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(days_purge(fixture));
	assert_int_equal(days_files(fixture), 20);
	assert_false(days_purge(fixture));
	assert_int_equal(rmdir(path), 0);
	fixture_now_ns += 61 * SECOND_NS;
	assert_true(days_purge(fixture));
	assert_int_equal(days_files(fixture), 7);
	assert_described(fixture, before);
	free(before);
}

/* The rest is purged all the same. */
static void
a_damaged_day_is_set_aside(void **state)
{
	struct fixture *fixture = *state;
	struct store_figures figures;
	char path[FIXTURE_PATH_SIZE];
	struct stat status;
	int fd;

	for (int i = 0; i < 5; i++)
		add_messages(fixture, fixture_now_ns, 200);
	days_pass(fixture, 12);
	days_keep(fixture, 0);
	fixture_path(fixture, "day-20261130.db", path);
	fd = open(path, O_RDWR);
	assert_int_equal(fstat(fd, &status), 0);
	/* The first page is looked at when a file is opened. */
	for (off_t at = 4096; at < status.st_size; at += 4096)
		assert_int_equal(pwrite(fd, "damaged!", 8, at), 8);
	close(fd);
	fixture->settings.retention_ns = 7 * DAY_NS;
	store_rollback(fixture->store);
	store_close(&fixture->store);
	totals_free(&fixture->totals);
	fixture_open(fixture);
	days_purge(fixture);
	store_figures(fixture->store, &figures);
	assert_int_equal(figures.files, 7);
	assert_false(days_has_file(fixture, FIRST_DAY));
	strcat(path, ".damaged-1");
	assert_int_equal(access(path, F_OK), 0);
}

static void
options_must_go_together(void **state)
{
	struct store_settings settings = {.queue_lifetime_ns = 5 * DAY_NS};
	struct reason reason;

	assert_int_equal(store_settings_check(&settings, &reason), 0);
	settings.retention_ns = 6 * DAY_NS - 1;
	assert_int_equal(store_settings_check(&settings, &reason), -1);
	settings.retention_ns = 6 * DAY_NS;
	assert_int_equal(store_settings_check(&settings, &reason), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(what_was_counted_survives_a_purge),
	    FIXTURE_TEST(hours_in_the_archive_are_those_of_the_file),
	    FIXTURE_TEST(nothing_of_a_purged_day_is_left),
	    FIXTURE_TEST(nothing_is_found_in_a_day_that_is_being_purged),
	    FIXTURE_TEST(a_day_that_may_be_written_is_never_purged),
	    FIXTURE_TEST(the_oldest_days_go_when_all_are_too_large),
	    FIXTURE_TEST(a_day_with_open_recipients_is_sealed_first),
	    FIXTURE_TEST(who_reads_finishes_and_then_sees_it_gone),
	    FIXTURE_TEST(a_reader_that_waits_lets_go_of_what_is_gone),
	    FIXTURE_TEST(what_was_purged_does_not_come_back_with_the_clock),
	    FIXTURE_TEST(a_purge_that_fails_is_tried_again),
	    FIXTURE_TEST(a_damaged_day_is_set_aside),
	    cmocka_unit_test(options_must_go_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that are read by another user, removed, replaced, damaged, of a newer
 * version, or do not fit on the disk (I2, I3, I10).
 */
#include "tests/store/store_fixture.h"

#include <grp.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "base/buffer.h"
#include "store/schema.h"

#define READER_UID 64321
#define READER_GID 64322

static void
require_root(void)
{
	if (geteuid() != 0)
		skip();
}

/* Lets only members of a group of its own read, as the packages do. */
static void
give_to_group(struct fixture *fixture)
{
	assert_int_equal(chown(fixture->directory, (uid_t)-1, READER_GID), 0);
	assert_int_equal(chmod(fixture->directory, 02750), 0);
}

/* How many messages a reader of another user finds; a negative number when it
 * could not look. */
static long
find_as(struct fixture *fixture, gid_t group, const char *key)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		struct message_record *records;
		long count;

		if (setgroups(0, NULL) != 0 || setgid(group) != 0 ||
		    setuid(READER_UID) != 0)
			_exit(100);
		fixture->reader =
		    store_reader_open(fixture->directory, &fixture->reason);
		if (fixture->reader == NULL)
			_exit(101);
		count = store_find(fixture->reader, key, 100, fixture->arena,
		    &records, &fixture->reason);
		if (count < 0)
			fprintf(stderr, "# %s\n", fixture->reason.text);
		_exit(count < 0 ? 102 : (int)count);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) >= 100 ? -WEXITSTATUS(status)
					  : WEXITSTATUS(status);
}

static const char *
queue_id_of(uint64_t number)
{
	static struct fixture_message message;

	fixture_fill_message(&message, number);
	return message.queue_id;
}

static void
a_member_of_the_group_reads_while_the_writer_is_up(void **state)
{
	struct fixture *fixture = *state;

	require_root();
	give_to_group(fixture);
	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	assert_int_equal(find_as(fixture, READER_GID, queue_id_of(1)), 1);
	fixture_add_both(fixture, 2);
	assert_int_equal(find_as(fixture, READER_GID, queue_id_of(2)), 0);
	fixture_must_commit(fixture, 2);
	assert_int_equal(find_as(fixture, READER_GID, queue_id_of(2)), 1);
}

static void
a_member_of_the_group_reads_after_the_writer_was_closed(void **state)
{
	struct fixture *fixture = *state;

	require_root();
	give_to_group(fixture);
	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	fixture_close(fixture);
	assert_int_equal(find_as(fixture, READER_GID, queue_id_of(1)), 1);
	fixture_open(fixture);
	fixture_add_both(fixture, 2);
	fixture_must_commit(fixture, 2);
	assert_int_equal(find_as(fixture, READER_GID, queue_id_of(1)), 1);
	assert_int_equal(find_as(fixture, READER_GID, queue_id_of(2)), 1);
	fixture_close(fixture);
	assert_int_equal(find_as(fixture, READER_GID, queue_id_of(2)), 1);
}

static void
a_member_of_the_group_reads_after_the_writer_was_killed(void **state)
{
	struct fixture *fixture = *state;
	pid_t child;
	int status;

	require_root();
	give_to_group(fixture);
	fixture_close(fixture);
	child = fork();
	if (child == 0) {
		fixture_open(fixture);
		fixture_add_both(fixture, 1);
		fixture_must_commit(fixture, 1);
		fixture_add_both(fixture, 2);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(find_as(fixture, READER_GID, queue_id_of(1)), 1);
	assert_int_equal(find_as(fixture, READER_GID, queue_id_of(2)), 0);
	fixture_open(fixture);
	fixture_add_both(fixture, 2);
	fixture_must_commit(fixture, 2);
	assert_int_equal(find_as(fixture, READER_GID, queue_id_of(2)), 1);
}

/* A reader that looked at the files a dead writer left must see what the next
 * one writes. */
static void
a_reader_that_outlives_writers_sees_the_next_ones_work(void **state)
{
	struct fixture *fixture = *state;
	struct message_record *records;

	for (uint64_t number = 1; number < 4; number++) {
		fixture_add_both(fixture, number);
		fixture_must_commit(fixture, number);
		assert_int_equal(
		    fixture_find(fixture, queue_id_of(number), &records), 1);
		store_close(&fixture->store);
		totals_free(&fixture->totals);
		assert_int_equal(
		    fixture_find(fixture, queue_id_of(number), &records), 1);
		fixture_open(fixture);
	}
}

static void
others_read_nothing(void **state)
{
	struct fixture *fixture = *state;

	require_root();
	give_to_group(fixture);
	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	assert_true(find_as(fixture, READER_GID + 1, queue_id_of(1)) < 0);
}

static void
only_one_process_writes(void **state)
{
	struct fixture *fixture = *state;
	struct totals *totals = totals_new(&fixture_names);

	assert_null(store_open(&fixture->settings, totals, &fixture->reason));
	assert_non_null(strstr(fixture->reason.text, "another process"));
	totals_free(&totals);
}

static uint64_t
figure_replaced(struct fixture *fixture)
{
	struct store_figures figures;

	store_figures(fixture->store, &figures);
	return figures.replaced_files;
}

static uint64_t
figure_damaged(struct fixture *fixture)
{
	struct store_figures figures;

	store_figures(fixture->store, &figures);
	return figures.damaged_files;
}

static void
a_removed_file_is_noticed_before_it_swallows_a_batch(void **state)
{
	struct fixture *fixture = *state;
	struct message_record *records;
	char path[FIXTURE_PATH_SIZE];

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	assert_int_equal(fixture_find(fixture, queue_id_of(1), &records), 1);
	fixture_path(fixture, "day-20261130.db", path);
	assert_int_equal(unlink(path), 0);
	assert_null(store_file(
	    fixture->store, fixture_message_ns(2), &fixture->reason));
	assert_non_null(strstr(fixture->reason.text, "removed"));
	store_rollback(fixture->store);
	fixture_add_both(fixture, 2);
	fixture_must_commit(fixture, 2);
	assert_int_equal(figure_replaced(fixture), 1);
	assert_int_equal(fixture_find(fixture, queue_id_of(1), &records), 0);
	assert_int_equal(fixture_find(fixture, queue_id_of(2), &records), 1);
	/* What was shown stays shown. */
	assert_int_equal(fixture_counted(fixture, COUNTER_MESSAGES), 2);
}

static void
flip_bytes(const char *path, off_t offset, size_t size)
{
	unsigned char bytes[8192];
	int fd = open(path, O_RDWR);

	assert_true(fd >= 0 && size <= sizeof(bytes));
	assert_int_equal(pread(fd, bytes, size, offset), size);
	for (size_t i = 0; i < size; i++)
		bytes[i] ^= 0x5a;
	assert_int_equal(pwrite(fd, bytes, size, offset), size);
	close(fd);
}

static void
what_is_no_database_is_set_aside_at_start(void **state)
{
	struct fixture *fixture = *state;
	struct message_record *records;
	char path[FIXTURE_PATH_SIZE];

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	fixture_close(fixture);
	fixture_path(fixture, "day-20261130.db", path);
	flip_bytes(path, 0, 100);
	fixture_open(fixture);
	assert_int_equal(figure_damaged(fixture), 1);
	fixture_path(fixture, "day-20261130.db.damaged-1", path);
	assert_int_equal(access(path, F_OK), 0);
	fixture_add_both(fixture, 2);
	fixture_must_commit(fixture, 2);
	assert_int_equal(fixture_find(fixture, queue_id_of(2), &records), 1);
}

static void
a_file_found_damaged_by_a_write_is_set_aside(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_record *records;
	struct message_key key;
	struct stat status;
	char path[FIXTURE_PATH_SIZE];

	for (uint64_t number = 1; number < 200; number++)
		fixture_add_both(fixture, number);
	fixture_must_commit(fixture, 1);
	fixture_close(fixture);
	fixture_path(fixture, "day-20261130.db", path);
	assert_int_equal(stat(path, &status), 0);
	/* All but the first page, which holds the schema. */
	for (off_t at = 4096; at < status.st_size; at += 4096)
		flip_bytes(path, at, 4096);
	fixture_open(fixture);
	if (figure_damaged(fixture) == 0)
		assert_int_not_equal(
		    fixture_add_message(fixture, 200, &message, &key), 0);
	store_rollback(fixture->store);
	assert_int_equal(figure_damaged(fixture), 1);
	fixture_add_both(fixture, 200);
	fixture_must_commit(fixture, 2);
	assert_int_equal(fixture_find(fixture, queue_id_of(200), &records), 1);
	fixture_path(fixture, "day-20261130.db.damaged-1", path);
	assert_int_equal(access(path, F_OK), 0);
}

static void
a_foreign_database_is_not_written_into(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];
	sqlite3 *database;

	fixture_close(fixture);
	fixture_path(fixture, "day-20261130.db", path);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(
	    sqlite3_exec(database, "CREATE TABLE theirs(a)", NULL, NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(database);
	fixture_open(fixture);
	assert_int_equal(figure_damaged(fixture), 1);
}

static void
a_file_of_a_newer_version_refuses_start_and_reading(void **state)
{
	struct fixture *fixture = *state;
	struct message_record *records;
	char path[FIXTURE_PATH_SIZE];
	sqlite3 *database;

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	fixture_close(fixture);
	fixture_path(fixture, "day-20261130.db", path);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(sqlite3_exec(database, "PRAGMA user_version = 99",
			     NULL, NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(database);
	fixture->totals = totals_new(&fixture_names);
	fixture->store =
	    store_open(&fixture->settings, fixture->totals, &fixture->reason);
	assert_null(fixture->store);
	assert_non_null(strstr(fixture->reason.text, "newer version"));
	assert_int_equal(fixture_find(fixture, queue_id_of(1), &records), -1);
	assert_non_null(strstr(fixture->reason.text, "newer version"));
}

static void
a_lost_control_db_only_costs_reading_again(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];
	struct day_file *file;

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 5);
	fixture_close(fixture);
	fixture_path(fixture, "control.db", path);
	flip_bytes(path, 0, 100);
	fixture_open(fixture);
	assert_int_equal(store_lower_bound(fixture->store, SOURCE).offset, 0);
	file = store_file(fixture->store, fixture_message_ns(1), NULL);
	assert_true(
	    day_file_has(file, SOURCE, (struct journal_position){1, 5}));
	assert_false(
	    day_file_has(file, SOURCE, (struct journal_position){1, 6}));
	assert_true(store_is_replay(
	    fixture->store, SOURCE, (struct journal_position){1, 5}));
	assert_false(store_is_replay(
	    fixture->store, SOURCE, (struct journal_position){1, 6}));
}

static void
expect_note(struct fixture *fixture, const char *name, const char *wanted)
{
	struct buffer value = {.data = NULL};
	bool found = store_note_read(fixture->store, name, &value);

	assert_int_equal(found, wanted != NULL);
	if (wanted != NULL) {
		assert_int_equal(value.size, strlen(wanted));
		assert_memory_equal(value.data, wanted, value.size);
	}
	buffer_free(&value);
}

static void
write_note(struct fixture *fixture, const char *name, const char *text)
{
	struct buffer value = {.data = NULL};

	if (*text != '\0')
		buffer_append_string(&value, text);
	assert_int_equal(
	    store_note_write(fixture->store, name, &value, &fixture->reason),
	    0);
	buffer_free(&value);
}

static void
a_note_stays_whatever_becomes_of_the_batch(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];

	expect_note(fixture, "a", NULL);
	fixture_add_both(fixture, 1);
	write_note(fixture, "a", "one");
	write_note(fixture, "b", "");
	write_note(fixture, "a", "two");
	store_rollback(fixture->store);
	expect_note(fixture, "a", "two");
	fixture_close(fixture);
	fixture_open(fixture);
	expect_note(fixture, "a", "two");
	expect_note(fixture, "b", "");
	fixture_close(fixture);
	fixture_path(fixture, "control.db", path);
	flip_bytes(path, 0, 100);
	fixture_open(fixture);
	expect_note(fixture, "a", NULL);
}

/* Fills the file system to the last byte; returns the filler's descriptor. */
static int
fill_disk(struct fixture *fixture)
{
	static char zeros[65536];
	char path[FIXTURE_PATH_SIZE];
	size_t size = sizeof(zeros);
	int fd;

	snprintf(path, sizeof(path), "%s/filler", fixture->directory);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	while (size > 0) {
		if (write(fd, zeros, size) <= 0)
			size /= 2;
	}
	return fd;
}

/* Writes batches until one fails; returns the last number that is in. */
static uint64_t
write_until_full(struct fixture *fixture)
{
	struct fixture_message message;
	struct message_key key;
	uint64_t number = 1;

	for (;; number++) {
		if (fixture_add_message(fixture, number, &message, &key) != 0 ||
		    fixture_add_delivery(fixture, number, &message, &key) !=
			0 ||
		    fixture_commit(fixture, number) != 0)
			return number - 1;
	}
}

static void
a_full_disk_loses_and_doubles_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct message_record *records;
	uint64_t last;
	int fd;

	require_root();
	fixture_close(fixture);
	if (mount("none", fixture->directory, "tmpfs", 0, "size=4m") != 0)
		skip();
	fixture_open(fixture);
	fixture_add_both(fixture, 0);
	fixture_must_commit(fixture, 0);
	fd = fill_disk(fixture);
	last = write_until_full(fixture);
	store_rollback(fixture->store);
	assert_int_equal(write_until_full(fixture), 0);
	store_rollback(fixture->store);
	assert_int_equal(ftruncate(fd, 0), 0);
	close(fd);
	for (uint64_t number = last + 1; number < last + 20; number++) {
		fixture_add_both(fixture, number);
		fixture_must_commit(fixture, number);
	}
	for (uint64_t number = 0; number < last + 20; number++)
		assert_int_equal(
		    fixture_find(fixture, queue_id_of(number), &records), 1);
	assert_int_equal(fixture_counted(fixture, COUNTER_MESSAGES), last + 20);
	fixture_reopen(fixture);
	assert_int_equal(fixture_counted(fixture, COUNTER_MESSAGES), last + 20);
}

/* Also when the test failed. */
static int
teardown_mounted(void **state)
{
	struct fixture *fixture = *state;

	fixture_close(fixture);
	umount2(fixture->directory, MNT_DETACH);
	return fixture_teardown(state);
}

/* However many addresses of a domain there are. */
static void
an_address_is_found_by_its_hash(void **state)
{
	static const int statements[] = {
	    SQL_ADDRESS_FIND, SQL_ADDRESS_FIND_FOLDED};
	struct fixture *fixture = *state;
	char path[PATH_MAX + 300], sql[1024];
	sqlite3 *database;

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	fixture_path(fixture, "day-20261130.db", path);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	for (size_t i = 0; i < COUNT(statements); i++) {
		sqlite3_stmt *statement;

		snprintf(sql, sizeof(sql), "EXPLAIN QUERY PLAN %s",
		    day_sql[statements[i]]);
		assert_int_equal(sqlite3_prepare_v2(
				     database, sql, -1, &statement, NULL),
		    SQLITE_OK);
		assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
		assert_non_null(strstr(
		    (const char *)sqlite3_column_text(statement, 3),
		    "address_domain_hash (domain=? AND hash=?)"));
		assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
		sqlite3_finalize(statement);
	}
	sqlite3_close(database);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	    TEST(a_member_of_the_group_reads_while_the_writer_is_up),
	    TEST(a_member_of_the_group_reads_after_the_writer_was_closed),
	    TEST(a_member_of_the_group_reads_after_the_writer_was_killed),
	    TEST(a_reader_that_outlives_writers_sees_the_next_ones_work),
	    TEST(others_read_nothing),
	    TEST(an_address_is_found_by_its_hash),
	    TEST(only_one_process_writes),
	    TEST(a_removed_file_is_noticed_before_it_swallows_a_batch),
	    TEST(what_is_no_database_is_set_aside_at_start),
	    TEST(a_file_found_damaged_by_a_write_is_set_aside),
	    TEST(a_foreign_database_is_not_written_into),
	    TEST(a_file_of_a_newer_version_refuses_start_and_reading),
	    TEST(a_lost_control_db_only_costs_reading_again),
	    TEST(a_note_stays_whatever_becomes_of_the_batch),
	    cmocka_unit_test_setup_teardown(
		a_full_disk_loses_and_doubles_nothing, fixture_setup,
		teardown_mounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes are on the disk when they are said to be, whoever reads beside us, and
 * whatever others do to the file. */
#include "store/control.h"

#include <sqlite3.h>
#include <sys/syscall.h>

#include "base/buffer.h"
#include "tests/lib/fd_path.h"
#include "tests/lib/store_disk.h"
#include "tests/store/store_fixture.h"

/* What was written to control.db's log since it was synced last. */
static bool log_is_synced = true;

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset);
int fdatasync(int fd);
int fsync(int fd);

static bool
is_log(int fd)
{
	char path[FD_PATH_SIZE];

	return strstr(fd_path(fd, path), "control.db-wal") != NULL;
}

ssize_t
pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	if (is_log(fd))
		log_is_synced = false;
	return syscall(SYS_pwrite64, fd, data, size, offset);
}

int
fdatasync(int fd)
{
	if (is_log(fd))
		log_is_synced = true;
	return 0;
}

int
fsync(int fd)
{
	return fdatasync(fd);
}

/* As an administrator with sqlite3(1) may leave it. */
static sqlite3 *
begin_reading(const char *path)
{
	sqlite3 *reader;

	assert_int_equal(sqlite3_open(path, &reader), SQLITE_OK);
	assert_int_equal(
	    sqlite3_exec(
		reader, "BEGIN; SELECT count(*) FROM note", NULL, NULL, NULL),
	    SQLITE_OK);
	return reader;
}

static void
a_note_is_synced_beside_a_reader(void **state)
{
	struct fixture *fixture = *state;
	struct buffer note = {.data = NULL};
	char path[FIXTURE_PATH_SIZE];
	sqlite3 *reader;

	fixture_path(fixture, "control.db", path);
	buffer_append_string(&note, "text");
	assert_int_equal(
	    store_note_write(fixture->store, "one", &note, NULL), 0);
	assert_true(log_is_synced);
	reader = begin_reading(path);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
		    store_note_write(fixture->store, "two", &note, NULL), 0);
		assert_true(log_is_synced);
	}
	sqlite3_close(reader);
	buffer_free(&note);
}

static void
remove_file(const char *path)
{
	assert_int_equal(unlink(path), 0);
}

static void
cut_file(const char *path)
{
	assert_int_equal(truncate(path, 0), 0);
}

static void
expect_in_file(struct fixture *fixture, const char *path)
{
	struct buffer note = {.data = NULL};
	struct store *store = fixture->store;
	sqlite3 *file;
	sqlite3_stmt *rows;

	assert_true(store_note_read(store, "kept", &note));
	buffer_free(&note);
	assert_int_equal(sqlite3_open(path, &file), SQLITE_OK);
	assert_int_equal(
	    sqlite3_prepare_v2(file,
		"SELECT value, offset FROM note, lower_bound WHERE name = "
		"'kept'",
		-1, &rows, NULL),
	    SQLITE_OK);
	assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
	assert_memory_equal(sqlite3_column_blob(rows, 0), "text", 4);
	assert_int_equal(sqlite3_column_int64(rows, 1), 2);
	sqlite3_finalize(rows);
	sqlite3_close(file);
}

static void
notes_and_bounds_outlive_the_file(void **state)
{
	static void (*const hands[])(const char *) = {remove_file, cut_file};
	struct fixture *fixture = *state;
	struct buffer note = {.data = NULL};
	struct store_figures figures;
	char path[FIXTURE_PATH_SIZE];

	fixture_path(fixture, "control.db", path);
	buffer_append_string(&note, "text");
	for (size_t i = 0; i < sizeof(hands) / sizeof(hands[0]); i++) {
		fixture_add_both(fixture, 2 * i);
		fixture_must_commit(fixture, 1);
		assert_int_equal(
		    store_note_write(fixture->store, "kept", &note, NULL), 0);
		fixture_reopen(fixture);
		hands[i](path);
		fixture_add_both(fixture, 2 * i + 1);
		fixture_must_commit(fixture, 2);
		store_disk_wait(fixture->store);
		expect_in_file(fixture, path);
		store_figures(fixture->store, &figures);
		assert_int_equal(figures.replaced_files, 1);
	}
	buffer_free(&note);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_note_is_synced_beside_a_reader,
		fixture_setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(notes_and_bounds_outlive_the_file,
		fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

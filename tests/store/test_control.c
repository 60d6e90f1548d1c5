/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes are on the disk when they are said to be, whoever reads beside us. */
#include "store/control.h"

#include <sqlite3.h>
#include <sys/syscall.h>

#include "base/buffer.h"
#include "tests/store/store_fixture.h"

/* What was written to control.db's log since it was synced last. */
static bool log_is_synced = true;

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset);
int fdatasync(int fd);
int fsync(int fd);

static bool
is_log(int fd)
{
	char link[64], path[FIXTURE_PATH_SIZE] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, path, sizeof(path) - 1) > 0 &&
	       strstr(path, "control.db-wal") != NULL;
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_note_is_synced_beside_a_reader,
		fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

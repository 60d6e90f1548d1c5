/* SPDX-License-Identifier: BSD-2-Clause */
/* A disk that does not take what was committed raises no bounds; what the
 * kernel forgot then is written again. */
#include "store/log_sync.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "tests/lib/fd_path.h"
#include "tests/lib/store_disk.h"
#include "tests/store/store_fixture.h"

#define LOOKS 20

/* How many syncs of a day's log fail, by other threads than this one. */
static atomic_int failures_left;
static pthread_t ingest;

int fdatasync(int fd);

static bool
is_days_log(int fd)
{
	char path[FD_PATH_SIZE];

	fd_path(fd, path);
	return strstr(path, "/day-") != NULL && strstr(path, "-wal") != NULL;
}

int
fdatasync(int fd)
{
	if (!pthread_equal(pthread_self(), ingest) &&
	    atomic_load(&failures_left) > 0 && is_days_log(fd)) {
		atomic_fetch_sub(&failures_left, 1);
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fdatasync, fd);
}

/* Waits until it was tried. Returns whether the disk has it. */
static bool
try_once(struct store *store)
{
	static int64_t now_ns;
	struct store_figures before, now;

	store_figures(store, &before);
	for (;;) {
		now_ns += SECOND_NS;
		if (store_follow_sync(store, now_ns) == STORE_SYNC_ENDED) {
			store_raise_synced(store);
			return true;
		}
		store_figures(store, &now);
		if (now.failures != before.failures)
			return false;
		poll(NULL, 0, 1);
	}
}

static uint64_t
synced(struct fixture *fixture)
{
	return store_synced_bound(fixture->store, SOURCE).offset;
}

static int64_t
messages_without_log(struct fixture *fixture)
{
	char path[FIXTURE_PATH_SIZE], name[FIXTURE_PATH_SIZE + 32];
	sqlite3 *file;
	sqlite3_stmt *count;
	int64_t messages;

	fixture_path(fixture, "day-20261130.db", path);
	snprintf(name, sizeof(name), "file:%s?immutable=1", path);
	assert_int_equal(sqlite3_open_v2(name, &file,
			     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL),
	    SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(file,
			     "SELECT count(*) FROM message", -1, &count, NULL),
	    SQLITE_OK);
	assert_int_equal(sqlite3_step(count), SQLITE_ROW);
	messages = sqlite3_column_int64(count, 0);
	sqlite3_finalize(count);
	sqlite3_close(file);
	return messages;
}

static void
begin(struct fixture *fixture)
{
	ingest = pthread_self();
	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	store_disk_wait(fixture->store);
	assert_int_equal(synced(fixture), 1);
	fixture_add_both(fixture, 2);
	fixture_must_commit(fixture, 2);
}

static void
bounds_wait_for_a_disk_that_fails(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture);
	atomic_store(&failures_left, INT_MAX);
	for (int i = 0; i < LOOKS; i++) {
		assert_false(try_once(fixture->store));
		assert_int_equal(synced(fixture), 1);
		assert_int_equal(
		    store_lower_bound(fixture->store, SOURCE).offset, 2);
	}
	atomic_store(&failures_left, 0);
	/* It may be at one that fails. */
	if (!try_once(fixture->store))
		assert_true(try_once(fixture->store));
	assert_int_equal(synced(fixture), 2);
}

/* To sync again would say that all is well. */
static void
what_could_not_be_synced_is_copied(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture);
	atomic_store(&failures_left, 1);
	assert_true(try_once(fixture->store));
	assert_int_equal(atomic_load(&failures_left), 0);
	assert_int_equal(synced(fixture), 2);
	assert_int_equal(messages_without_log(fixture), 2);
}

static void
a_removed_log_holds_up_nothing(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];

	begin(fixture);
	fixture_path(fixture, "day-20261130.db-wal", path);
	assert_int_equal(unlink(path), 0);
	assert_true(try_once(fixture->store));
	assert_int_equal(synced(fixture), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	    TEST(bounds_wait_for_a_disk_that_fails),
	    TEST(what_could_not_be_synced_is_copied),
	    TEST(a_removed_log_holds_up_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* No commit waits for the disk: not until a log is copied, nor for the head of
 * one, which the disk must have first. Large logs are begun anew between two
 * commits, and so is one that is empty, or copied to its end by others. */
#include "tests/store/small_disk.h"
#include "tests/store/store_fixture.h"

#include <pthread.h>
#include <sys/syscall.h>

#include "store/database.h"
#include "tests/lib/fd_path.h"
#include "tests/lib/store_disk.h"

#define COMMITS_MAX 20000
#define BEGUN 5
#define ROUNDS 20

struct waits {
	unsigned long heads, others;
};

static pthread_t ingest;
static bool is_committing, has_written_head;
static struct waits at_commit, between;

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset);
int fdatasync(int fd);
int fsync(int fd);

static bool
is_log(int fd)
{
	return fd_path_ends_in(fd, "-wal");
}

ssize_t
pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	if (pthread_equal(pthread_self(), ingest))
		has_written_head = offset == 0 && is_log(fd);
	return syscall(SYS_pwrite64, fd, data, size, offset);
}

int
fdatasync(int fd)
{
	struct waits *waits;

	if (!pthread_equal(pthread_self(), ingest))
		return (int)syscall(SYS_fdatasync, fd);
	waits = is_committing ? &at_commit : &between;
	if (has_written_head && is_log(fd))
		waits->heads++;
	else
		waits->others++;
	return (int)syscall(SYS_fdatasync, fd);
}

int
fsync(int fd)
{
	return fdatasync(fd);
}

static void
commit(struct fixture *fixture, uint64_t number)
{
	const struct source_position position = {SOURCE, {1, number}};

	fixture_add_both(fixture, number);
	is_committing = true;
	assert_int_equal(
	    store_commit(fixture->store, &position, 1, &fixture->reason), 0);
	is_committing = false;
	store_shorten_logs(fixture->store);
	if (number % 50 == 0)
		store_disk_wait(fixture->store);
}

/* Whether a log was begun anew since it was last asked. */
static bool
is_begun_anew(const struct fixture *fixture, const char *name, uint64_t *salt)
{
	uint64_t before = *salt;

	*salt = fixture_log_salt(fixture, name);
	return before != 0 && *salt != before;
}

static void
check_waits(const char *what)
{
	print_message("# %s, waits: heads %lu, others %lu; between two: heads"
		      " %lu, others %lu\n",
	    what, at_commit.heads, at_commit.others, between.heads,
	    between.others);
	assert_int_equal(at_commit.heads, 0);
	assert_int_equal(at_commit.others, 0);
	assert_true(between.heads > 0);
}

static int
setup(void **state)
{
	ingest = pthread_self();
	at_commit = between = (struct waits){0};
	return fixture_setup(state);
}

static void
no_commit_waits_until_a_log_is_copied(void **state)
{
	struct fixture *fixture = *state;
	uint64_t day = 0, control = 0, number = 0;
	int days = 0, controls = 0;

	while (number < COMMITS_MAX && (days < BEGUN || controls < 1)) {
		commit(fixture, ++number);
		days += is_begun_anew(fixture, "day-20261130.db-wal", &day);
		controls += is_begun_anew(fixture, "control.db-wal", &control);
	}
	assert_true(days >= BEGUN && controls >= 1);
	assert_true(between.others > 0);
	check_waits("large logs");
}

static void
nor_the_first_into_a_file_that_is_opened(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t number = 1; number <= ROUNDS; number++) {
		commit(fixture, number);
		fixture_reopen(fixture);
	}
	check_waits("files that are opened");
}

/* As the checkpoint thread does with a log that nobody writes to, and others
 * who look into the file. */
static void
empty_log(const struct fixture *fixture, bool truncate)
{
	char path[FIXTURE_PATH_SIZE];
	enum database_failure failure;
	struct database *database;
	struct reason reason;

	fixture_path(fixture, "day-20261130.db", path);
	database =
	    database_open(path, DATABASE_WRITE, NULL, 0, &failure, &reason);
	assert_non_null(database);
	while (database_checkpoint(database, truncate) != 0)
		database_rollback(database);
	database_close(&database);
}

static void
nor_into_a_log_that_others_emptied(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t number = 1; number <= ROUNDS; number++) {
		commit(fixture, number);
		empty_log(fixture, number % 2 != 0);
	}
	check_waits("logs that others emptied");
	assert_true(between.heads >= ROUNDS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		no_commit_waits_until_a_log_is_copied, setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		nor_the_first_into_a_file_that_is_opened, setup,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		nor_into_a_log_that_others_emptied, setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

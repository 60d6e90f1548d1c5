/* SPDX-License-Identifier: BSD-2-Clause */
/* No commit waits until a log is copied: large ones are begun anew between two.
 * Only into a log that is empty, or that a thread has copied to its end in that
 * moment, the commit itself writes the head, which the disk must have first. */
#include "tests/store/small_disk.h"
#include "tests/store/store_fixture.h"

#include <pthread.h>
#include <sys/syscall.h>

#include "tests/lib/fd_path.h"
#include "tests/lib/store_disk.h"

#define COMMITS_MAX 20000
#define BEGUN 5

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
no_commit_waits_until_a_log_is_copied(void **state)
{
	struct fixture *fixture = *state;
	uint64_t day = 0, control = 0, number = 0;
	int days = 0, controls = 0;

	ingest = pthread_self();
	while (number < COMMITS_MAX && (days < BEGUN || controls < 1)) {
		commit(fixture, ++number);
		if (number == 1) /* makes the files */
			at_commit = between = (struct waits){0};
		days += is_begun_anew(fixture, "day-20261130.db-wal", &day);
		controls += is_begun_anew(fixture, "control.db-wal", &control);
	}
	print_message("# %lu commits, waits: heads %lu, others %lu; between"
		      " two: heads %lu, others %lu\n",
	    (unsigned long)number, at_commit.heads, at_commit.others,
	    between.heads, between.others);
	assert_true(days >= BEGUN && controls >= 1);
	assert_int_equal(at_commit.others, 0);
	assert_true(between.heads > 0 && between.others > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		no_commit_waits_until_a_log_is_copied, fixture_setup,
		fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Killed at any system call that writes or syncs, also between two files'
 * commits, and started again, the writer ends with the same rows, counters and
 * cells as one that was never killed (I2, I3).
 *
 * The writer runs in a child whose system calls are counted; it dies at the
 * n-th, with half of it done. Every n-th in check, each one with POSTLAG_LONG.
 */
#include "tests/store/replay_fixture.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define STEP_IN_CHECK 5

/* At which call to die; 0: never. */
static atomic_long calls_left;

static bool
is_last_call(void)
{
	return atomic_load(&calls_left) > 0 &&
	       atomic_fetch_sub(&calls_left, 1) == 1;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset);
int fdatasync(int fd);
int fsync(int fd);

ssize_t
pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	if (is_last_call()) {
		syscall(SYS_pwrite64, fd, data, size / 2, offset);
		raise(SIGKILL);
	}
	return syscall(SYS_pwrite64, fd, data, size, offset);
}

/* Syncing takes nothing that a killed process could lose. */
int
fdatasync(int fd)
{
	if (is_last_call())
		raise(SIGKILL);
	return 0;
}

int
fsync(int fd)
{
	return fdatasync(fd);
}

/* Runs the writer in a child that dies at its n-th call. Returns whether it
 * came to its end before. */
static bool
run_child(struct fixture *fixture, long call)
{
	pid_t child;
	int status;

	promised();
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		atomic_store(&calls_left, call);
		run_and_exit(fixture);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return false;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	return true;
}

static void
killed_at_any_call_the_writer_ends_the_same(void **state)
{
	const struct interruption kill = {run_child, NULL, STEP_IN_CHECK};

	interrupt_at_each(*state, &kill);
}

static long
a_little_later(long kills)
{
	return 23 + kills % 100;
}

static void
killed_again_and_again_the_writer_ends_the_same(void **state)
{
	interrupt_again_and_again(*state, run_child, a_little_later);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		killed_at_any_call_the_writer_ends_the_same, setup_closed,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		killed_again_and_again_the_writer_ends_the_same, setup_closed,
		fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

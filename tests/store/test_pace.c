/* SPDX-License-Identifier: BSD-2-Clause */
/* The checkpoint thread never has more than a little for the disk to take, so
 * that who wants something of it meanwhile does not wait behind a whole log. */
#include "tests/lib/fd_path.h"
#include "tests/store/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#define BATCHES 80 /* twice as much as a log that is copied */
#define AT_ONCE 256

/* Of the file, by the checkpoint thread: it is the only one of the kind. */
static pthread_t ingest;
static atomic_int unsynced, most_unsynced, written;

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset);
int fdatasync(int fd);

static bool
is_copying(int fd)
{
	return !pthread_equal(pthread_self(), ingest) &&
	       fd_path_ends_in(fd, ".db");
}

ssize_t
pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	if (is_copying(fd)) {
		int now = atomic_fetch_add(&unsynced, 1) + 1;

		if (now > atomic_load(&most_unsynced))
			atomic_store(&most_unsynced, now);
		atomic_fetch_add(&written, 1);
	}
	return syscall(SYS_pwrite64, fd, data, size, offset);
}

int
fdatasync(int fd)
{
	if (is_copying(fd))
		atomic_store(&unsynced, 0);
	return (int)syscall(SYS_fdatasync, fd);
}

static void
a_large_log_is_copied_in_small_parts(void **state)
{
	struct fixture *fixture = *state;

	ingest = pthread_self();
	for (uint64_t batch = 0; batch < BATCHES; batch++)
		fixture_write_large_batch(fixture, batch);
	fixture_close(fixture);
	print_message("# %d pages, %d at once\n", atomic_load(&written),
	    atomic_load(&most_unsynced));
	assert_true(atomic_load(&written) > 10 * AT_ONCE);
	assert_true(atomic_load(&most_unsynced) <= AT_ONCE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		a_large_log_is_copied_in_small_parts, fixture_setup,
		fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

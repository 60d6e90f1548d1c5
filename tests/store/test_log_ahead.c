/* SPDX-License-Identifier: BSD-2-Clause */
/* What is written over in a log is in memory before, though the system had put
 * it out. The file lies beside this program: private directories may be memory
 * themselves. */
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/reason.h"
#include "store/database.h"
#include "tests/lib/unit.h"

#define PAGES 9000
#define PAGE_BYTES 4096
#define FRAME_BYTES 4120L
/* What is to be in memory at least, behind each commit. */
#define AHEAD_PAGES 2000
#define PART_PAGES 500
#define PATIENCE_STEPS 10000

static const char *program;

static void
remove_file(const char *path)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};

	for (size_t i = 0; i < COUNT(suffixes); i++) {
		char *name = memory_format("%s%s", path, suffixes[i]);

		unlink(name);
		free(name);
	}
}

static struct database *
make_file(const char *path)
{
	enum database_failure failure;
	struct database *database;
	struct reason reason;

	remove_file(path);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	database =
	    database_open(path, DATABASE_WRITE, NULL, 0, &failure, &reason);
	assert_non_null(database);
	assert_int_equal(database_set_up_writer(database, false), 0);
	assert_int_equal(
	    database_execute(database, "CREATE TABLE t (part BLOB)"), 0);
	return database;
}

static void
write_pages(struct database *database, int pages)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "INSERT INTO t VALUES (zeroblob(%d))",
	    pages * PAGE_BYTES);
	assert_true(database_begin_write(database) >= 0);
	assert_int_equal(database_execute(database, sql), 0);
	assert_int_equal(database_commit(database), 0);
}

/* How many of the system's pages are in memory where these are in the log. */
static size_t
in_memory(int fd, long first, long pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), found = 0;
	off_t start = first * FRAME_BYTES / (off_t)page * (off_t)page;
	size_t bytes = (size_t)(pages * FRAME_BYTES);
	size_t count = (bytes + page - 1) / page;
	unsigned char *states = memory_zeroed(count, 1);
	void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, start);

	assert_true(map != MAP_FAILED);
	assert_int_equal(mincore(map, bytes, states), 0);
	for (size_t i = 0; i < count; i++)
		found += states[i] & 1;
	munmap(map, bytes);
	free(states);
	return found;
}

static void
put_out_of_memory(int fd)
{
	int steps = PATIENCE_STEPS;

	assert_int_equal(fdatasync(fd), 0);
	do {
		assert_int_equal(
		    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
		poll(NULL, 0, 1);
	} while (in_memory(fd, 1, PAGES - 1) > 0 && steps-- > 0);
	assert_true(steps >= 0);
}

static bool
is_memory_itself(int fd)
{
	struct statfs system;

	assert_int_equal(fstatfs(fd, &system), 0);
	return system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC;
}

static void
assert_is_ahead(int fd, int pages)
{
	int steps = PATIENCE_STEPS;

	while (in_memory(fd, pages, AHEAD_PAGES) < AHEAD_PAGES && steps-- > 0)
		poll(NULL, 0, 1);
	assert_true(steps >= 0);
}

static void
check_log(struct database *database, int fd)
{
	write_pages(database, PAGES);
	assert_true(database_wal_pages(database) >= PAGES);
	assert_int_equal(database_checkpoint(database, false), 0);
	put_out_of_memory(fd);
	database_begin_log_anew(database);
	assert_int_equal(database_wal_pages(database), 1);
	while (database_wal_pages(database) < PAGES - AHEAD_PAGES) {
		assert_is_ahead(fd, database_wal_pages(database));
		write_pages(database, PART_PAGES);
	}
}

static void
what_a_log_writes_over_is_read_ahead(void **state)
{
	char *path = memory_format("%s.db", program);
	struct database *database = make_file(path);
	int fd = database_log_open(path);
	bool is_memory;

	(void)state;
	assert_true(fd >= 0);
	is_memory = is_memory_itself(fd);
	if (!is_memory)
		check_log(database, fd);
	close(fd);
	database_close(&database);
	remove_file(path);
	free(path);
	if (is_memory)
		skip();
}

int
main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_a_log_writes_over_is_read_ahead),
	};

	(void)count;
	program = words[0];
	return cmocka_run_group_tests(tests, NULL, NULL);
}

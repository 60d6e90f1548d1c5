/* SPDX-License-Identifier: BSD-2-Clause */
/* Since when a store reaches, from its directory alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/reason.h"
#include "store/reach.h"

/* Files with the seconds at which they were last written. */
static const struct {
	const char *name;
	int64_t written_s;
} files[] = {
    {"day-20261129.db", 1000},
    {"day-20261125.db", 2000},
    {"day-20261125.db-wal", 3000},
    {"day-20261125.db-shm", 9000}, /* readers write it, too */
    {"odd.db", 2500},
    {"lock", 9000},
    {"day-2026112x.db", 100},
    {"day-20261131.db", 100},
    {"nothing.txt", 9000},
};

static char directory[] = "/tmp/postlag-reach-XXXXXX";

static void
path_of(const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", directory, name);
}

static void
make(const char *name, int64_t written_s)
{
	struct timespec times[2] = {
	    {.tv_sec = written_s}, {.tv_sec = written_s}};
	char path[128];
	int fd;

	path_of(name, path, sizeof(path));
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(0, futimens(fd, times));
	close(fd);
}

static int
make_directory(void **state)
{
	return mkdtemp(directory) != NULL ? 0 : -1;
}

static int
remove_directory(void **state)
{
	char path[128];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		path_of(files[i].name, path, sizeof(path));
		unlink(path);
	}
	return rmdir(directory);
}

static void
an_empty_store_reaches_nowhere(void **state)
{
	struct store_reach reach;

	assert_int_equal(0, store_reach(directory, &reach, NULL));
	assert_int_equal(0, reach.first_wall_ns);
	assert_int_equal(0, reach.written_wall_ns);
}

static void
the_oldest_day_and_the_last_write_are_told(void **state)
{
	struct store_reach reach;
	char text[CLOCK_TEXT_SIZE];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		make(files[i].name, files[i].written_s);
	assert_int_equal(0, store_reach(directory, &reach, NULL));
	clock_format(reach.first_wall_ns, text);
	assert_string_equal(text, "2026-11-25T00:00:00.000000Z");
	assert_int_equal(reach.written_wall_ns, 3000 * CLOCK_NS_PER_SECOND);
}

static void
a_directory_that_is_not_there_is_named(void **state)
{
	struct store_reach reach;
	struct reason reason;

	assert_int_equal(-1, store_reach("/nonexistent/x", &reach, &reason));
	assert_non_null(strstr(reason.text, "/nonexistent/x"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_empty_store_reaches_nowhere),
	    cmocka_unit_test(the_oldest_day_and_the_last_write_are_told),
	    cmocka_unit_test(a_directory_that_is_not_there_is_named),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of files, and what happens to files by name. */
#include "store/layout.h"

#include "tests/store/store_fixture.h"

#include <dirent.h>

/* How many entries a directory gives before the disk fails; -1: all. */
static int entries_left = -1;

struct dirent *readdir(DIR *stream);

struct dirent *
readdir(DIR *stream)
{
	if (entries_left == 0) {
		errno = EIO;
		return NULL;
	}
	if (entries_left > 0)
		entries_left--;
	return (struct dirent *)(void *)readdir64(stream);
}

static const struct {
	const char *name;
	int64_t day;
} names[] = {
    {"day-20261130.db", 20787},
    {"day-19700101.db", 0},
    {"day-20240229.db", 19782},
    {"odd.db", LAYOUT_ODD},
};

static const char *const strangers[] = {"", "day-20261130.db-wal",
    "day-20261130.db.damaged-1", "day-20260229.db", "day-20261301.db",
    "day-2026113.db", "day-202611300.db", "day-2026-130.db", "dby-20261130.db",
    "day-20261130.dc", "control.db", "odd.db-shm", "day-+0261130.db"};

static void
days_and_names_are_each_others(void **state)
{
	int64_t day;

	for (size_t i = 0; i < COUNT(names); i++) {
		char *path = layout_day_path("/d", names[i].day);

		assert_row_string(i, path + 3, names[i].name);
		assert_row(i, layout_parse(names[i].name, &day) == 1);
		assert_row(i, day == names[i].day);
		free(path);
	}
	for (size_t i = 0; i < COUNT(strangers); i++)
		assert_row(i, layout_parse(strangers[i], &day) == 0);
}

static void
touch(const struct fixture *fixture, const char *name)
{
	char path[FIXTURE_PATH_SIZE];
	int fd;

	fixture_path(fixture, name, path);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static bool
is_there(const struct fixture *fixture, const char *name)
{
	char path[FIXTURE_PATH_SIZE];

	fixture_path(fixture, name, path);
	return access(path, F_OK) == 0;
}

static void
files_are_listed_newest_first_and_odd_last(void **state)
{
	struct fixture *fixture = *state;
	int64_t *days;

	for (size_t i = 0; i < COUNT(names); i++)
		touch(fixture, names[i].name);
	for (size_t i = 1; i < COUNT(strangers); i++)
		touch(fixture, strangers[i]);
	assert_int_equal(layout_list(fixture->directory, &days, NULL), 4);
	assert_int_equal(days[0], 20787);
	assert_int_equal(days[1], 19782);
	assert_int_equal(days[2], 0);
	assert_true(days[3] == LAYOUT_ODD);
	free(days);
	assert_int_equal(layout_list("/nonexistent", &days, NULL), -1);
}

/* Days that are not listed would not be in the sums. */
static void
a_list_that_cannot_be_read_whole_is_none(void **state)
{
	struct fixture *fixture = *state;
	int64_t *days;

	for (size_t i = 0; i < COUNT(names); i++)
		touch(fixture, names[i].name);
	entries_left = 3;
	assert_int_equal(
	    layout_list(fixture->directory, &days, &fixture->reason), -1);
	entries_left = -1;
	assert_null(days);
	assert_non_null(strstr(fixture->reason.text, "Input/output error"));
}

static void
setting_aside_takes_the_log_and_the_next_number(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];

	fixture_path(fixture, "day-20261130.db", path);
	for (int i = 0; i < 2; i++) {
		touch(fixture, "day-20261130.db");
		touch(fixture, "day-20261130.db-wal");
		assert_int_equal(layout_set_aside(path, NULL), 0);
	}
	assert_false(is_there(fixture, "day-20261130.db"));
	assert_false(is_there(fixture, "day-20261130.db-wal"));
	assert_true(is_there(fixture, "day-20261130.db.damaged-1"));
	assert_true(is_there(fixture, "day-20261130.db.damaged-2"));
	assert_true(is_there(fixture, "day-20261130.db.damaged-2-wal"));
	assert_int_equal(layout_set_aside(path, &fixture->reason), -1);
	assert_non_null(strstr(fixture->reason.text, "cannot be set aside"));
}

static void
a_new_file_is_the_groups_to_read_and_replaces_nothing(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];
	struct stat status;
	mode_t mask = umask(077);

	fixture_path(fixture, "day-20261130.db", path);
	touch(fixture, "day-20261130.db-wal");
	assert_int_equal(layout_create(path, &fixture->reason), 0);
	umask(mask);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
	assert_false(is_there(fixture, "day-20261130.db-wal"));
	assert_int_equal(layout_create(path, &fixture->reason), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	    cmocka_unit_test(days_and_names_are_each_others),
	    TEST(files_are_listed_newest_first_and_odd_last),
	    TEST(a_list_that_cannot_be_read_whole_is_none),
	    TEST(setting_aside_takes_the_log_and_the_next_number),
	    TEST(a_new_file_is_the_groups_to_read_and_replaces_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

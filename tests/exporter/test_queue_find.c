/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a queue file is, in queue directories made for the test. */
#include "exporter/queue/queue_find.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/unit.h"

#define SHORT_ID "1A2B3C4D5E"
/* Microsecond 583713, which is 8E821 in hexadecimal. */
#define LONG_ID "4fXJd947sFzKJh"

static char root[PATH_MAX - 200];

static int
remove_one(
    const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	return remove(path);
}

static void
make_directory(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void
make_file(const char *name, mode_t mode)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
	assert_true(fd >= 0);
	close(fd);
}

static int
setup(void **state)
{
	static const char *const names[] = {"incoming", "active", "deferred",
	    "hold", "maildrop", "corrupt", "saved"};
	const char *parent = getenv("TMPDIR");

	snprintf(root, sizeof(root), "%.200s/queue.XXXXXX",
	    parent != NULL ? parent : "/tmp");
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < COUNT(names); i++)
		make_directory(names[i]);
	return 0;
}

static int
teardown(void **state)
{
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static struct queue_finding
look(const char *queue_id, const char *hashed, unsigned depth)
{
	const struct queue_directory directory = {
	    .path = root, .hashed = queue_hashed(hashed), .depth = depth};

	return queue_find(&directory, queue_id);
}

static void
expect(const char *queue_id, enum queue_place place, bool committed)
{
	struct queue_finding finding = look(queue_id, "deferred, defer", 1);

	assert_string_equal(
	    queue_place_name(finding.place), queue_place_name(place));
	assert_int_equal(finding.committed, committed);
}

static void
an_id_that_is_nowhere_is_absent(void **state)
{
	expect(SHORT_ID, QUEUE_ABSENT, false);
	expect(LONG_ID, QUEUE_ABSENT, false);
}

static void
each_directory_is_looked_at(void **state)
{
	make_file("incoming/AAAAA1", 0700);
	make_file("active/AAAAA2", 0700);
	make_file("hold/AAAAA3", 0700);
	make_file("maildrop/AAAAA4", 0700);
	make_file("corrupt/AAAAA5", 0600);
	make_file("saved/AAAAA6", 0700);
	expect("AAAAA1", QUEUE_INCOMING, true);
	expect("AAAAA2", QUEUE_ACTIVE, true);
	expect("AAAAA3", QUEUE_HOLD, true);
	expect("AAAAA4", QUEUE_MAILDROP, true);
	expect("AAAAA5", QUEUE_CORRUPT, false);
	expect("AAAAA6", QUEUE_SAVED, true);
}

static void
what_is_still_being_received_is_not_committed(void **state)
{
	make_file("incoming/" SHORT_ID, 0600);
	expect(SHORT_ID, QUEUE_INCOMING, false);
}

static void
a_short_id_is_hashed_by_its_first_characters(void **state)
{
	make_directory("deferred/1");
	make_file("deferred/1/" SHORT_ID, 0700);
	expect(SHORT_ID, QUEUE_DEFERRED, true);
	make_directory("deferred/2");
	make_directory("deferred/2/2");
	make_file("deferred/2/2/22222", 0700);
	assert_int_equal(look("22222", "deferred", 2).place, QUEUE_DEFERRED);
	assert_int_equal(look("22222", "deferred", 1).place, QUEUE_ABSENT);
}

static void
a_long_id_is_hashed_by_its_microseconds(void **state)
{
	make_directory("deferred/8");
	make_directory("deferred/8/E");
	make_file("deferred/8/E/" LONG_ID, 0700);
	assert_int_equal(look(LONG_ID, "deferred", 2).place, QUEUE_DEFERRED);
}

static void
only_the_directories_named_are_hashed(void **state)
{
	make_file("deferred/" SHORT_ID, 0700);
	make_directory("hold/A");
	make_file("hold/A/AAAAAA", 0700);
	assert_int_equal(look(SHORT_ID, "hold", 1).place, QUEUE_DEFERRED);
	assert_int_equal(look("AAAAAA", "defer hold", 1).place, QUEUE_HOLD);
	assert_int_equal(look(SHORT_ID, "", 1).place, QUEUE_DEFERRED);
	assert_int_equal(look(SHORT_ID, "deferred", 0).place, QUEUE_DEFERRED);
}

static void
what_is_no_queue_id_is_never_a_path(void **state)
{
	static const char *const bad[] = {"", "A", "../x", "AAAAA/B", ".....",
	    "AAAA ", "AAAAA\n", "012345678901234567890123456789012", "A*AAA"};

	for (size_t i = 0; i < COUNT(bad); i++)
		expect(bad[i], QUEUE_UNKNOWN, false);
}

static void
nothing_is_said_of_a_queue_that_is_not_there(void **state)
{
	const struct queue_directory elsewhere = {.path = "/nonexistent"};
	char path[PATH_MAX];

	assert_int_equal(queue_find(&elsewhere, SHORT_ID).place, QUEUE_UNKNOWN);
	snprintf(path, sizeof(path), "%s/hold", root);
	assert_int_equal(rmdir(path), 0);
	expect(SHORT_ID, QUEUE_UNKNOWN, false);
	make_file("hold", 0700);
	expect(SHORT_ID, QUEUE_UNKNOWN, false);
	make_file("active/" SHORT_ID, 0700);
	expect(SHORT_ID, QUEUE_ACTIVE, true);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(an_id_that_is_nowhere_is_absent),
	    TEST(each_directory_is_looked_at),
	    TEST(what_is_still_being_received_is_not_committed),
	    TEST(a_short_id_is_hashed_by_its_first_characters),
	    TEST(a_long_id_is_hashed_by_its_microseconds),
	    TEST(only_the_directories_named_are_hashed),
	    TEST(what_is_no_queue_id_is_never_a_path),
	    TEST(nothing_is_said_of_a_queue_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

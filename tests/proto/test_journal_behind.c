/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a journal of many segments is left to read, and what it costs to tell
 * after each batch. */
#include "tests/proto/journal_fixture.h"

#include <sys/syscall.h>

#include "proto/segment.h"

#define SEGMENTS 60
#define EVENTS 3

static unsigned long looks;

int
fstatat(int directory_fd, const char *name, struct stat *status, int flags)
{
	looks++;
	return (int)syscall(SYS_newfstatat, directory_fd, name, status, flags);
}

static void
path_of(const struct fixture *fixture, uint64_t number, char path_r[PATH_MAX])
{
	char name[SEGMENT_NAME_SIZE];

	segment_name(number, name);
	assert_true(snprintf(path_r, PATH_MAX, "%s/" SOURCE "/%s",
			fixture->directory, name) < PATH_MAX);
}

/* The caller frees the numbers. */
static long
list(const struct fixture *fixture, uint64_t **numbers_r)
{
	char path[PATH_MAX + sizeof(SOURCE) + 1];
	int directory_fd;
	long count;

	snprintf(path, sizeof(path), "%s/" SOURCE, fixture->directory);
	directory_fd = open(path, O_RDONLY | O_DIRECTORY);
	count = segment_list(directory_fd, numbers_r, NULL);
	close(directory_fd);
	return count;
}

static void
assert_behind(const struct fixture *fixture)
{
	struct journal_position at = journal_reader_position(fixture->reader);
	int64_t bytes = -(int64_t)at.offset;
	uint64_t *numbers;
	long count = list(fixture, &numbers);

	for (long i = 0; i < count; i++) {
		char path[PATH_MAX];
		struct stat status;

		if (numbers[i] < at.segment)
			continue;
		path_of(fixture, numbers[i], path);
		assert_int_equal(stat(path, &status), 0);
		bytes += status.st_size;
	}
	free(numbers);
	assert_int_equal(journal_reader_behind_bytes(fixture->reader), bytes);
}

static void
write_segments(struct fixture *fixture)
{
	for (int i = 0; i < SEGMENTS; i++)
		fixture_write(fixture, EVENTS);
}

static void
remove_one_ahead(const struct fixture *fixture)
{
	char path[PATH_MAX];
	uint64_t *numbers;
	long count = list(fixture, &numbers);

	path_of(fixture, numbers[count - 5], path);
	assert_int_equal(unlink(path), 0);
	free(numbers);
}

static void
what_is_left_is_told_at_each_event(void **state)
{
	struct fixture *fixture = *state;
	int events = 0;

	write_segments(fixture);
	fixture_read(fixture);
	do {
		assert_behind(fixture);
		if (++events == SEGMENTS)
			write_segments(fixture);
		if (events == 2 * SEGMENTS)
			remove_one_ahead(fixture);
	} while (fixture_next(fixture) != NULL);
	assert_true(events > (2 * SEGMENTS - 1) * EVENTS);
	assert_int_equal(journal_reader_behind_bytes(fixture->reader), 0);
}

static void
a_long_journal_is_not_looked_at_as_a_whole_each_time(void **state)
{
	struct fixture *fixture = *state;

	write_segments(fixture);
	fixture_read(fixture);
	assert_non_null(fixture_next(fixture));
	assert_behind(fixture);
	looks = 0;
	assert_behind(fixture);
	assert_true(looks > 0 && looks <= 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(what_is_left_is_told_at_each_event),
	    FIXTURE_TEST(a_long_journal_is_not_looked_at_as_a_whole_each_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

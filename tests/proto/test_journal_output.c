/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments that wait to be synced, as many as there is room for. */
#include "proto/journal_output.h"

#include <sys/syscall.h>

#include "proto/journal_directory.h"
#include "tests/proto/journal_fixture.h"

#define LIMIT_BYTES (1 << 30)

/* A disk that takes half of what is written, and cannot give it back. */
static bool disk_is_broken;

ssize_t write(int fd, const void *data, size_t size);
int ftruncate(int fd, off_t size);

ssize_t
write(int fd, const void *data, size_t size)
{
	return syscall(SYS_write, fd, data, disk_is_broken ? size / 2 : size);
}

int
ftruncate(int fd, off_t size)
{
	if (disk_is_broken) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_ftruncate, fd, size);
}

static int
open_output(const struct fixture *fixture, struct journal_output *output)
{
	const struct segment_header header = {
	    .source = SOURCE, .instance = "mx.example.com", .program = "test"};
	int fd = journal_directory_make(fixture->directory, SOURCE, NULL);

	assert_true(fd >= 0);
	assert_int_equal(journal_output_open(output, fd, &header, 64 << 10), 0);
	return fd;
}

static enum journal_outcome
append(struct journal_output *output)
{
	struct event event;

	fixture_event(&event, 0);
	return journal_output_append(output, &event, LIMIT_BYTES);
}

/* What the owner does once they are on the disk. */
static void
close_retired(struct journal_output *output)
{
	while (output->retired_count > 0)
		close(output->retired[--output->retired_count]);
}

static void
a_segment_that_breaks_beside_all_that_wait_is_kept_too(void **state)
{
	struct journal_output output;
	int fd = open_output(*state, &output);

	for (int i = 0; i < 2 * JOURNAL_RETIRED_MAX; i++)
		journal_output_rotate(&output);
	assert_int_equal(output.retired_count, JOURNAL_RETIRED_MAX);
	assert_int_equal(append(&output), JOURNAL_APPENDED);

	disk_is_broken = true;
	assert_int_equal(append(&output), JOURNAL_DROPPED_ERROR);
	disk_is_broken = false;
	assert_int_equal(output.retired_count, JOURNAL_RETIRED_MAX + 1);
	assert_int_equal(output.segment.fd, -1);

	/* There is no room for the one that would come after it. */
	assert_int_equal(append(&output), JOURNAL_DROPPED_ERROR);
	assert_int_equal(output.retired_count, JOURNAL_RETIRED_MAX + 1);
	close_retired(&output);
	fixture_wait(append(&output) == JOURNAL_APPENDED);
	assert_int_equal(output.retired_count, 0);
	journal_output_close(&output);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(
		a_segment_that_breaks_beside_all_that_wait_is_kept_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

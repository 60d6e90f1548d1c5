/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A disk that fails to read: for a while everything waits for it, then what it
 * took is damage, counted, and what lies behind it is read (I2, I8).
 *
 * Files that cannot be opened are by this file's openat(2).
 */
#include "tests/lib/broken_disk.h"
#include "tests/proto/journal_fixture.h"

#include <stdarg.h>

#define EVENTS 8000          /* more than a reader holds in memory */
#define RECORDS (EVENTS + 2) /* the first and the last heartbeat */

static bool unopenable;
static int64_t clock_ns;

int openat(int directory_fd, const char *name, int flags, ...);

int
openat(int directory_fd, const char *name, int flags, ...)
{
	uint64_t number;
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	if (unopenable && segment_number(name, &number)) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_openat, directory_fd, name, flags, mode);
}

static struct stamp
now(void)
{
	return (struct stamp){clock_ns, clock_ns};
}

static int
setup(void **state)
{
	memset(&disk, 0, sizeof(disk));
	unopenable = false;
	return fixture_setup(state);
}

static int
teardown(void **state)
{
	clock_set_source(NULL);
	return fixture_teardown(state);
}

/* A journal to be read, at a time that stands still. */
static void
begin(struct fixture *fixture)
{
	fixture_write(fixture, EVENTS);
	clock_ns = 1000 * SECOND_NS;
	clock_set_source(now);
	fixture_read(fixture);
}

/* Reads as far as that works; returns how many records and the last result. */
static uint64_t
read_on(struct fixture *fixture, int *result_r)
{
	uint64_t count = 0;

	while ((*result_r = journal_reader_next(
		    fixture->reader, &fixture->record, NULL)) == 1)
		count++;
	return count;
}

/* How many records lie in front of, and how many at least in part within what
 * is about to be unreadable. */
static void
count_records(struct fixture *fixture, uint64_t *before_r, uint64_t *within_r)
{
	const struct journal_record *record;

	*before_r = *within_r = 0;
	fixture_read(fixture);
	while ((record = fixture_next(fixture)) != NULL) {
		if ((off_t)record->position.offset <= disk.begin)
			++*before_r;
		else if ((off_t)record->offset < disk.end)
			++*within_r;
	}
	fixture_read(fixture);
}

static void
a_block_costs_the_records_in_it_after_a_while(void **state)
{
	struct fixture *fixture = *state;
	uint64_t before, within;
	int result;

	begin(fixture);
	break_blocks(40, 2);
	disk.works = true;
	count_records(fixture, &before, &within);
	disk.works = false;
	assert_int_equal(read_on(fixture, &result), before);
	assert_int_equal(result, -1);
	clock_ns += JOURNAL_UNREADABLE_NS - 1;
	assert_int_equal(read_on(fixture, &result), 0);
	assert_int_equal(result, -1);
	assert_true(fixture_is_undamaged(fixture));

	clock_ns += 1;
	assert_int_equal(read_on(fixture, &result), RECORDS - before - within);
	assert_int_equal(result, 0);
	assert_int_equal(fixture_damage(fixture)->records, 1);
	assert_true(fixture_damage(fixture)->bytes >= 2 * DISK_BLOCK_BYTES);
	assert_true(fixture_damage(fixture)->bytes < 3 * DISK_BLOCK_BYTES);
}

/* One waiting is enough for all that is unreadable in a segment. */
static void
further_blocks_cost_no_time(void **state)
{
	struct fixture *fixture = *state;
	int result;

	begin(fixture);
	break_blocks(2, 1);
	read_on(fixture, &result);
	clock_ns += JOURNAL_UNREADABLE_NS;
	assert_int_equal(
	    journal_reader_next(fixture->reader, &fixture->record, NULL), 1);
	break_blocks(120, 1);
	read_on(fixture, &result);
	assert_int_equal(result, 0);
	assert_int_equal(fixture_damage(fixture)->records, 2);
}

static void
a_disk_that_comes_back_costs_nothing(void **state)
{
	struct fixture *fixture = *state;
	uint64_t count = 0;
	int result;

	begin(fixture);
	/* The second failure is as young as it is, not as the first one. */
	for (int i = 1; i <= 3; i++) {
		break_blocks(20 * i, 1);
		count += read_on(fixture, &result);
		assert_int_equal(result, -1);
		clock_ns += JOURNAL_UNREADABLE_NS / 2;
		assert_int_equal(read_on(fixture, &result), 0);
		assert_int_equal(result, -1);
	}
	disk.end = 0;
	count += read_on(fixture, &result);
	assert_int_equal(result, 0);
	assert_int_equal(count, RECORDS);
	assert_true(fixture_is_undamaged(fixture));
}

static void
without_its_header_a_segment_is_passed_over(void **state)
{
	struct fixture *fixture = *state;
	int result;

	begin(fixture);
	break_blocks(0, 1);
	assert_int_equal(read_on(fixture, &result), 0);
	assert_int_equal(result, -1);
	clock_ns += JOURNAL_UNREADABLE_NS;
	assert_int_equal(read_on(fixture, &result), 0);
	assert_int_equal(result, 0);
	assert_int_equal(fixture_damage(fixture)->segments, 1);
}

static void
so_is_one_that_cannot_be_opened(void **state)
{
	struct fixture *fixture = *state;
	int result;

	begin(fixture);
	unopenable = true;
	read_on(fixture, &result);
	assert_int_equal(result, -1);
	clock_ns += JOURNAL_UNREADABLE_NS;
	read_on(fixture, &result);
	assert_int_equal(result, 0);
	assert_int_equal(fixture_damage(fixture)->segments, 1);
	assert_true(journal_reader_position(fixture->reader).segment != 0);
}

int
main(void)
{
#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(a_block_costs_the_records_in_it_after_a_while),
	    TEST(further_blocks_cost_no_time),
	    TEST(a_disk_that_comes_back_costs_nothing),
	    TEST(without_its_header_a_segment_is_passed_over),
	    TEST(so_is_one_that_cannot_be_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A disk that fails to read a block of a log: for a while everything waits for
 * it, then it is a gap, and what lies behind it is read.
 */
#include "exporter/read/log_follower.h"

#include "base/log.h"
#include "tests/exporter/log_fixture.h"
#include "tests/lib/broken_disk.h"

#define LINES 400

static int64_t clock_ns;

static struct stamp
now(void)
{
	return (struct stamp){line_wall_ns(LINES), clock_ns};
}

static int
setup(void **state)
{
	break_blocks(0, 0);
	clock_ns = 1000 * CLOCK_NS_PER_SECOND;
	clock_set_source(now);
	return log_setup(state);
}

static int
line_bytes(const struct log_fixture *log, int number)
{
	char text[256];

	return format_line(log, number, text, sizeof(text));
}

/* The line that begins first at the offset or behind it. */
static int
line_from(const struct log_fixture *log, off_t offset)
{
	int number = 0;

	for (off_t begin = 0; begin < offset; number++)
		begin += line_bytes(log, number);
	return number;
}

/* The next entries there are, up to an error. */
static const char *
read_to_error(struct log_fixture *log)
{
	struct log_entry entry;
	int result;

	log->told[0] = '\0';
	log->first = -1;
	while ((result = log_follower_next(log->follower, &entry, NULL)) == 1)
		tell(log, &entry);
	assert_int_equal(result, -1);
	tell_range(log);
	return log->told;
}

static void
a_block_is_a_gap_after_a_while(void **state)
{
	struct log_fixture *log = *state;
	char wanted[64];
	int last, next;

	append(log, "mail.log", LINES);
	break_blocks(2, 2);
	/* Of the lines that the block cuts neither is whole. */
	last = line_from(log, disk.begin + 1) - 2;
	next = line_from(log, disk.end + 1);
	follow(log);
	snprintf(wanted, sizeof(wanted), "0..%d", last);
	assert_string_equal(read_to_error(log), wanted);
	clock_ns += LOG_UNREADABLE_NS - 1;
	assert_string_equal(read_to_error(log), "");
	clock_ns += 1;
	snprintf(wanted, sizeof(wanted), "damaged %d..%d", next, LINES - 1);
	assert_string_equal(drain(log), wanted);
	/* And is followed as any other. */
	append(log, "mail.log", 1);
	snprintf(wanted, sizeof(wanted), "%d..%d", LINES, LINES);
	assert_string_equal(drain(log), wanted);
}

static void
the_end_of_a_log_may_be_unreadable(void **state)
{
	struct log_fixture *log = *state;
	char wanted[64];

	append(log, "mail.log", LINES);
	break_blocks(3, 1000);
	follow(log);
	read_to_error(log);
	clock_ns += LOG_UNREADABLE_NS;
	assert_string_equal(drain(log), "");
	rename_log(log, "mail.log", "mail.log.1");
	append(log, "mail.log", 10);
	snprintf(wanted, sizeof(wanted), "damaged %d..%d", LINES, LINES + 9);
	assert_string_equal(drain(log), wanted);
}

static void
a_disk_that_comes_back_costs_nothing(void **state)
{
	struct log_fixture *log = *state;
	char wanted[64];
	int next;

	append(log, "mail.log", LINES);
	break_blocks(2, 2);
	next = line_from(log, disk.begin + 1) - 1;
	follow(log);
	read_to_error(log);
	clock_ns += LOG_UNREADABLE_NS - 1;
	read_to_error(log);
	break_blocks(0, 0);
	snprintf(wanted, sizeof(wanted), "%d..%d", next, LINES - 1);
	assert_string_equal(drain(log), wanted);
}

int
main(void)
{
#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, setup, log_teardown)
	const struct CMUnitTest tests[] = {
	    TEST(a_block_is_a_gap_after_a_while),
	    TEST(the_end_of_a_log_may_be_unreadable),
	    TEST(a_disk_that_comes_back_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

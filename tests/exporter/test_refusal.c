/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who counts a refused RCPT TO: the milter's event without a log, the log's
 * line with one, and each its own time when a log begins to be read.
 */
#include "exporter/join/refusal.h"

#include "tests/exporter/join_dump.h"

static unsigned long
refused_rcpts(struct world *world)
{
	struct buffer totals = {.data = NULL};
	unsigned long count;

	dump_totals(world, &totals);
	buffer_append(&totals, "", 1);
	count = dump_value((const char *)totals.data,
	    "smtp_rejects_total{phase=\"rcpt\",class=\"5\"}");
	buffer_free(&totals);
	return count;
}

#define LINE                                                                   \
	"L smtpd 7 NOQUEUE: reject: RCPT from c.test[192.0.2.1]: 550 5.1.1"    \
	" <u1@example.test>: x; from=<a@a.test> to=<u1@example.test>"          \
	" proto=ESMTP helo=<c>\n"

/* Two refusals, of which the log tells as well; the boundary lies so many
 * seconds behind the first. */
static unsigned long
count_with_boundary(int seconds)
{
	static struct script script;
	struct world world;
	unsigned long count;

	script_read(&script, "M!3 a - !u1\n" LINE "S 100\n"
			     "M!3 b - !u1\n" LINE);
	world_begin_reading(&world, true);
	join_read_logs(world.join, world.instances,
	    script.start_wall_ns + seconds * SECOND_NS);
	world_run(&world, &script);
	count = refused_rcpts(&world);
	world_end(&world);
	script_free(&script);
	return count;
}

static void
each_counts_once_on_whatever_side_of_it(void **state)
{
	assert_int_equal(count_with_boundary(-10), 2);
	assert_int_equal(count_with_boundary(50), 2);
	assert_int_equal(count_with_boundary(1000), 2);
}

static void
without_a_log_the_milter_counts(void **state)
{
	static struct script script;
	struct world world;

	script_read(&script, "M!3 a - !u1\nM b A00001 u1 !u2\n");
	world_begin(&world);
	world_run(&world, &script);
	assert_int_equal(refused_rcpts(&world), 2);
	world_end(&world);
	script_free(&script);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_counts_once_on_whatever_side_of_it),
	    cmocka_unit_test(without_a_log_the_milter_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

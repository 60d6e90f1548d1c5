/* SPDX-License-Identifier: BSD-2-Clause */
/* From when on the log counts what others tell of, too. */
#include "exporter/join/log_boundary.h"

#include "tests/exporter/join_dump.h"

#define NOON (INT64_C(1790000000) * SECOND_NS)

static int64_t
boundary(struct world *world, bool reads_log, int64_t now_wall_ns)
{
	struct reason reason;
	int64_t boundary_wall_ns;

	if (log_boundary_find(world->store, reads_log, now_wall_ns,
		&boundary_wall_ns, &reason) != 0)
		fail_msg("%s", reason.text);
	return boundary_wall_ns;
}

/* Something is counted. */
static void
run_mail(struct world *world)
{
	static struct script script;

	script_read(&script, "M a Q1 u1\n");
	world_run(world, &script);
	script_free(&script);
}

static void
from_the_first_a_log_counts_alone(void **state)
{
	struct world world;

	world_begin(&world);
	assert_int_equal(boundary(&world, true, NOON), LOG_BOUNDARY_ALWAYS);
	run_mail(&world);
	world_close(&world);
	world_open(&world);
	assert_int_equal(boundary(&world, true, NOON), LOG_BOUNDARY_ALWAYS);
	assert_int_equal(boundary(&world, false, NOON), LOG_BOUNDARY_NEVER);
	assert_int_equal(boundary(&world, true, NOON + 1), NOON + SECOND_NS);
	world_end(&world);
}

static void
the_boundary_is_when_a_log_was_first_read(void **state)
{
	struct world world;

	world_begin(&world);
	run_mail(&world);
	assert_int_equal(boundary(&world, false, NOON), LOG_BOUNDARY_NEVER);
	assert_int_equal(boundary(&world, true, NOON + 1), NOON + SECOND_NS);
	assert_int_equal(
	    boundary(&world, true, NOON + 90 * SECOND_NS), NOON + SECOND_NS);
	world_close(&world);
	world_open(&world);
	assert_int_equal(
	    boundary(&world, true, NOON + 95 * SECOND_NS), NOON + SECOND_NS);
	assert_int_equal(
	    boundary(&world, false, NOON + 97 * SECOND_NS), LOG_BOUNDARY_NEVER);
	assert_int_equal(boundary(&world, true, NOON + 99 * SECOND_NS),
	    NOON + 100 * SECOND_NS);
	world_end(&world);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(from_the_first_a_log_counts_alone),
	    cmocka_unit_test(the_boundary_is_when_a_log_was_first_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

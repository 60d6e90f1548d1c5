/* SPDX-License-Identifier: BSD-2-Clause */
/* How much room is left on a disk. */
#include "base/disk.h"

#include <errno.h>

#include "tests/lib/unit.h"

static void
some_is_left(void **state)
{
	assert_true(disk_available_bytes("/") >= 0);
}

/* /proc holds nothing and has room for nothing. */
static void
none_is_left(void **state)
{
	assert_int_equal(disk_available_bytes("/proc"), 0);
}

static void
what_is_not_there_has_no_room(void **state)
{
	assert_int_equal(disk_available_bytes("/nonexistent"), -1);
	assert_int_equal(errno, ENOENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(some_is_left),
	    cmocka_unit_test(none_is_left),
	    cmocka_unit_test(what_is_not_there_has_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The sentence of a failure. */
#include "base/reason.h"

#include <errno.h>
#include <string.h>

#include "tests/lib/unit.h"

static void
a_reason_is_formatted_and_minus_one_returned(void **state)
{
	struct reason reason;

	errno = EAGAIN;
	assert_int_equal(reason_set(&reason, "%s:%d", "file", 7), -1);
	assert_string_equal(reason.text, "file:7");
	assert_int_equal(errno, EAGAIN);
}

static void
the_text_of_errno_stands_behind_it(void **state)
{
	struct reason reason;

	errno = ENOENT;
	assert_int_equal(reason_set_errno(&reason, "open %s", "x"), -1);
	assert_string_equal(reason.text, "open x: No such file or directory");
	assert_int_equal(errno, ENOENT);
}

static void
nobody_needs_to_ask(void **state)
{
	assert_int_equal(reason_set(NULL, "%s", "x"), -1);
	assert_int_equal(reason_set_errno(NULL, "%s", "x"), -1);
}

static void
a_long_reason_is_cut(void **state)
{
	struct reason reason;
	char text[2000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	reason_set(&reason, "%s", text);
	assert_int_equal(strlen(reason.text), sizeof(reason.text) - 1);
	errno = ENOENT;
	reason_set_errno(&reason, "%s", text);
	assert_int_equal(strlen(reason.text), sizeof(reason.text) - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_reason_is_formatted_and_minus_one_returned),
	    cmocka_unit_test(the_text_of_errno_stands_behind_it),
	    cmocka_unit_test(nobody_needs_to_ask),
	    cmocka_unit_test(a_long_reason_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

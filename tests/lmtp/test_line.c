/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines cut off the front of bytes. */
#include "lmtp/line.h"

#include <string.h>

#include "tests/lib/unit.h"

static void
a_line_ends_with_lf_and_perhaps_cr(void **state)
{
	static const struct {
		const char *bytes;
		size_t size, total;
	} rows[] = {{"a\r\nb", 1, 3}, {"a\n", 1, 2}, {"\r\n", 0, 2},
	    {"\n", 0, 1}, {"a\r\r\n", 2, 4}, {"a\rb\n", 3, 4}};
	struct line line;

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *bytes = rows[i].bytes;

		assert_row(i,
		    line_take(bytes, strlen(bytes), 100, &line) == LINE_WHOLE);
		assert_row(i, line.text == bytes);
		assert_row(i, line.size == rows[i].size);
		assert_row(i, line.total == rows[i].total);
	}
}

static void
a_line_without_end_is_partial_until_the_limit(void **state)
{
	struct line line;

	assert_int_equal(line_take("abc", 0, 3, &line), LINE_PARTIAL);
	assert_int_equal(line_take("abc", 2, 3, &line), LINE_PARTIAL);
	assert_int_equal(line_take("abc", 3, 3, &line), LINE_TOO_LONG);
	assert_int_equal(line_take("ab\n", 3, 3, &line), LINE_WHOLE);
	assert_int_equal(line_take("abc\n", 4, 3, &line), LINE_TOO_LONG);
}

static void
a_nul_is_a_byte_like_others(void **state)
{
	struct line line;

	assert_int_equal(line_take("a\0b\r\n", 5, 9, &line), LINE_WHOLE);
	assert_int_equal(line.size, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_line_ends_with_lf_and_perhaps_cr),
	    cmocka_unit_test(a_line_without_end_is_partial_until_the_limit),
	    cmocka_unit_test(a_nul_is_a_byte_like_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

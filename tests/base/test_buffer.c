/* SPDX-License-Identifier: BSD-2-Clause */
/* Growing bytes with a sticky error. */
#include "base/buffer.h"

#include <string.h>

#include "tests/lib/unit.h"

static void
bytes_text_and_formats_are_appended(void **state)
{
	struct buffer buffer = {.limit = 0};

	buffer_append(&buffer, "a\0b", 3);
	buffer_append(&buffer, NULL, 0);
	buffer_append_string(&buffer, "text");
	buffer_append_format(&buffer, "%d-%s", 42, "x");
	assert_int_equal(buffer.size, 11);
	assert_memory_equal(buffer.data, "a\0btext42-x", 11);
	assert_false(buffer.failed);
	buffer_free(&buffer);
	assert_null(buffer.data);
}

static void
it_grows_by_any_step(void **state)
{
	struct buffer buffer = {.limit = 0};

	for (int i = 0; i < 10000; i++)
		buffer_append_format(&buffer, "%d,", i % 10);
	assert_int_equal(buffer.size, 20000);
	for (size_t i = 0; i < buffer.size; i += 2)
		assert_int_equal(buffer.data[i], '0' + i / 2 % 10);
	buffer_free(&buffer);
}

static void
a_format_may_fill_the_limit_exactly(void **state)
{
	struct buffer buffer = {.limit = 256};
	char text[257];

	memset(text, 'x', 256);
	text[256] = '\0';
	buffer_append_format(&buffer, "%s", text);
	assert_int_equal(buffer.size, 256);
	assert_false(buffer.failed);
	buffer_append_format(&buffer, "%s", "");
	assert_false(buffer.failed);
	buffer_append_format(&buffer, "%s", "y");
	assert_true(buffer.failed);
	assert_int_equal(buffer.size, 256);
	buffer_free(&buffer);
}

static void
an_error_sticks_until_cleared(void **state)
{
	struct buffer buffer = {.limit = 10};

	buffer_append(&buffer, "123456", 6);
	buffer_append(&buffer, "12345", 5);
	assert_true(buffer.failed);
	buffer_append(&buffer, "1", 1);
	assert_int_equal(buffer.size, 6);
	assert_null(buffer_reserve(&buffer, 1));
	buffer_clear(&buffer);
	assert_false(buffer.failed);
	assert_int_equal(buffer.size, 0);
	assert_non_null(buffer_reserve(&buffer, 10));
	buffer_free(&buffer);
}

static void
impossible_sizes_fail(void **state)
{
	struct buffer buffer = {.limit = 0};

	buffer_append_string(&buffer, "x");
	assert_null(buffer_reserve(&buffer, SIZE_MAX));
	assert_true(buffer.failed);
	buffer_clear(&buffer);
	assert_null(buffer_reserve(&buffer, SIZE_MAX / 3));
	assert_true(buffer.failed);
	buffer_free(&buffer);
}

static void
bytes_are_consumed_from_the_front(void **state)
{
	struct buffer buffer = {.limit = 0};

	buffer_consume(&buffer, 5);
	buffer_append_string(&buffer, "abcdef");
	buffer_consume(&buffer, 0);
	buffer_consume(&buffer, 2);
	assert_int_equal(buffer.size, 4);
	assert_memory_equal(buffer.data, "cdef", 4);
	buffer_consume(&buffer, 100);
	assert_int_equal(buffer.size, 0);
	buffer_free(&buffer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bytes_text_and_formats_are_appended),
	    cmocka_unit_test(it_grows_by_any_step),
	    cmocka_unit_test(a_format_may_fill_the_limit_exactly),
	    cmocka_unit_test(an_error_sticks_until_cleared),
	    cmocka_unit_test(impossible_sizes_fail),
	    cmocka_unit_test(bytes_are_consumed_from_the_front),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Header values as both producers record them. */
#include "proto/header_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
unfolds_and_trims(void **state)
{
	static const struct {
		const char *value;
		const char *text;
	} cases[] = {
	    {"<a@b>", "<a@b>"},
	    {" \t<a@b> \r\n", "<a@b>"},
	    {"\r\n\t<a@b>", "<a@b>"},
	    {"one\n two\r\n\t three", "one two three"},
	    {"", ""},
	    {" \n ", ""},
	};
	char text[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t length = header_value_unfold(
		    cases[i].value, strlen(cases[i].value), text, sizeof(text));
		assert_string_equal(text, cases[i].text);
		assert_int_equal(length, strlen(text));
	}
}

static void
writes_nul_bytes_as_question_marks(void **state)
{
	char text[16];

	assert_int_equal(header_value_unfold("a\0b", 3, text, sizeof(text)), 3);
	assert_string_equal(text, "a?b");
}

static void
cuts_to_the_room_there_is(void **state)
{
	char text[6];

	header_value_unfold("abcdefgh", 8, text, sizeof(text));
	assert_string_equal(text, "abcde");
	/* The space that would be last is not written. */
	header_value_unfold("abcd efgh", 9, text, sizeof(text));
	assert_string_equal(text, "abcd");
	header_value_unfold("abc efgh", 8, text, sizeof(text));
	assert_string_equal(text, "abc e");
	header_value_unfold("abc", 3, text, 1);
	assert_string_equal(text, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(unfolds_and_trims),
	    cmocka_unit_test(writes_nul_bytes_as_question_marks),
	    cmocka_unit_test(cuts_to_the_room_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Text from outside made harmless. */
#include "base/text.h"

#include <string.h>

#include "tests/lib/unit.h"

static void
what_is_not_utf_8_or_controls_becomes_a_question_mark(void **state)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
	    {"", ""},
	    {"plain text", "plain text"},
	    {"a\r\nb\tc\x1b[0m\x7f", "a??b?c?[0m?"},
	    {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
	    {"\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80"},
	    {"\xc2\x80\xc2\x9f\xc2\xa0", "????\xc2\xa0"},
	    {"\xff\xfe", "??"},
	    {"\x80\xbf", "??"},
	    {"\xc3", "?"},
	    {"\xc3(", "?("},
	    {"\xe2\x82", "??"},
	    {"\xe2\x82x", "??x"},
	    {"\xf0\x9f\x98", "???"},
	    {"\xc0\xaf", "??"},
	    {"\xc1\xbf", "??"},
	    {"\xe0\x9f\xbf", "???"},
	    {"\xed\xa0\x80", "???"},
	    {"\xed\x9f\xbf", "\xed\x9f\xbf"},
	    {"\xf0\x8f\xbf\xbf", "????"},
	    {"\xf4\x90\x80\x80", "????"},
	    {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
	    {"\xf5\x80\x80\x80", "????"},
	    {"\xe2\x82\xc3\xbc", "??\xc3\xbc"},
	};
	char text[32];

	for (size_t i = 0; i < COUNT(rows); i++) {
		strcpy(text, rows[i].text);
		text_sanitize(text, strlen(text));
		assert_row_string(i, text, rows[i].wanted);
	}
}

static void
a_nul_within_is_a_control_character(void **state)
{
	char text[] = "a\0b";

	text_sanitize(text, 3);
	assert_string_equal(text, "a?b");
}

static void
no_byte_behind_the_size_is_looked_at(void **state)
{
	char text[] = "\xe2\x82\xac";

	text_sanitize(text, 2);
	assert_memory_equal(text, "??\xac", 3);
	assert_int_equal(text_character(text, 0), 0);
}

static void
text_is_cut_between_characters(void **state)
{
	const char *text = "a\xe2\x82\xac\xc3\xbc";
	static const size_t wanted[] = {0, 1, 1, 1, 4, 4, 6, 6};

	for (size_t limit = 0; limit < COUNT(wanted); limit++)
		assert_row(limit,
		    text_cut(text, strlen(text), limit) == wanted[limit]);
}

static void
hexadecimal_digits_have_values(void **state)
{
	static const char digits[] = "0123456789abcdef";
	static const char others[] = "/:@GZ`g\0\x80";

	for (int i = 0; i < 16; i++)
		assert_int_equal(text_hex_value(digits[i]), i);
	for (char digit = 'A'; digit <= 'F'; digit++)
		assert_int_equal(text_hex_value(digit), digit - 'A' + 10);
	for (size_t i = 0; i < sizeof(others); i++)
		assert_row(i, text_hex_value(others[i]) == -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		what_is_not_utf_8_or_controls_becomes_a_question_mark),
	    cmocka_unit_test(a_nul_within_is_a_control_character),
	    cmocka_unit_test(no_byte_behind_the_size_is_looked_at),
	    cmocka_unit_test(text_is_cut_between_characters),
	    cmocka_unit_test(hexadecimal_digits_have_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Times as people say them, at the edges of each form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/duration_text.h"

#define US INT64_C(1000)
#define MS (1000 * US)
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static const struct {
	int64_t ns;
	const char *text;
} cases[] = {
    {0, "0 us"},
    {499, "0 us"},
    {500, "1 us"},
    {412 * US, "412 us"},
    {999 * US + 499, "999 us"},
    {999 * US + 500, "1.0 ms"},
    {3200 * US, "3.2 ms"},
    {99949 * US, "99.9 ms"},
    {99950 * US, "100 ms"},
    {999 * MS + 499 * US, "999 ms"},
    {999 * MS + 500 * US, "1.00 s"},
    {1480 * MS, "1.48 s"},
    {9994 * MS, "9.99 s"},
    {9995 * MS, "10.0 s"},
    {59949 * MS, "59.9 s"},
    {59950 * MS, "1 m 00 s"},
    {125 * SECOND, "2 m 05 s"},
    {59 * MINUTE + 59 * SECOND + 499 * MS, "59 m 59 s"},
    {59 * MINUTE + 59 * SECOND + 500 * MS, "1 h 00 m"},
    {3 * HOUR + 12 * MINUTE, "3 h 12 m"},
    {23 * HOUR + 59 * MINUTE + 29 * SECOND, "23 h 59 m"},
    {23 * HOUR + 59 * MINUTE + 30 * SECOND, "1 d 00 h"},
    {4 * DAY + 3 * HOUR, "4 d 03 h"},
    {INT64_MAX, "106752 d 00 h"},
    {-1480 * MS, "-1.48 s"},
    {INT64_MIN, "-106752 d 00 h"},
};

static void
each_size_has_its_form(void **state)
{
	char text[DURATION_TEXT_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		duration_text(cases[i].ns, false, text);
		assert_string_equal(text, cases[i].text);
	}
}

static void
a_micro_sign_where_there_is_utf8(void **state)
{
	char text[DURATION_TEXT_SIZE];

	duration_text(412 * US, true, text);
	assert_string_equal(text, "412 \xc2\xb5s");
}

static void
an_offset_has_a_sign_unless_it_is_nothing(void **state)
{
	char text[DURATION_TEXT_SIZE];

	offset_text(0, false, text);
	assert_string_equal(text, "0");
	offset_text(1480 * MS, false, text);
	assert_string_equal(text, "+1.48 s");
	offset_text(-3200 * US, false, text);
	assert_string_equal(text, "-3.2 ms");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_size_has_its_form),
	    cmocka_unit_test(a_micro_sign_where_there_is_utf8),
	    cmocka_unit_test(an_offset_has_a_sign_unless_it_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The milter's own checks of its options. */
#include "milter/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/reason.h"

/* Loads and checks one configuration. */
static int
check(const char *text, struct reason *reason)
{
	struct milter_settings settings = {.socket = NULL};
	struct config_section section = milter_section(&settings);
	int result = config_parse("test", text, &section, 1, reason);

	if (result == 0)
		result = milter_settings_check(&settings, reason);
	config_free(&section, 1);
	return result;
}

static void
defaults_are_good(void **state)
{
	struct milter_settings settings = {.socket = NULL};
	struct config_section section = milter_section(&settings);
	struct session_settings session;
	struct reason reason;

	assert_int_equal(config_parse("test", "", &section, 1, &reason), 0);
	assert_int_equal(milter_settings_check(&settings, &reason), 0);
	assert_int_equal(milter_socket_mode(&settings), 0660);
	session = milter_session(&settings);
	assert_string_equal(session.stamp_name, "X-Perf-Sent");
	assert_int_equal(session.recipients_max, 10000);
	assert_int_equal(session.memory_bytes, 2 << 20);
	config_free(&section, 1);
}

static void
names_the_option_that_is_wrong(void **state)
{
	static const struct {
		const char *text;
		const char *named;
	} cases[] = {
	    {"header =\n", "header"},
	    {"header = X Perf\n", "header"},
	    {"header = X-Perf:\n", "header"},
	    {"header = "
	     "X-1234567890123456789012345678901234567890123456789\n",
		"header"},
	    {"socket_mode = rw\n", "socket_mode"},
	    {"socket_mode = 0668\n", "socket_mode"},
	    {"socket_mode = 2660\n", "socket_mode"},
	    {"trusted_reinjectors = 127.0.0.1/8\n", "trusted_reinjectors"},
	    {"source = ../x\n", "source"},
	    {"max_recipients = 0\n", "max_recipients"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[200] = "[milter]\n";
		struct reason reason = {""};

		strcat(text, cases[i].text);
		assert_int_equal(check(text, &reason), -1);
		assert_non_null(strstr(reason.text, cases[i].named));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(defaults_are_good),
	    cmocka_unit_test(names_the_option_that_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

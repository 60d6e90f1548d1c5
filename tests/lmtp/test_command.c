/* SPDX-License-Identifier: BSD-2-Clause */
/* Verbs, addresses, XFORWARD. */
#include "lmtp/command.h"

#include <string.h>

#include "lmtp/line.h"
#include "tests/lib/unit.h"

static struct line
line_of(const char *text)
{
	return (struct line){text, strlen(text), strlen(text)};
}

static void
verbs_are_known_in_either_case_as_far_as_a_blank(void **state)
{
	static const struct {
		const char *text;
		enum command_verb verb;
	} rows[] = {{"MAIL FROM:<>", COMMAND_MAIL}, {"mail", COMMAND_MAIL},
	    {"Rcpt\tTO:<a>", COMMAND_RCPT}, {"DATA", COMMAND_DATA},
	    {"data ", COMMAND_DATA}, {"RSET", COMMAND_RSET},
	    {"QUIT", COMMAND_QUIT}, {"LHLO x", COMMAND_LHLO},
	    {"EHLO x", COMMAND_LHLO}, {"HELO x", COMMAND_LHLO},
	    {"XFORWARD IDENT=A", COMMAND_XFORWARD}, {"NOOP", COMMAND_OTHER},
	    {"VRFY a", COMMAND_OTHER}, {"", COMMAND_OTHER},
	    {" DATA", COMMAND_OTHER}, {"DATA\r", COMMAND_OTHER},
	    {"DATAX", COMMAND_OTHER}, {"DAT", COMMAND_OTHER},
	    {"BDAT 3 LAST", COMMAND_REFUSED}, {"starttls", COMMAND_REFUSED},
	    {"AUTH PLAIN", COMMAND_REFUSED},
	    {"XCLIENT ADDR=1", COMMAND_REFUSED}, {"BURL x", COMMAND_REFUSED}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct line line = line_of(rows[i].text);

		assert_row(i, command_verb(&line) == rows[i].verb);
	}
}

static void
addresses_stand_in_angle_brackets(void **state)
{
	static const struct {
		const char *text;
		int result;
		const char *address;
	} rows[] = {{"MAIL FROM:<a@b.test> SIZE=3", 0, "a@b.test"},
	    {"MAIL FROM:<>", 0, ""}, {"RCPT TO: <a@b>", 0, "a@b"},
	    {"RCPT TO:<\"a>b\\\"c>\"@d>", 0, "\"a>b\\\"c>\"@d"},
	    {"RCPT TO:<a@b", 0, "a@b"}, {"RCPT TO:a@b X=y", 0, "a@b"},
	    {"RCPT TO:", 0, ""}, {"RCPT TO:<", 0, ""},
	    {"RCPT TO:<\"a\\", 0, "\"a\\"}, {"RCPT", -1, ""},
	    {"RCPT TO", -1, ""},
	    {"MAIL FROM:<gr\xc3\xbc@x>", 0, "gr\xc3\xbc@x"}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct line line = line_of(rows[i].text);
		const char *address;
		char copy[64];
		size_t size;

		assert_row(i,
		    command_address(&line, &address, &size) == rows[i].result);
		snprintf(copy, sizeof(copy), "%.*s", (int)size, address);
		assert_row_string(i, copy, rows[i].address);
	}
}

static void
xforward_tells_the_queue_id(void **state)
{
	static const struct {
		const char *text;
		int result;
		const char *ident;
	} rows[] = {{"XFORWARD IDENT=4F5E3A", 1, "4F5E3A"},
	    {"xforward NAME=x ident=A1 SOURCE=REMOTE", 1, "A1"},
	    {"XFORWARD IDENT=A+2B+41", 1, "A+A"},
	    {"XFORWARD IDENT=[UNAVAILABLE]", 0, ""},
	    {"XFORWARD NAME=x ADDR=y", 0, ""}, {"XFORWARD IDENT=", 0, ""},
	    {"XFORWARD", -1, ""}, {"XFORWARD IDENT", -1, ""},
	    {"XFORWARD IDENT=A+2", -1, ""}, {"XFORWARD IDENT=A+zz", -1, ""},
	    {"XFORWARD IDENT=a+00b+0Ac\x7f", 1, "a?b?c?"}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct line line = line_of(rows[i].text);
		char ident[COMMAND_IDENT_SIZE];
		int result = command_xforward_ident(&line, ident);

		assert_row(i, result == rows[i].result);
		if (result >= 0)
			assert_row_string(i, ident, rows[i].ident);
	}
}

static void
a_long_queue_id_is_cut(void **state)
{
	char text[200] = "XFORWARD IDENT=";
	char ident[COMMAND_IDENT_SIZE];
	struct line line;

	memset(text + strlen(text), 'A', 150);
	line = line_of(text);
	assert_int_equal(command_xforward_ident(&line, ident), 1);
	assert_int_equal(strlen(ident), COMMAND_IDENT_SIZE - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(verbs_are_known_in_either_case_as_far_as_a_blank),
	    cmocka_unit_test(addresses_stand_in_angle_brackets),
	    cmocka_unit_test(xforward_tells_the_queue_id),
	    cmocka_unit_test(a_long_queue_id_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

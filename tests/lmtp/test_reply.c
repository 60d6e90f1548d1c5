/* SPDX-License-Identifier: BSD-2-Clause */
/* Where replies end and what is recorded of them. */
#include "lmtp/reply.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/unit.h"

static void
a_reply_ends_where_postfix_ends_it(void **state)
{
	static const struct {
		const char *bytes;
		size_t size; /* 0: partial */
		uint32_t code;
	} rows[] = {{"250 ok\r\n", 8, 250}, {"250 ok\n", 7, 250},
	    {"250\r\n", 5, 250}, {"250 \r\n", 6, 250},
	    {"250-a\r\n250 b\r\n", 14, 250}, {"250-a\r\n550 b\r\n", 14, 550},
	    {"250-a\r\n", 0, 0}, {"250 ok\r", 0, 0}, {"250 ok", 0, 0},
	    {"garbage\r\n250 ok\r\n", 17, 250},
	    {"2500 no\r\n250 ok\r\n", 17, 250},
	    {"250x\r\n\r\n99 z\r\n451 ok\r\n", 22, 451},
	    {"250 a\r\n250 b\r\n", 7, 250}, {"garbage\r\n", 0, 0}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reply_scan scan = {0};
		struct reply reply;
		const char *bytes = rows[i].bytes;
		enum reply_state result =
		    reply_take(&scan, bytes, strlen(bytes), &reply);

		if (rows[i].size == 0) {
			assert_row(i, result == REPLY_PARTIAL);
			continue;
		}
		assert_row(i, result == REPLY_WHOLE);
		assert_row(i, reply.size == rows[i].size);
		assert_row(i, reply.code == rows[i].code);
		assert_row(i, scan.scanned == 0);
	}
}

static void
a_reply_cut_anywhere_is_found_all_the_same(void **state)
{
	const char *bytes = "250-first\r\nodd\r\n250-\r\n250 2.0.0 last\r\n";
	struct reply_scan scan = {0};
	struct reply reply;

	for (size_t size = 1; size < strlen(bytes); size++)
		assert_row(size,
		    reply_take(&scan, bytes, size, &reply) == REPLY_PARTIAL);
	assert_int_equal(
	    reply_take(&scan, bytes, strlen(bytes), &reply), REPLY_WHOLE);
	assert_int_equal(reply.size, strlen(bytes));
}

static void
a_reply_has_a_largest_size(void **state)
{
	size_t size = REPLY_SIZE_MAX + 10;
	char *bytes = malloc(size);
	struct reply_scan scan = {0};
	struct reply reply;

	memset(bytes, 'x', size);
	assert_int_equal(
	    reply_take(&scan, bytes, size, &reply), REPLY_TOO_LONG);
	for (size_t i = 0; i + 8 <= size; i += 8)
		memcpy(bytes + i, "250-ab\r\n", 8);
	scan.scanned = 0;
	assert_int_equal(
	    reply_take(&scan, bytes, size, &reply), REPLY_TOO_LONG);
	memcpy(bytes + REPLY_SIZE_MAX - 8, "250 ab\r\n", 8);
	scan.scanned = 0;
	assert_int_equal(reply_take(&scan, bytes, size, &reply), REPLY_WHOLE);
	assert_int_equal(reply.size, REPLY_SIZE_MAX);
	free(bytes);
}

static void
enhanced_code_and_text_are_told_apart(void **state)
{
	static const struct {
		const char *bytes, *enhanced, *text;
	} rows[] = {{"250 2.1.5 OK\r\n", "2.1.5", "OK"},
	    {"250 2.0.0 <u@x> s:R2 Saved\r\n", "2.0.0", "<u@x> s:R2 Saved"},
	    {"552 5.2.2\r\n", "5.2.2", ""}, {"250 OK\r\n", "", "OK"},
	    {"250\r\n", "", ""}, {"250 5.1.1 odd\r\n", "", "5.1.1 odd"},
	    {"354 3.0.0 go\r\n", "", "3.0.0 go"},
	    {"550 5.1234.1 x\r\n", "", "5.1234.1 x"},
	    {"550 5.123.999 x\r\n", "5.123.999", "x"},
	    {"550 5.1 x\r\n", "", "5.1 x"}, {"550 5.1.1x\r\n", "", "5.1.1x"},
	    {"450-4.2.0 a\r\n450 4.2.0 b\r\n", "4.2.0", "a\nb"},
	    {"450-4.2.0 a\r\nodd\r\n450 b\r\n", "4.2.0", "a\nodd\nb"}};
	struct reply_description description;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reply_scan scan = {0};
		struct reply reply;
		const char *bytes = rows[i].bytes;

		assert_row(i, reply_take(&scan, bytes, strlen(bytes), &reply) ==
				  REPLY_WHOLE);
		reply_describe(&reply, &description);
		assert_row(i, description.code == reply.code);
		assert_row_string(i, description.enhanced, rows[i].enhanced);
		assert_row_string(i, description.text, rows[i].text);
	}
}

static void
a_long_text_is_cut(void **state)
{
	char bytes[2000] = "250 2.0.0 ";
	struct reply_description description;
	struct reply reply = {bytes, sizeof(bytes), 250};

	memset(bytes + 10, 'x', sizeof(bytes) - 12);
	memcpy(bytes + sizeof(bytes) - 2, "\r\n", 2);
	reply_describe(&reply, &description);
	assert_int_equal(strlen(description.text), REPLY_TEXT_SIZE - 1);
	assert_string_equal(description.enhanced, "2.0.0");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_reply_ends_where_postfix_ends_it),
	    cmocka_unit_test(a_reply_cut_anywhere_is_found_all_the_same),
	    cmocka_unit_test(a_reply_has_a_largest_size),
	    cmocka_unit_test(enhanced_code_and_text_are_told_apart),
	    cmocka_unit_test(a_long_text_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

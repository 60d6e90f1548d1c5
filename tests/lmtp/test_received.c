/* SPDX-License-Identifier: BSD-2-Clause */
/* Our own Postfix's Received: told from others'. */
#include "lmtp/received.h"

#include <string.h>

#include "tests/lib/unit.h"

static void
the_queue_id_is_our_own_postfixs(void **state)
{
	static const struct {
		const char *value, *queue_id;
	} rows[] = {
	    {"from c.test (unknown [192.0.2.1])\r\n\tby mx.test (Postfix) with "
	     "ESMTP id 4F5E3A1C\r\n\tfor <u@x>; Mon, 30 Nov 2026",
		"4F5E3A1C"},
	    {"from c.test (c.test [192.0.2.1])\r\n\t(using TLSv1.3 with cipher "
	     "X (256/256 bits)\r\n\t key-exchange Y)\r\n\t(No client "
	     "certificate requested)\r\n\tby mx.test (Postfix) with ESMTPS id "
	     "A1;",
		"A1"},
	    {"by mx.test (Postfix, from userid 0)\r\n\tid B2; Mon", "B2"},
	    {"by MX.Test (Sendmail 8.9) id 4jdJw33vmkz1bgS7;",
		"4jdJw33vmkz1bgS7"},
	    {"from by (by [1]) by mx.test (Postfix) id C3", "C3"},
	    {"from by (x)\r\n by other (Postfix) id D4", ""},
	    {"from x by mx.test with LMTP id E5; Mon", ""},
	    {"by mx.test.evil (Postfix) id F6", ""},
	    {"by mx.tes (Postfix) id F6", ""},
	    {"from x (by mx.test (Postfix) id G7) by other (Postfix) id H8",
		""},
	    {"by mx.test (Postfix) with ESMTP; id I9", ""},
	    {"by mx.test (Postfix) id", ""}, {"by mx.test (Postfix)", ""},
	    {"by mx.test (Postfix) id J-1", ""},
	    {"by mx.test (Postfix) id <x>", ""},
	    {"by mx.test (unclosed \\) id K1", ""},
	    {"by mx.test (a\\)b) (two) id L2 (c)", "L2"},
	    {"by mx.test (P) id 0123456789012345678901234567890123", ""},
	    {"by", ""}, {"from", ""}, {"", ""}, {"(", ""}, {"(\\", ""},
	    {"; id M3", ""}};
	char queue_id[RECEIVED_QUEUE_ID_SIZE];

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *value = rows[i].value;
		int found = received_queue_id(
		    value, strlen(value), "mx.test", queue_id);

		assert_row(i, found == (rows[i].queue_id[0] != '\0'));
		assert_row_string(i, queue_id, rows[i].queue_id);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_queue_id_is_our_own_postfixs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

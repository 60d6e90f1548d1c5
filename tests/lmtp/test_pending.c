/* SPDX-License-Identifier: BSD-2-Clause */
/* Outstanding replies, in order. */
#include "lmtp/pending.h"

#include <string.h>

#include "tests/lib/unit.h"

static void
order_is_kept_around_the_ring(void **state)
{
	struct pending pending = {.count = 0};

	for (int round = 0; round < 3 * PENDING_MAX; round++) {
		pending_push(&pending, PENDING_MAIL);
		pending_push(&pending, PENDING_RECIPIENT);
		assert_int_equal(pending_first(&pending), PENDING_MAIL);
		pending_shift(&pending);
		assert_int_equal(pending_first(&pending), PENDING_RECIPIENT);
		pending_shift(&pending);
	}
	assert_int_equal(pending.count, 0);
}

static void
it_is_full_at_its_size(void **state)
{
	struct pending pending = {.count = 0};

	for (int i = 0; i < PENDING_MAX; i++) {
		assert_false(pending_is_full(&pending));
		pending_push(&pending, PENDING_OTHER);
	}
	assert_true(pending_is_full(&pending));
}

static void
own_replies_are_whole_lines_that_begin_with_a_code(void **state)
{
	for (int kind = PENDING_GREETING; kind <= PENDING_IN_TRANSACTION;
	     kind++) {
		const char *reply = pending_own_reply((enum pending_kind)kind);

		assert_row(kind, (reply == NULL) == (kind < PENDING_OK));
		if (reply != NULL) {
			assert_row(kind, reply[3] == ' ');
			assert_row(kind,
			    strcmp(reply + strlen(reply) - 2, "\r\n") == 0);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(order_is_kept_around_the_ring),
	    cmocka_unit_test(it_is_full_at_its_size),
	    cmocka_unit_test(
		own_replies_are_whole_lines_that_begin_with_a_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

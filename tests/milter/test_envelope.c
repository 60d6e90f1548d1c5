/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths and parameters of MAIL FROM and RCPT TO. */
#include "milter/envelope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
assert_address(char *argument, const char *expected)
{
	char *arguments[] = {argument, NULL};
	size_t size;
	const char *address = envelope_address(arguments, &size);

	assert_int_equal(size, strlen(expected));
	assert_memory_equal(address, expected, size);
}

static void
takes_the_address_out_of_its_brackets(void **state)
{
	char bracketed[] = "<a@example.com>", bare[] = "a@example.com",
	     null_sender[] = "<>", empty[] = "", open[] = "<", half[] = "<a",
	     quoted[] = "<\"a>b\"@example.com>";

	assert_address(bracketed, "a@example.com");
	assert_address(bare, "a@example.com");
	assert_address(null_sender, "");
	assert_address(empty, "");
	assert_address(open, "<");
	assert_address(half, "<a");
	assert_address(quoted, "\"a>b\"@example.com");
	assert_address(NULL, "");
}

static uint64_t
declared(char *parameter)
{
	char address[] = "<>", body[] = "BODY=8BITMIME";
	char *arguments[] = {address, body, parameter, NULL};

	return envelope_declared_bytes(arguments);
}

static void
reads_the_declared_size(void **state)
{
	char size[] = "SIZE=1234", lower[] = "size=5",
	     largest[] = "SIZE=18446744073709551615",
	     too_large[] = "SIZE=18446744073709551616",
	     too_long[] = "SIZE=000000000000000000001",
	     none[] = "SIZE=", negative[] = "SIZE=-1", letters[] = "SIZE=1k",
	     other[] = "RET=HDRS";
	char *nothing[] = {NULL};

	assert_int_equal(declared(size), 1234);
	assert_int_equal(declared(lower), 5);
	assert_true(declared(largest) == UINT64_MAX);
	assert_int_equal(declared(too_large), 0);
	assert_int_equal(declared(too_long), 0);
	assert_int_equal(declared(none), 0);
	assert_int_equal(declared(negative), 0);
	assert_int_equal(declared(letters), 0);
	assert_int_equal(declared(other), 0);
	assert_int_equal(declared(NULL), 0);
	assert_int_equal(envelope_declared_bytes(nothing), 0);
}

static void
tells_refused_recipients_from_the_error_transport(void **state)
{
	char address[] = "<a@example.com>";
	char *arguments[] = {address, NULL};
	const struct envelope_verdict accepted = {"lmtp", "unix:private/x",
					  "a@example.com"},
				      refused = {"error", "5.1.1",
					  "<a@example.com>: User unknown"},
				      bare = {"error", NULL, NULL},
				      error_transport = {"error", "5.1.1 gone",
					  "a@example.com"},
				      none = {NULL, NULL, NULL};

	assert_false(envelope_is_rejected(arguments, &accepted));
	assert_true(envelope_is_rejected(arguments, &refused));
	assert_true(envelope_is_rejected(arguments, &bare));
	assert_false(envelope_is_rejected(arguments, &error_transport));
	assert_false(envelope_is_rejected(arguments, &none));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(takes_the_address_out_of_its_brackets),
	    cmocka_unit_test(reads_the_declared_size),
	    cmocka_unit_test(tells_refused_recipients_from_the_error_transport),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

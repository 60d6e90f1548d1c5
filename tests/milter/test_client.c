/* SPDX-License-Identifier: BSD-2-Clause */
/* What the milter's macros say of the client. */
#include "milter/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>

static struct client
describe_inet(const char *name, const char *address, uint16_t port)
{
	struct sockaddr_in inet = {
	    .sin_family = AF_INET, .sin_port = htons(port)};
	struct client client;

	assert_int_equal(inet_pton(AF_INET, address, &inet.sin_addr), 1);
	client_describe(name, (const struct sockaddr *)&inet, &client);
	return client;
}

static struct client
describe_inet6(const char *name, const char *address, uint16_t port)
{
	struct sockaddr_in6 inet = {
	    .sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct client client;

	assert_int_equal(inet_pton(AF_INET6, address, &inet.sin6_addr), 1);
	client_describe(name, (const struct sockaddr *)&inet, &client);
	return client;
}

static void
writes_ipv4_and_ipv6_addresses(void **state)
{
	struct client client = describe_inet("a.example", "192.0.2.1", 4711);

	assert_string_equal(client.name, "a.example");
	assert_string_equal(client.address, "192.0.2.1");
	assert_int_equal(client.port, 4711);
	assert_false(client.non_smtp);
	client = describe_inet6("[2001:db8::1]", "2001:db8::1", 1);
	assert_string_equal(client.name, "unknown");
	assert_string_equal(client.address, "2001:db8::1");
}

/* Case 55. */
static void
writes_mapped_addresses_as_ipv4(void **state)
{
	struct client client = describe_inet6("x", "::ffff:192.0.2.1", 1);

	assert_string_equal(client.address, "192.0.2.1");
}

static void
an_unknown_client_has_no_address(void **state)
{
	struct sockaddr other = {.sa_family = AF_UNIX};
	struct client client;

	client_describe(NULL, NULL, &client);
	assert_string_equal(client.name, "");
	assert_string_equal(client.address, "");
	assert_int_equal(client.port, 0);
	client_describe("localhost", &other, &client);
	assert_string_equal(client.address, "");
	assert_false(client.non_smtp);
}

static void
knows_mail_that_did_not_come_by_smtp(void **state)
{
	assert_true(describe_inet("localhost", "127.0.0.1", 0).non_smtp);
	assert_true(describe_inet6("localhost", "::1", 0).non_smtp);
	assert_false(describe_inet("localhost", "127.0.0.1", 1).non_smtp);
	assert_false(describe_inet("localhost", "192.0.2.1", 0).non_smtp);
	assert_false(describe_inet("unknown", "127.0.0.1", 0).non_smtp);
}

static void
cuts_a_name_that_is_too_long(void **state)
{
	char name[1000];
	struct client client;

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	client_describe(name, NULL, &client);
	assert_int_equal(strlen(client.name), sizeof(client.name) - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(writes_ipv4_and_ipv6_addresses),
	    cmocka_unit_test(writes_mapped_addresses_as_ipv4),
	    cmocka_unit_test(an_unknown_client_has_no_address),
	    cmocka_unit_test(knows_mail_that_did_not_come_by_smtp),
	    cmocka_unit_test(cuts_a_name_that_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

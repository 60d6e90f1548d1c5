/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose incoming stamps are believed. */
#include "milter/trusted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/reason.h"
#include "milter/client.h"

static bool
list_has(const char *list, const char *address)
{
	struct trusted trusted;
	struct client client = {.port = 25};
	struct reason reason;

	assert_int_equal(trusted_parse(list, &trusted, &reason), 0);
	snprintf(client.address, sizeof(client.address), "%s", address);
	return trusted_contains(&trusted, &client);
}

static void
finds_addresses_in_networks(void **state)
{
	static const struct {
		const char *list;
		const char *address;
		bool contained;
	} cases[] = {
	    {"127.0.0.0/8 [::1]/128", "127.0.0.1", true},
	    {"127.0.0.0/8 [::1]/128", "127.255.255.255", true},
	    {"127.0.0.0/8 [::1]/128", "128.0.0.1", false},
	    {"127.0.0.0/8 [::1]/128", "::1", true},
	    {"127.0.0.0/8 [::1]/128", "::2", false},
	    {"192.0.2.7", "192.0.2.7", true},
	    {"192.0.2.7", "192.0.2.6", false},
	    {"192.0.2.128/25", "192.0.2.127", false},
	    {"192.0.2.128/25", "192.0.2.128", true},
	    {"192.0.2.6/31,2001:db8::/33", "192.0.2.7", true},
	    {"192.0.2.6/31,2001:db8::/33", "2001:db8:7fff::1", true},
	    {"192.0.2.6/31,2001:db8::/33", "2001:db8:8000::1", false},
	    {"0.0.0.0/0", "192.0.2.1", true},
	    {"0.0.0.0/0", "2001:db8::1", false},
	    {"::/0", "192.0.2.1", true},
	    {"::/0", "2001:db8::1", true},
	    {"192.0.2.0/24", "::ffff:192.0.2.9", true},
	    {"0.0.0.0/0 ::/0", "", false},
	    {"", "127.0.0.1", false},
	    {"non-smtp", "127.0.0.1", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (list_has(cases[i].list, cases[i].address) !=
		    cases[i].contained)
			fail_msg(
			    "%s in \"%s\"", cases[i].address, cases[i].list);
}

static void
trusts_non_smtp_mail_by_its_word_only(void **state)
{
	struct client client = {.address = "127.0.0.1", .non_smtp = true};
	struct trusted trusted;

	assert_int_equal(trusted_parse("127.0.0.0/8", &trusted, NULL), 0);
	assert_false(trusted_contains(&trusted, &client));
	assert_int_equal(trusted_parse(" ,non-smtp ", &trusted, NULL), 0);
	assert_true(trusted_contains(&trusted, &client));
}

static void
names_the_item_it_cannot_read(void **state)
{
	static const char *const items[] = {
	    "mail.example.com",
	    "192.0.2.0/33",
	    "192.0.2.0/",
	    "192.0.2.0/x",
	    "192.0.2.0/-1",
	    "192.0.2.1/24",
	    "2001:db8::/129",
	    "2001:db8::1/64",
	    "[]/8",
	    "[::1",
	    "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:000/1",
	};
	struct trusted trusted;
	struct reason reason;
	char list[128];

	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		snprintf(list, sizeof(list), "127.0.0.1 %s ::1", items[i]);
		assert_int_equal(trusted_parse(list, &trusted, &reason), -1);
		assert_non_null(strstr(reason.text, items[i]));
	}
}

static void
refuses_more_networks_than_it_holds(void **state)
{
	char list[10 * (TRUSTED_NETWORKS_MAX + 1) + 1] = "";
	struct trusted trusted;

	for (int i = 0; i < TRUSTED_NETWORKS_MAX; i++)
		strcat(list, "192.0.2.1 ");
	assert_int_equal(trusted_parse(list, &trusted, NULL), 0);
	strcat(list, "192.0.2.1");
	assert_int_equal(trusted_parse(list, &trusted, NULL), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(finds_addresses_in_networks),
	    cmocka_unit_test(trusts_non_smtp_mail_by_its_word_only),
	    cmocka_unit_test(names_the_item_it_cannot_read),
	    cmocka_unit_test(refuses_more_networks_than_it_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Which way mail went (case 19). */
#include "store/route.h"

#include "tests/lib/unit.h"

static const struct {
	const char *sasl_user, *client_address;
	bool comes_back; /* from a filter or a forward */
	bool is_submitted;
} events[] = {
    {NULL, "192.0.2.1", false, false},
    {NULL, "2001:db8::1", false, false},
    {"", "192.0.2.1", false, false},
    {NULL, NULL, false, false},
    {NULL, "", false, false},
    {"alice", "192.0.2.1", false, true},
    {"alice", NULL, true, true},
    {NULL, "127.0.0.1", false, true},
    {NULL, "127.0.0.1", true, false},
    {NULL, "::1", false, true},
    {NULL, "::ffff:127.0.0.2", false, true},
    {NULL, "::ffff:192.0.2.1", false, false},
    {NULL, "::12", false, false},
    {NULL, "12.7.0.1", false, false},
};

static void
who_submits(void **state)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct message_event event = {
		    .sasl_user = events[i].sasl_user,
		    .client_address = events[i].client_address,
		};

		if (events[i].comes_back)
			event.previous = uuid_new(1);
		if (route_is_submitted(&event) != events[i].is_submitted)
			fail_msg("row %zu", i);
	}
}

static void
each_way_has_a_name(void **state)
{
	assert_string_equal(
	    route_name(route_of(false, RECIPIENT_DELIVERED)), "inbound");
	assert_string_equal(
	    route_name(route_of(true, RECIPIENT_DELIVERED)), "internal");
	assert_string_equal(
	    route_name(route_of(true, RECIPIENT_RELAYED)), "outbound");
	assert_string_equal(
	    route_name(route_of(false, RECIPIENT_RELAYED)), "transit");
	for (int i = 0; i < RECIPIENT_STATES; i++)
		if (i != RECIPIENT_DELIVERED && i != RECIPIENT_RELAYED)
			assert_null(route_name(
			    route_of(true, (enum recipient_state)i)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(who_submits),
	    cmocka_unit_test(each_way_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

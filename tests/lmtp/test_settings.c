/* SPDX-License-Identifier: BSD-2-Clause */
/* The section [lmtp] and what its table cannot check. */
#include "lmtp/settings.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/reason.h"
#include "tests/lib/unit.h"

static struct lmtp_settings settings;

/* Reads `text` as the section; returns what the check says. */
static int
check(const char *text, struct reason *reason)
{
	struct config_section section = lmtp_section(&settings);
	char file[1000];
	int result;

	snprintf(file, sizeof(file), "[lmtp]\n%s\n", text);
	assert_int_equal(config_parse("test", file, &section, 1, reason), 0);
	result = lmtp_settings_check(&settings, reason);
	return result;
}

static void
forget(void)
{
	struct config_section section = lmtp_section(&settings);

	config_free(&section, 1);
}

static void
the_defaults_fit_postfix(void **state)
{
	char name[256];

	assert_int_equal(check("", NULL), 0);
	assert_string_equal(settings.daemon.user, "postlag-lmtp");
	assert_string_equal(settings.listen, "inet:127.0.0.2:2424");
	/* lmtp_data_done_timeout is 600 s, the packaged lmtp_lhlo_timeout 5 s.
	 */
	assert_true(
	    settings.backend_final_timeout_ns < 600 * CLOCK_NS_PER_SECOND);
	assert_true(
	    settings.backend_connect_timeout_ns < 5 * CLOCK_NS_PER_SECOND);
	/* lmtp_connection_reuse_time_limit is 300 s. */
	assert_true(settings.client_timeout_ns > 300 * CLOCK_NS_PER_SECOND);
	gethostname(name, sizeof(name));
	assert_string_equal(lmtp_host_name(&settings), name);
	assert_int_equal(lmtp_socket_mode(&settings), 0660);
	forget();
}

static void
a_wrong_value_is_named(void **state)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {{"socket_mode = 999", "socket_mode: "},
	    {"socket_mode = 07777", "socket_mode: "}, {"header =", "header: "},
	    {"header = X-Perf:", "header: "}, {"header = X Perf", "header: "},
	    {"socket_mode = 1660", "socket_mode: "},
	    {"listen = nowhere", "listen: "},
	    {"backend = unix:relative", "backend: "},
	    {"source = a/b", "source: "}};
	struct reason reason;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_row(i, check(rows[i].text, &reason) == -1);
		reason.text[strlen(rows[i].wanted)] = '\0';
		assert_row_string(i, reason.text, rows[i].wanted);
		forget();
	}
}

static void
a_host_name_of_its_own_is_used(void **state)
{
	assert_int_equal(check("host_name = mx.test", NULL), 0);
	assert_string_equal(lmtp_host_name(&settings), "mx.test");
	forget();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_defaults_fit_postfix),
	    cmocka_unit_test(a_wrong_value_is_named),
	    cmocka_unit_test(a_host_name_of_its_own_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

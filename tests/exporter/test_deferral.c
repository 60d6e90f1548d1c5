/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why recipients were deferred: once an attempt, by the log where one is read,
 * else by the LMTP server's replies.
 */
#include "exporter/join/deferral.h"

#include "tests/exporter/join_dump.h"

/* What Postfix logs when it has tried u1. */
#define LINE(agent, dsn, status)                                               \
	"L " agent " 10 A00001: to=<u1@example.test>, relay=none, delay=1,"    \
	" delays=0/0/0/1, dsn=" dsn ", status=" status                         \
	" (host r[192.0.2.9] said: x)\n"
/* Of this the hook knows nothing. */
#define REFUSED                                                                \
	"L lmtp 10 A00001: to=<u1@example.test>, relay=none, delay=1,"         \
	" delays=0/0/0/1, dsn=4.4.1, status=deferred"                          \
	" (connect to 127.0.0.1[127.0.0.1]:24: Connection refused)\n"
#define BEGINS                                                                 \
	"M a A00001 u1 u2\n"                                                   \
	"L cleanup 8 A00001: message-id=<1@c.test>\n"                          \
	"L qmgr 9 A00001: from=<sender@example.net>, size=500, nrcpt=2"        \
	" (queue active)\n"

/* How often u1 and u2 were deferred for `reason`, when the log counts from so
 * many seconds after the first step on. */
static unsigned long
count(const char *text, bool reads_log, int seconds, const char *reason)
{
	static struct script script;
	struct buffer totals = {.data = NULL};
	struct world world;
	char label_set[64];
	unsigned long value;

	script_read(&script, text);
	world_begin_reading(&world, reads_log);
	if (reads_log)
		join_read_logs(world.join, world.instances,
		    script.start_wall_ns + seconds * SECOND_NS);
	world_run(&world, &script);
	dump_totals(&world, &totals);
	buffer_append(&totals, "", 1);
	snprintf(label_set, sizeof(label_set), "deferrals_total{reason=\"%s\"}",
	    reason);
	value = dump_value((const char *)totals.data, label_set);
	buffer_free(&totals);
	world_end(&world);
	script_free(&script);
	return value;
}

static void
the_second_number_of_the_enhanced_code_is_the_reason(void **state)
{
	static const struct {
		const char *enhanced;
		enum metric_deferral reason;
	} rows[] = {
	    {"4.0.0", DEFERRAL_OTHER},
	    {"4.1.8", DEFERRAL_ADDRESS},
	    {"4.2.2", DEFERRAL_MAILBOX},
	    {"4.3.0", DEFERRAL_SYSTEM},
	    {"4.4.316", DEFERRAL_NETWORK},
	    {"4.5.3", DEFERRAL_PROTOCOL},
	    {"4.6.1", DEFERRAL_CONTENT},
	    {"4.7.1", DEFERRAL_POLICY},
	    {"4.8.1", DEFERRAL_OTHER},
	    {"4.44.1", DEFERRAL_OTHER},
	    {"4.4", DEFERRAL_OTHER},
	    {"4.4.", DEFERRAL_NETWORK},
	    {"4", DEFERRAL_OTHER},
	    {"451", DEFERRAL_OTHER},
	    {"4.-.1", DEFERRAL_OTHER},
	    {"", DEFERRAL_OTHER},
	    {NULL, DEFERRAL_OTHER},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(i,
		    deferral_reason(maillog_view_of(rows[i].enhanced)) ==
			rows[i].reason);
}

static void
without_a_log_the_servers_replies_count(void **state)
{
	static const char text[] = "M a Q1 u1 u2\n"
				   "D a Q1 u1=451:4.2.2 u2=452:4.3.1\n"
				   "D a Q1 u1=451:4.2.2 u2=250\n"
				   "D a Q1 u1=\n"
				   "D a Q1 u1=/450\n"
				   "D a Q1 u1=550:5.2.2\n"
				   "D - Q2 u3=451:4.2.1\n";

	assert_int_equal(count(text, false, 0, "mailbox"), 3);
	assert_int_equal(count(text, false, 0, "system"), 1);
	assert_int_equal(count(text, false, 0, "other"), 1);
	assert_int_equal(count(text, false, 0, "network"), 0);
}

static void
with_a_log_its_lines_count_whoever_is_next(void **state)
{
	static const char text[] =
	    BEGINS "D a A00001 u1=451:4.2.2 u2=250\n"
	    LINE("lmtp", "4.2.2", "deferred")
	    LINE("error", "4.4.1", "deferred")
	    LINE("smtp", "4.7.1", "deferred")
	    LINE("smtp", "5.7.1", "SOFTBOUNCE")
	    LINE("smtp", "2.0.0", "sent");

	assert_int_equal(count(text, true, -10, "mailbox"), 1);
	assert_int_equal(count(text, true, -10, "network"), 1);
	assert_int_equal(count(text, true, -10, "policy"), 2);
	assert_int_equal(count(text, true, -10, "other"), 0);
}

static void
each_counts_once_on_whatever_side_of_the_logs_beginning(void **state)
{
	static const char text[] =
	    BEGINS "D a A00001 u1=451:4.2.2\n"
	    LINE("lmtp", "4.2.2", "deferred") REFUSED "S 100\n"
	    "D a A00001 u1=451:4.2.2\n"
	    LINE("lmtp", "4.2.2", "deferred")
	    LINE("smtp", "4.7.1", "deferred");

	for (int seconds = -10; seconds <= 1000; seconds += 101) {
		assert_int_equal(count(text, true, seconds, "mailbox"), 2);
		assert_int_equal(count(text, true, seconds, "policy"), 1);
		assert_int_equal(count(text, true, seconds, "network"), 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		the_second_number_of_the_enhanced_code_is_the_reason),
	    cmocka_unit_test(without_a_log_the_servers_replies_count),
	    cmocka_unit_test(with_a_log_its_lines_count_whoever_is_next),
	    cmocka_unit_test(
		each_counts_once_on_whatever_side_of_the_logs_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

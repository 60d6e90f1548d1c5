/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rate limits as journald and rsyslogd are told them, and how near lines come
 * to them.
 */
#include "exporter/read/logger_conf.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "exporter/read/journald_conf.h"
#include "exporter/read/log_meter.h"
#include "exporter/read/rsyslog_conf.h"
#include "tests/lib/unit.h"

#define SECOND CLOCK_NS_PER_SECOND

/* clang-format off */
static const struct {
	const char *text;
	int64_t interval_ns, burst;
	bool has_any;
} journald[] = {
    {"", 30 * SECOND, 10000, false},
    {"[Journal]\n#RateLimitIntervalSec=30s\n#RateLimitBurst=10000\n",
	30 * SECOND, 10000, false},
    {"[Journal]\nRateLimitIntervalSec=5\nRateLimitBurst=20", 5 * SECOND, 20,
	true},
    {"[Journal]\nRateLimitInterval=1min 30s\n", 90 * SECOND, 10000, true},
    {"[Journal]\nRateLimitIntervalSec = 2 h \r\n", 7200 * SECOND, 10000, true},
    {"[Journal]\nRateLimitIntervalSec=1500ms\n", 1500 * (SECOND / 1000), 10000,
	true},
    {"[Journal]\nRateLimitIntervalSec=0\n", 0, 10000, true},
    {"[Journal]\nRateLimitBurst=7\nRateLimitBurst=\n", 30 * SECOND, 10000,
	true},
    {"[Other]\nRateLimitBurst=7\n", 30 * SECOND, 10000, false},
    {"[Journal]\nRateLimitBurst=many\nRateLimitIntervalSec=5 parsecs\n",
	30 * SECOND, 10000, true},
};

static const struct {
	const char *text;
	const char *settings; /* kind and value, a line each */
} rsyslog[] = {
    {"", ""},
    {"module(load=\"imuxsock\" SysSock.RateLimit.Interval=\"5\"\n"
	" SysSock.RateLimit.Burst=\"100\")\n", "0 imuxsock\n2 5\n3 100\n"},
    {"MODULE ( Load='imuxsock' # comment ) \n syssock.ratelimit.burst = '3' )",
	"0 imuxsock\n3 3\n"},
    {"module(load=\"/usr/lib/rsyslog/imjournal.so\" RateLimit.Interval=\"0\""
	" Ratelimit.Burst=\"9\" StateFile=\"x)\")", "0 imjournal\n4 0\n5 9\n"},
    {"module(load=\"imtcp\" RateLimit.Burst=\"9\")\n", "0 imtcp\n"},
    {"input(type=\"imuxsock\" Socket=\"/x\" RateLimit.Interval=\"7\")",
	"0 imuxsock\n2 7\n"},
    {"$ModLoad imuxsock.so # local\n$SystemLogRateLimitInterval 5\n"
	"$SystemLogRateLimitBurst 200\n$imjournalRatelimitBurst 1\n"
	"$WorkDirectory /x\n", "0 imuxsock\n2 5\n3 200\n5 1\n"},
    {"$IncludeConfig /etc/rsyslog.d/*.conf\ninclude(file=\"/a/b.conf\""
	" mode=\"optional\")", "1 /etc/rsyslog.d/*.conf\n1 /a/b.conf\n"},
    {"# module(load=\"imuxsock\")\n/* $ModLoad imjournal\n */\n"
	"*.* action(type=\"omfile\" file=\"/x\")\nif $msg then { stop }\n", ""},
    {"module(load=\"imuxsock\" SysSock.RateLimit.Burst=\"many\" x)\n"
	"$SystemLogRateLimitInterval -1\n", "0 imuxsock\n"},
};

static const struct {
	const char *text;
	bool is_named;
} names[] = {
    {"mail.*  -/var/log/mail.log\n", true},
    {"action(type=\"omfile\" file=\"/var/log/mail.log\")", true},
    {"mail.* /var/log/mail.log", true},
    {"mail.*;news.* /var/log/mail.log;Template\n", true},
    {"# mail.* /var/log/mail.log\n", false},
    {"mail.* /var/log/mail.log.1\n", false},
    {"mail.* /srv/var/log/mail.log\n", false},
    {"mail.* /var/log/mail\n", false},
};
/* clang-format on */

static void
journald_is_read(void **state)
{
	for (size_t i = 0; i < COUNT(journald); i++) {
		struct log_limit limit = journald_conf_default;
		bool has_any = journald_conf_read(
		    maillog_view_of(journald[i].text), &limit);

		assert_row(i, has_any == journald[i].has_any);
		assert_row(i, limit.interval_ns == journald[i].interval_ns);
		assert_row(i, limit.burst == journald[i].burst);
	}
}

static void
rsyslog_is_read(void **state)
{
	for (size_t i = 0; i < COUNT(rsyslog); i++) {
		struct rsyslog_conf conf = {
		    .text = maillog_view_of(rsyslog[i].text)};
		struct rsyslog_setting setting;
		char seen[500] = "";
		size_t size = 0;

		while (rsyslog_conf_next(&conf, &setting))
			size += (size_t)snprintf(seen + size,
			    sizeof(seen) - size, "%d %.*s\n", setting.kind,
			    (int)setting.value.size, setting.value.at);
		if (strcmp(seen, rsyslog[i].settings) != 0)
			fail_msg("%zu: %s", i, seen);
	}
	for (size_t i = 0; i < COUNT(names); i++)
		assert_row(i, rsyslog_conf_names(maillog_view_of(names[i].text),
				  maillog_view_of("/var/log/mail.log")) ==
				  names[i].is_named);
}

static int
make_root(void **state)
{
	const char *parent = getenv("TMPDIR");
	char *root = malloc(PATH_MAX);

	snprintf(root, PATH_MAX, "%s/logger.XXXXXX",
	    parent != NULL ? parent : "/tmp");
	*state = root;
	return mkdtemp(root) != NULL ? 0 : -1;
}

static int
unlink_one(
    const char *path, const struct stat *status, int type, struct FTW *walk)
{
	return remove(path);
}

static int
remove_root(void **state)
{
	int result = nftw(*state, unlink_one, 10, FTW_DEPTH | FTW_PHYS);

	free(*state);
	return result;
}

/* With the directories above it. */
static void
put(const char *root, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *slash = path + strlen(root); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void
assert_limit(const struct logger_limit *limit, int64_t seconds, int64_t burst)
{
	assert_int_equal(limit->limit.interval_ns, seconds * SECOND);
	if (seconds > 0)
		assert_int_equal(limit->limit.burst, burst);
}

static void
assert_limits(const char *root, const char *log, const int64_t limits[6])
{
	struct logger_limits found;

	logger_conf_find(root, log, &found);
	for (size_t i = 0; i < LOG_LIMITS; i++)
		assert_limit(&found.items[i], limits[2 * i], limits[2 * i + 1]);
}

static void
drop_ins_of_journald_count_in_the_order_of_names(void **state)
{
	const char *root = *state;
	struct logger_limits found;

	assert_limits(root, "journal", (int64_t[]){30, 10000, 0, 0, 0, 0});
	put(root, "/etc/systemd/journald.conf",
	    "[Journal]\nRateLimitBurst=1\nRateLimitIntervalSec=7\n");
	assert_limits(root, "journal", (int64_t[]){7, 1, 0, 0, 0, 0});
	put(root, "/usr/lib/systemd/journald.conf.d/50-a.conf",
	    "[Journal]\nRateLimitBurst=2\n");
	put(root, "/etc/systemd/journald.conf.d/10-b.conf",
	    "[Journal]\nRateLimitBurst=3\n");
	assert_limits(root, "journal", (int64_t[]){7, 2, 0, 0, 0, 0});
	put(root, "/etc/systemd/journald.conf.d/50-a.conf", "");
	logger_conf_find(root, "journal", &found);
	assert_limit(&found.items[LOG_LIMIT_JOURNALD], 7, 3);
	assert_non_null(
	    strstr(found.items[LOG_LIMIT_JOURNALD].file, "/10-b.conf"));
	/* One that was copied from elsewhere has no limit here. */
	assert_limits(root, "journal:/x", (int64_t[]){0, 0, 0, 0, 0, 0});
}

static void
rsyslog_limits_files_that_it_writes(void **state)
{
	const char *root = *state;
	struct logger_limits found;

	assert_limits(root, "/var/log/mail.log", (int64_t[6]){0});
	put(root, "/etc/rsyslog.conf",
	    "module(load=\"imuxsock\")\n"
	    "$IncludeConfig /etc/rsyslog.d/*.conf\n"
	    "mail.* -/var/log/mail.log\n");
	assert_limits(root, "/var/log/mail.log", (int64_t[6]){0});
	put(root, "/etc/rsyslog.d/limit.conf",
	    "$SystemLogRateLimitInterval 5\n"
	    "$IncludeConfig /etc/rsyslog.conf\n");
	assert_limits(
	    root, "/var/log/mail.log", (int64_t[]){0, 0, 5, 200, 0, 0});
	logger_conf_find(root, "/var/log/mail.log", &found);
	assert_non_null(strstr(
	    found.items[LOG_LIMIT_IMUXSOCK].file, "/rsyslog.d/limit.conf"));
	/* Postfix writes that one itself. */
	assert_limits(root, "/var/log/postfix.log", (int64_t[6]){0});
}

static void
rsyslog_that_reads_the_journal_has_two_limits(void **state)
{
	const char *root = *state;

	put(root, "/etc/rsyslog.conf",
	    "module(load=\"imjournal\")\nmail.* /var/log/maillog\n");
	assert_limits(
	    root, "/var/log/maillog", (int64_t[]){30, 10000, 0, 0, 600, 20000});
	put(root, "/etc/rsyslog.conf",
	    "module(load=\"imjournal\" Ratelimit.Interval=\"0\")\n"
	    "mail.* /var/log/maillog\n");
	assert_limits(
	    root, "/var/log/maillog", (int64_t[]){30, 10000, 0, 0, 0, 0});
}

#define START (INT64_C(1790000000) * SECOND)

static const struct log_limit five_seconds = {5 * SECOND, 200};

static void
each_process_has_a_limit_of_its_own(void **state)
{
	struct log_meter *meter = log_meter_new(&five_seconds, true);

	for (int i = 0; i < 1000; i++)
		assert_int_equal(
		    log_meter_add(meter, i % 10, START, 1), LOG_METER_NOTHING);
	assert_int_equal(log_meter_used(meter), 500000000);
	assert_int_equal(log_meter_add(meter, 3, START, 1), LOG_METER_NEAR);
	assert_int_equal(log_meter_add(meter, 3, START, 98), LOG_METER_NOTHING);
	assert_int_equal(log_meter_add(meter, 3, START, 1), LOG_METER_USED_UP);
	assert_int_equal(log_meter_add(meter, 3, START, 1), LOG_METER_NOTHING);
	assert_int_equal(log_meter_used(meter), 1005000000);
	log_meter_free(&meter);
	meter = log_meter_new(&five_seconds, false);
	for (int i = 0; i < 199; i++)
		log_meter_add(meter, i, START, 1);
	assert_int_equal(
	    log_meter_add(meter, 777, START, 1), LOG_METER_USED_UP);
	log_meter_free(&meter);
}

static void
lines_count_while_their_interval_lasts(void **state)
{
	struct log_meter *meter = log_meter_new(&five_seconds, true);

	log_meter_add(meter, 1, START, 150);
	assert_int_equal(
	    log_meter_add(meter, 1, START + 7 * SECOND, 60), LOG_METER_NOTHING);
	assert_int_equal(log_meter_add(meter, 1, START + 8 * SECOND, 150),
	    LOG_METER_USED_UP);
	assert_int_equal(
	    log_meter_add(meter, 1, START + 9 * SECOND, 10), LOG_METER_NOTHING);
	/* Again, an interval later; a line from before is no news. */
	assert_int_equal(log_meter_add(meter, 1, START + 13 * SECOND, 50),
	    LOG_METER_USED_UP);
	assert_int_equal(
	    log_meter_add(meter, 1, START, 500), LOG_METER_NOTHING);
	assert_int_equal(log_meter_used(meter), 1100000000);
	log_meter_add(meter, 1, START + 3200 * SECOND, 1);
	assert_int_equal(log_meter_used(meter), 1100000000);
	log_meter_add(meter, 1, START + 4000 * SECOND, 1);
	assert_int_equal(log_meter_used(meter), 5000000);
	log_meter_free(&meter);
}

static void
no_limit_is_never_used_up(void **state)
{
	static const struct log_limit none[] = {{0, 200}, {SECOND, 0}};

	for (size_t i = 0; i < COUNT(none); i++) {
		struct log_meter *meter = log_meter_new(&none[i], true);

		assert_int_equal(log_meter_add(meter, 1, START, 1u << 30),
		    LOG_METER_NOTHING);
		assert_int_equal(log_meter_used(meter), 0);
		log_meter_free(&meter);
	}
}

int
main(void)
{
#define WITH_ROOT(test)                                                        \
	cmocka_unit_test_setup_teardown(test, make_root, remove_root)
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(journald_is_read),
	    cmocka_unit_test(rsyslog_is_read),
	    WITH_ROOT(drop_ins_of_journald_count_in_the_order_of_names),
	    WITH_ROOT(rsyslog_limits_files_that_it_writes),
	    WITH_ROOT(rsyslog_that_reads_the_journal_has_two_limits),
	    cmocka_unit_test(each_process_has_a_limit_of_its_own),
	    cmocka_unit_test(lines_count_while_their_interval_lasts),
	    cmocka_unit_test(no_limit_is_never_used_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

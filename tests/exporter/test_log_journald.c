/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The systemd journal as a log: real journal files, written by
 * systemd-journal-remote. Skipped without it or without libsystemd.
 */
#include "exporter/read/log_journald.h"

#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/reason.h"
#include "exporter/read/log_catalog.h"
#include "tests/lib/unit.h"

#define REMOTE "/lib/systemd/systemd-journal-remote"
#define FIRST_US INT64_C(1796024862000000) /* 2026-11-30T07:47:42Z */

struct fixture {
	char directory[PATH_MAX / 2];
	int next;
	struct log_catalog catalog;
	struct log_journald *journald;
	char told[1024];
	int64_t gap_start_wall_ns, gap_end_wall_ns;
};

static int
remove_one(
    const char *path, const struct stat *status, int type, struct FTW *walk)
{
	return remove(path);
}

static int
setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const char *parent = getenv("TMPDIR");

	snprintf(fixture->directory, sizeof(fixture->directory),
	    "%s/journald.XXXXXX", parent != NULL ? parent : "/tmp");
	assert_non_null(mkdtemp(fixture->directory));
	*state = fixture;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *fixture = *state;

	log_journald_free(&fixture->journald);
	log_catalog_free(&fixture->catalog);
	nftw(fixture->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(fixture);
	return 0;
}

static int64_t
wall_ns(int number)
{
	return (FIRST_US + number * 1000000) * 1000;
}

static void
write_entry(FILE *out, int number, const char *fields)
{
	fprintf(out,
	    "__REALTIME_TIMESTAMP=%" PRId64 "\n"
	    "__MONOTONIC_TIMESTAMP=%d\n"
	    "_BOOT_ID=0123456789abcdef0123456789abcdef\n"
	    "_MACHINE_ID=0123456789abcdef0123456789abcdef\n"
	    "_HOSTNAME=mx\nSYSLOG_PID=%d\n%s\n",
	    wall_ns(number) / 1000, 1000000 + number, number + 1, fields);
}

/* Appends to a journal file, made if need be. */
static void
import(struct fixture *fixture, const char *file)
{
	char command[2 * PATH_MAX];

	snprintf(command, sizeof(command),
	    REMOTE " -o %s/%s.journal %s/in.export 2>%s/errors",
	    fixture->directory, file, fixture->directory, fixture->directory);
	assert_int_equal(system(command), 0);
}

static FILE *
open_export(struct fixture *fixture)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/in.export", fixture->directory);
	out = fopen(path, "w");
	assert_non_null(out);
	return out;
}

/* Writes the next `count` lines of Postfix. */
static void
append(struct fixture *fixture, const char *file, int count)
{
	FILE *out = open_export(fixture);

	for (int i = 0; i < count; i++)
		write_entry(out, fixture->next++,
		    "SYSLOG_FACILITY=2\nSYSLOG_IDENTIFIER=postfix/qmgr\n"
		    "MESSAGE=4F5E3A1C0: removed\n");
	fclose(out);
	import(fixture, file);
}

static void
open_from(struct fixture *fixture, struct journal_position from)
{
	struct buffer saved = {0};
	struct reason reason;

	log_journald_free(&fixture->journald);
	log_catalog_write(&fixture->catalog, &saved);
	log_catalog_free(&fixture->catalog);
	assert_int_equal(
	    log_catalog_read(&fixture->catalog, saved.data, saved.size), 0);
	buffer_free(&saved);
	fixture->journald = log_journald_open(
	    fixture->directory, &fixture->catalog, from, false, &reason);
	if (fixture->journald == NULL)
		fail_msg("%s", reason.text);
}

static const char *
drain(struct fixture *fixture)
{
	struct log_entry entry;
	struct reason reason;
	size_t size = 0;
	int result;

	fixture->told[0] = '\0';
	while ((result = log_journald_next(
		    fixture->journald, &entry, &reason)) == 1) {
		int number = (int)entry.line.pid - 1;

		if (entry.gap != LOG_GAP_NONE) {
			fixture->gap_start_wall_ns = entry.gap_start_wall_ns;
			fixture->gap_end_wall_ns = entry.gap_end_wall_ns;
			size += (size_t)snprintf(fixture->told + size,
			    sizeof(fixture->told) - size, "%s ",
			    log_gap_name(entry.gap));
			continue;
		}
		assert_true(entry.wall_ns == wall_ns(number));
		size += (size_t)snprintf(fixture->told + size,
		    sizeof(fixture->told) - size, "%d ", number);
	}
	if (result < 0)
		fail_msg("%s", reason.text);
	return fixture->told;
}

static void
lines_have_their_parts(void **state)
{
	struct fixture *fixture = *state;
	struct log_entry entry;
	FILE *out = open_export(fixture);

	write_entry(out, 0,
	    "SYSLOG_FACILITY=2\nSYSLOG_IDENTIFIER=postfix/submission/smtpd\n"
	    "_SOURCE_REALTIME_TIMESTAMP=1796024862000042\n"
	    "MESSAGE=connect from unknown[192.0.2.1]\n");
	write_entry(out, 1,
	    "SYSLOG_FACILITY=3\nSYSLOG_IDENTIFIER=cron\nMESSAGE=other\n");
	write_entry(out, 2,
	    "SYSLOG_FACILITY=3\nSYSLOG_IDENTIFIER=systemd-journald\n"
	    "MESSAGE=Suppressed 7 messages from postfix@-.service\n");
	fclose(out);
	import(fixture, "system");
	open_from(fixture, (struct journal_position){0, 0});
	assert_int_equal(log_journald_next(fixture->journald, &entry, NULL), 1);
	assert_true(entry.wall_ns == INT64_C(1796024862000042000));
	assert_memory_equal(entry.line.host.at, "mx", 2);
	assert_memory_equal(entry.line.program.at, "smtpd", 5);
	assert_memory_equal(entry.line.syslog_name.at, "postfix/submission",
	    entry.line.syslog_name.size);
	assert_int_equal(entry.line.pid, 1);
	assert_memory_equal(entry.line.text.at, "connect from", 12);
	assert_false(entry.is_cut);
	assert_int_equal(log_journald_next(fixture->journald, &entry, NULL), 1);
	assert_memory_equal(entry.line.program.at, "systemd-journald", 16);
	assert_int_equal(log_journald_next(fixture->journald, &entry, NULL), 0);
}

static void
entries_are_read_as_they_come(void **state)
{
	struct fixture *fixture = *state;
	struct pollfd poll_fd;

	append(fixture, "system", 3);
	open_from(fixture, (struct journal_position){0, 0});
	assert_string_equal(drain(fixture), "0 1 2 ");
	poll_fd = (struct pollfd){
	    .fd = log_journald_fd(fixture->journald), .events = POLLIN};
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
	append(fixture, "system", 2);
	assert_int_equal(poll(&poll_fd, 1, 10000), 1);
	assert_string_equal(drain(fixture), "3 4 ");
	append(fixture, "system@1", 2);
	assert_string_equal(drain(fixture), "5 6 ");
}

static void
the_rest_is_the_same_from_any_position(void **state)
{
	struct fixture *fixture = *state;
	struct journal_position positions[20];
	struct log_entry entry;
	char wanted[256] = "";
	size_t count = 0;

	append(fixture, "system", 4);
	append(fixture, "system@1", 4);
	append(fixture, "system@2", 4);
	open_from(fixture, (struct journal_position){0, 0});
	positions[count++] = (struct journal_position){0, 0};
	while (log_journald_next(fixture->journald, &entry, NULL) == 1) {
		assert_true(journal_position_compare(
				positions[count - 1], entry.position) < 0);
		positions[count++] = entry.position;
	}
	assert_int_equal(count, 13);
	for (size_t i = count; i-- > 0;) {
		char before[256];

		open_from(fixture, positions[i]);
		assert_string_equal(drain(fixture), wanted);
		snprintf(before, sizeof(before), "%s", wanted);
		snprintf(
		    wanted, sizeof(wanted), "%d %.200s", (int)i - 1, before);
	}
	/* With a catalog that was lost. */
	log_catalog_free(&fixture->catalog);
	open_from(fixture, positions[2]);
	assert_string_equal(drain(fixture), "2 3 4 5 6 7 8 9 10 11 ");
}

static void
what_the_journal_forgot_is_a_gap(void **state)
{
	struct fixture *fixture = *state;
	struct journal_position at;
	char path[PATH_MAX];

	append(fixture, "system", 3);
	open_from(fixture, (struct journal_position){0, 0});
	assert_string_equal(drain(fixture), "0 1 2 ");
	at = log_journald_position(fixture->journald);
	log_journald_free(&fixture->journald);
	append(fixture, "system", 3);
	append(fixture, "system@1", 3);
	snprintf(path, sizeof(path), "%s/system.journal", fixture->directory);
	assert_int_equal(unlink(path), 0);
	open_from(fixture, at);
	assert_string_equal(drain(fixture), "gone 6 7 8 ");
	assert_true(fixture->gap_start_wall_ns == wall_ns(2));
	assert_true(fixture->gap_end_wall_ns == wall_ns(6));
}

static void
only_what_comes_from_now_on(void **state)
{
	struct fixture *fixture = *state;

	append(fixture, "system", 3);
	fixture->journald = log_journald_open(fixture->directory,
	    &fixture->catalog, (struct journal_position){0, 0}, true, NULL);
	assert_string_equal(drain(fixture), "");
	append(fixture, "system", 2);
	assert_string_equal(drain(fixture), "3 4 ");
}

static void
a_build_without_libsystemd_says_so(void **state)
{
	struct log_catalog catalog = {0};
	struct reason reason;
	struct log_journald *journald = log_journald_open(
	    NULL, &catalog, (struct journal_position){0, 0}, false, &reason);

	assert_null(journald);
	assert_non_null(strstr(reason.text, "libsystemd"));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(lines_have_their_parts),
	    TEST(entries_are_read_as_they_come),
	    TEST(the_rest_is_the_same_from_any_position),
	    TEST(what_the_journal_forgot_is_a_gap),
	    TEST(only_what_comes_from_now_on),
	};
	const struct CMUnitTest absent[] = {
	    cmocka_unit_test(a_build_without_libsystemd_says_so),
	};

	setenv("TZ", "UTC", 1);
	if (!log_journald_is_supported())
		return cmocka_run_group_tests(absent, NULL, NULL);
	if (access(REMOTE, X_OK) != 0) {
		printf("1..0 # SKIP no " REMOTE "\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* A log that is followed while things are done to it. Cases 6, 7. */
#include "exporter/read/log_follower.h"

#include <sys/inotify.h>

#include "exporter/read/log_lines.h"
#include "tests/exporter/log_fixture.h"

static void
lines_are_read_as_they_come(void **state)
{
	struct log_fixture *log = *state;

	follow_lines(log, 3);
	assert_string_equal(drain(log), "");
	append(log, "mail.log", 2);
	assert_string_equal(drain(log), "3..4");
	assert_true(log_follower_sees(log->follower));
}

static void
a_line_is_waited_for_until_it_ends(void **state)
{
	struct log_fixture *log = *state;
	char text[256];

	follow(log);
	format_line(log, log->next++, text, sizeof(text));
	for (char *at = text; *at != '\0'; at++) {
		char piece[2] = {*at, '\0'};

		assert_string_equal(drain(log), "");
		append_text(log, "mail.log", piece);
	}
	assert_string_equal(drain(log), "0..0");
}

static void
a_log_may_appear_later(void **state)
{
	struct log_fixture *log = *state;

	follow(log);
	assert_string_equal(drain(log), "");
	assert_false(log_follower_sees(log->follower));
	append_text(log, "mail.log", "");
	assert_string_equal(drain(log), "");
	append(log, "mail.log", 2);
	assert_string_equal(drain(log), "0..1");
}

static void
a_renamed_log_is_read_to_its_end_first(void **state)
{
	struct log_fixture *log = *state;

	follow_lines(log, 3);
	rename_log(log, "mail.log", "mail.log.1");
	/* The daemon has not opened the new one yet. */
	append(log, "mail.log.1", 2);
	assert_string_equal(drain(log), "3..4");
	append(log, "mail.log.1", 1);
	append_text(log, "mail.log", "");
	assert_string_equal(drain(log), "5..5");
	append(log, "mail.log.1", 1);
	append(log, "mail.log", 3);
	assert_string_equal(drain(log), "6..9");
	assert_true(log_follower_sees(log->follower));
}

static void
many_rotations_in_a_row(void **state)
{
	struct log_fixture *log = *state;
	char wanted[32];

	follow(log);
	for (int i = 0; i < 20; i++) {
		append(log, "mail.log", 5);
		snprintf(wanted, sizeof(wanted), "%d..%d", 5 * i, 5 * i + 4);
		assert_string_equal(drain(log), wanted);
		rename_log(log, "mail.log", "mail.log.1");
		if (i % 3 == 0)
			run(log, "gzip -f", "mail.log.1");
		if (i % 4 == 0)
			assert_string_equal(drain(log), "");
	}
}

static void
what_a_rotation_removes_is_still_read(void **state)
{
	struct log_fixture *log = *state;

	follow_lines(log, 3);
	append(log, "mail.log", 3);
	rename_log(log, "mail.log", "mail.log.1");
	remove_log(log, "mail.log.1");
	append(log, "mail.log", 3);
	assert_string_equal(drain(log), "3..8");
}

static void
copy_and_truncate(void **state)
{
	struct log_fixture *log = *state;

	follow_lines(log, 3);
	append(log, "mail.log", 3);
	copy_log(log, "mail.log", "mail.log.1");
	truncate_log(log, "mail.log", 0);
	assert_string_equal(drain(log), "3..5");
	append(log, "mail.log", 3);
	assert_string_equal(drain(log), "copied 6..8");
	check_gap(log, 5, 6);
}

static void
copy_truncate_and_compress(void **state)
{
	struct log_fixture *log = *state;

	follow_lines(log, 3);
	append(log, "mail.log", 3);
	copy_log(log, "mail.log", "mail.log.1");
	truncate_log(log, "mail.log", 0);
	append(log, "mail.log", 3);
	compress_log(log, "mail.log.1");
	assert_string_equal(drain(log), "3..5 copied 6..8");
}

static void
a_log_truncated_without_a_copy(void **state)
{
	struct log_fixture *log = *state;

	follow_lines(log, 5);
	append(log, "mail.log", 1);
	truncate_log(log, "mail.log", 0);
	assert_string_equal(drain(log), "");
	assert_false(log_follower_sees(log->follower));
	append(log, "mail.log", 2);
	assert_string_equal(drain(log), "truncated 6..7");
	check_gap(log, 4, 6);
}

/* Longer again than what was read of it. */
static void
a_log_truncated_and_written_between_two_looks(void **state)
{
	struct log_fixture *log = *state;

	follow_lines(log, 2);
	truncate_log(log, "mail.log", 0);
	append(log, "mail.log", 20);
	assert_string_equal(drain(log), "truncated 2..21");
}

/* And to the byte as long as what was read. */
static void
a_log_truncated_and_as_long_as_before(void **state)
{
	struct log_fixture *log = *state;

	follow_lines(log, 2);
	truncate_log(log, "mail.log", 0);
	append(log, "mail.log", 2);
	assert_string_equal(drain(log), "truncated 2..3");
}

static void
a_log_that_lost_its_end(void **state)
{
	struct log_fixture *log = *state;
	struct stat status;

	append(log, "mail.log", 3);
	assert_int_equal(stat(log->path, &status), 0);
	append(log, "mail.log", 3);
	follow(log);
	assert_string_equal(drain(log), "0..5");
	/* In the middle of line 3, behind which line 6 is written. */
	truncate_log(log, "mail.log", status.st_size + 10);
	assert_string_equal(drain(log), "");
	append(log, "mail.log", 4);
	assert_string_equal(drain(log), "damaged 6..9");
	append(log, "mail.log", 1);
	assert_string_equal(drain(log), "10..10");
	rename_log(log, "mail.log", "mail.log.1");
	append(log, "mail.log", 1);
	assert_string_equal(drain(log), "11..11");
}

static void
a_last_line_without_its_end_is_told(void **state)
{
	struct log_fixture *log = *state;

	append(log, "mail.log", 3);
	append_text(log, "mail.log", "Nov 30 07:47:43 mx postfix/qm");
	follow(log);
	assert_string_equal(drain(log), "0..2");
	rename_log(log, "mail.log", "mail.log.1");
	append(log, "mail.log", 2);
	assert_string_equal(drain(log), "torn 3..4");
}

static void
overlong_lines_are_cut(void **state)
{
	struct log_fixture *log = *state;
	static const size_t sizes[] = {LOG_LINE_MAX - 1, LOG_LINE_MAX,
	    LOG_LINE_MAX + 1, 4 * LOG_LINE_MAX, 10 * LOG_LINE_MAX + 17};
	struct buffer text = {0};

	append(log, "mail.log", 1);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		buffer_clear(&text);
		memset(buffer_reserve(&text, sizes[i]), 'x', sizes[i]);
		buffer_append(&text, "\n", 2);
		append_text(log, "mail.log", (const char *)text.data);
		append(log, "mail.log", 1);
	}
	buffer_free(&text);
	follow(log);
	assert_string_equal(drain(log),
	    "0..0 other 1..1 other 2..2 cut 3..3 cut 4..4 cut 5..5");
}

static void
a_hole_in_the_file_is_one_line(void **state)
{
	struct log_fixture *log = *state;

	append(log, "mail.log", 1);
	truncate_log(log, "mail.log", 1 << 20);
	append(log, "mail.log", 1);
	append(log, "mail.log", 1);
	follow(log);
	assert_string_equal(drain(log), "0..0 cut 2..2");
}

static void
lines_without_a_time_have_the_one_before(void **state)
{
	struct log_fixture *log = *state;
	struct log_entry entry;

	append(log, "mail.log", 1);
	append_text(log, "mail.log", "\tat somewhere\n\n");
	follow(log);
	assert_int_equal(log_follower_next(log->follower, &entry, NULL), 1);
	assert_int_equal(log_follower_next(log->follower, &entry, NULL), 1);
	assert_int_equal(entry.wall_ns / CLOCK_NS_PER_SECOND,
	    line_wall_ns(0) / CLOCK_NS_PER_SECOND);
	assert_int_equal(log_follower_next(log->follower, &entry, NULL), 1);
	assert_int_equal(entry.line.text.size, 0);
	assert_int_equal(log_follower_next(log->follower, &entry, NULL), 0);
}

static void
only_what_comes_from_now_on(void **state)
{
	struct log_fixture *log = *state;

	append(log, "mail.log", 5000);
	append_text(log, "mail.log", "Nov 30 half a li");
	log->follower = log_follower_open(
	    log->path, &log->catalog, (struct journal_position){0, 0}, true);
	assert_string_equal(drain(log), "");
	append_text(log, "mail.log", "ne\n");
	append(log, "mail.log", 3);
	assert_string_equal(drain(log), "other 5000..5002");
	/* The same again from nowhere. */
	follow(log);
	assert_string_equal(drain(log), "other 5000..5002");
}

static void
a_log_that_is_not_there_yet_is_read_from_its_beginning(void **state)
{
	struct log_fixture *log = *state;

	log->follower = log_follower_open(
	    log->path, &log->catalog, (struct journal_position){0, 0}, true);
	assert_string_equal(drain(log), "");
	append(log, "mail.log", 3);
	assert_string_equal(drain(log), "0..2");
}

static void
a_log_renamed_and_back(void **state)
{
	struct log_fixture *log = *state;

	follow_lines(log, 3);
	rename_log(log, "mail.log", "mail.log.1");
	assert_string_equal(drain(log), "");
	rename_log(log, "mail.log.1", "mail.log");
	append(log, "mail.log", 2);
	assert_string_equal(drain(log), "3..4");
	truncate_log(log, "mail.log", 0);
	append(log, "mail.log", 2);
	assert_string_equal(drain(log), "truncated 5..6");
}

static void
the_clock_set_back_does_not_matter(void **state)
{
	struct log_fixture *log = *state;

	log->next = 1000;
	append(log, "mail.log", 3);
	follow(log);
	assert_string_equal(drain(log), "1000..1002");
	rename_log(log, "mail.log", "mail.log.1");
	log->next = 100;
	append(log, "mail.log", 3);
	assert_string_equal(drain(log), "100..102");
}

static void
an_unreadable_log_is_told_and_retried(void **state)
{
	struct log_fixture *log = *state;
	struct log_entry entry;
	struct reason reason;
	uid_t user = geteuid();
	char path[PATH_MAX];

	fixture_name(log, "mail.log", path);
	append(log, "mail.log", 2);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(chmod(log->directory, 0755), 0);
	/* Root may read everything. */
	if (user == 0)
		assert_int_equal(seteuid(65534), 0);
	follow(log);
	assert_int_equal(log_follower_next(log->follower, &entry, &reason), -1);
	assert_int_equal(seteuid(user), 0);
	assert_int_equal(chmod(path, 0644), 0);
	assert_string_equal(drain(log), "0..1");
}

static void
a_directory_that_is_missing_is_told(void **state)
{
	struct log_fixture *log = *state;
	struct log_entry entry;
	struct reason reason;

	log->follower = log_follower_open("/nonexistent/x/mail.log",
	    &log->catalog, (struct journal_position){0, 0}, false);
	assert_int_equal(log_follower_next(log->follower, &entry, &reason), -1);
	assert_non_null(strstr(reason.text, "/nonexistent/x"));
}

/* Case 7. */
static void
the_users_files_stay_as_they_are(void **state)
{
	struct log_fixture *log = *state;
	struct stat before, after;

	append(log, "mail.log", 100);
	assert_int_equal(stat(log->path, &before), 0);
	follow(log);
	assert_string_equal(drain(log), "0..99");
	assert_int_equal(stat(log->path, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	assert_int_equal(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec);
}

/* Adds the watches, as ingest does. */
static void
add_watches(const struct log_fixture *log, int fd)
{
	struct log_watch watches[LOG_WATCHES_MAX];
	size_t count = log_follower_watches(log->follower, watches);

	for (size_t i = 0; i < count; i++)
		inotify_add_watch(fd, watches[i].path, watches[i].events);
}

/* Whether something was told since the last time. */
static bool
was_woken(int fd)
{
	char events[4096];
	bool woken = false;

	while (read(fd, events, sizeof(events)) > 0)
		woken = true;
	return woken;
}

static void
watches_tell_when_there_is_more(void **state)
{
	struct log_fixture *log = *state;
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	assert_true(fd >= 0);
	follow(log);
	assert_string_equal(drain(log), "");
	add_watches(log, fd);
	append_text(log, "mail.log", "");
	assert_true(was_woken(fd));
	drain(log);
	add_watches(log, fd);
	append(log, "mail.log", 1);
	assert_true(was_woken(fd));
	assert_string_equal(drain(log), "0..0");
	add_watches(log, fd);
	assert_false(was_woken(fd));
	append(log, "mail.log", 1);
	assert_true(was_woken(fd));
	rename_log(log, "mail.log", "mail.log.1");
	assert_true(was_woken(fd));
	assert_string_equal(drain(log), "1..1");
	add_watches(log, fd);
	append(log, "mail.log.1", 1);
	assert_true(was_woken(fd));
	append_text(log, "mail.log", "");
	assert_true(was_woken(fd));
	assert_string_equal(drain(log), "2..2");
	add_watches(log, fd);
	append(log, "mail.log", 1);
	assert_true(was_woken(fd));
	assert_string_equal(drain(log), "3..3");
	add_watches(log, fd);
	truncate_log(log, "mail.log", 0);
	assert_true(was_woken(fd));
	close(fd);
}

int
main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)
	const struct CMUnitTest tests[] = {
	    TEST(lines_are_read_as_they_come),
	    TEST(a_line_is_waited_for_until_it_ends),
	    TEST(a_log_may_appear_later),
	    TEST(a_renamed_log_is_read_to_its_end_first),
	    TEST(many_rotations_in_a_row),
	    TEST(what_a_rotation_removes_is_still_read),
	    TEST(copy_and_truncate),
	    TEST(copy_truncate_and_compress),
	    TEST(a_log_truncated_without_a_copy),
	    TEST(a_log_truncated_and_written_between_two_looks),
	    TEST(a_log_truncated_and_as_long_as_before),
	    TEST(a_log_that_lost_its_end),
	    TEST(a_last_line_without_its_end_is_told),
	    TEST(overlong_lines_are_cut),
	    TEST(a_hole_in_the_file_is_one_line),
	    TEST(lines_without_a_time_have_the_one_before),
	    TEST(only_what_comes_from_now_on),
	    TEST(a_log_that_is_not_there_yet_is_read_from_its_beginning),
	    TEST(a_log_renamed_and_back),
	    TEST(the_clock_set_back_does_not_matter),
	    TEST(an_unreadable_log_is_told_and_retried),
	    TEST(a_directory_that_is_missing_is_told),
	    TEST(the_users_files_stay_as_they_are),
	    TEST(watches_tell_when_there_is_more),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines about facts: their form, what they may hold, how many there may be. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/reason.h"
#include "tests/lib/capture.h"
#include "tests/lib/unit.h"

static struct capture out;
static int64_t now_ns;

static struct stamp
test_clock(void)
{
	return (struct stamp){.wall_ns = now_ns, .monotonic_ns = now_ns};
}

static int
begin_test(void **state)
{
	clock_set_source(test_clock);
	now_ns = 1000 * CLOCK_NS_PER_SECOND;
	unsetenv("JOURNAL_STREAM");
	return log_open("prog", "stderr", LOG_LEVEL_INFO, NULL);
}

static void
each_level_has_its_word(void **state)
{
	log_set_level(LOG_LEVEL_DEBUG);
	capture_begin(&out, STDERR_FILENO);
	log_error("id=%d", 1);
	log_warn("id=%d", 2);
	log_info("id=%d", 3);
	log_debug("id=%d", 4);
	assert_string_equal(capture_end(&out), "prog: error: id=1\n"
					       "prog: warning: id=2\n"
					       "prog: info: id=3\n"
					       "prog: debug: id=4\n");
}

static void
levels_beyond_the_one_set_are_not_written(void **state)
{
	static const struct {
		enum log_level level;
		const char *wanted;
	} rows[] = {
	    {LOG_LEVEL_ERROR, "prog: error: e\n"},
	    {LOG_LEVEL_WARN, "prog: error: e\nprog: warning: w\n"},
	    {LOG_LEVEL_INFO,
		"prog: error: e\nprog: warning: w\nprog: info: i\n"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		log_set_level(rows[i].level);
		capture_begin(&out, STDERR_FILENO);
		log_error("e");
		log_warn("w");
		log_info("i");
		log_debug("d");
		assert_row_string(i, capture_end(&out), rows[i].wanted);
	}
}

static void
text_from_outside_cannot_break_the_line(void **state)
{
	capture_begin(&out, STDERR_FILENO);
	log_warn("from=<%s>", "a\nprog: error: forged\r\x1b[2J\xff\xc3\xbc");
	assert_string_equal(capture_end(&out),
	    "prog: warning: from=<a?prog: error: forged??[2J?\xc3\xbc>\n");
}

static void
a_long_line_is_cut_and_marked(void **state)
{
	char text[3000];
	const char *line;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	capture_begin(&out, STDERR_FILENO);
	log_warn("%s", text);
	line = capture_end(&out);
	assert_int_equal(strlen(line), 1000);
	assert_string_equal(line + 990, "xxxxxx...\n");
}

static void
a_line_of_just_the_room_is_whole(void **state)
{
	char text[985];
	const char *line;

	memset(text, 'x', sizeof(text));
	text[984] = '\0';
	capture_begin(&out, STDERR_FILENO);
	log_warn("%s", text);
	line = capture_end(&out);
	assert_int_equal(strlen(line), 15 + 984 + 1);
	assert_string_equal(line + 990, "xxxxxxxxx\n");
}

static void
a_character_is_not_cut_in_two(void **state)
{
	char text[3000];
	const char *line;

	for (size_t offset = 0; offset < 2; offset++) {
		memset(text, 'x', offset);
		for (size_t i = offset; i + 2 < sizeof(text); i += 2)
			memcpy(text + i, "\xc3\xbc", 3);
		capture_begin(&out, STDERR_FILENO);
		log_warn("%s", text);
		line = capture_end(&out);
		assert_in_range(strlen(line), 999, 1000);
		assert_null(strchr(line, '?'));
	}
}

static void
write_many(int count)
{
	for (int i = 0; i < count; i++)
		log_warn("line");
}

static int
count_lines(const char *text)
{
	int lines = 0;

	for (; *text != '\0'; text++)
		lines += *text == '\n';
	return lines;
}

static void
a_call_site_writes_twenty_lines_in_ten_seconds(void **state)
{
	capture_begin(&out, STDERR_FILENO);
	write_many(25);
	log_warn("other");
	now_ns += 10 * CLOCK_NS_PER_SECOND - 1;
	write_many(1);
	assert_int_equal(count_lines(capture_end(&out)), 21);
	now_ns += 1;
	capture_begin(&out, STDERR_FILENO);
	write_many(2);
	assert_string_equal(capture_end(&out),
	    "prog: warning: suppressed=6 line\nprog: warning: line\n");
}

static void
debug_lines_have_no_limit(void **state)
{
	log_set_level(LOG_LEVEL_DEBUG);
	capture_begin(&out, STDERR_FILENO);
	for (int i = 0; i < 100; i++)
		log_debug("line");
	assert_int_equal(count_lines(capture_end(&out)), 100);
}

static void
errno_is_kept(void **state)
{
	capture_begin(&out, STDERR_FILENO);
	close(STDERR_FILENO);
	errno = ENOSPC;
	log_warn("nobody hears this");
	assert_int_equal(errno, ENOSPC);
	capture_end(&out);
	capture_begin(&out, STDERR_FILENO);
	log_warn("but this");
	assert_string_equal(
	    capture_end(&out), "prog: warning: lost=1 but this\n");
}

static void
nobody_waits_for_a_reader_that_does_not_read(void **state)
{
	int ends[2], saved = dup(STDERR_FILENO);
	char text[900], rest[200000];
	ssize_t size;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	log_set_level(LOG_LEVEL_DEBUG);
	for (int i = 0; i < 200; i++)
		log_debug("%s", text);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	while ((size = read(ends[0], rest, sizeof(rest) - 1)) > 0)
		assert_int_equal(rest[size - 1], '\n');
	log_info("after");
	log_info("at last");
	size = read(ends[0], rest, sizeof(rest) - 1);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[0]);
	close(ends[1]);
	rest[size > 0 ? size : 0] = '\0';
	assert_memory_equal(rest, "prog: info: lost=1", 18);
	assert_non_null(strstr(rest, " after\nprog: info: at last\n"));
}

static void
a_reader_that_is_gone_is_no_reason_to_stop(void **state)
{
	int ends[2], saved = dup(STDERR_FILENO);

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[0]);
	close(ends[1]);
	log_warn("nobody hears this");
	dup2(saved, STDERR_FILENO);
	close(saved);
	capture_begin(&out, STDERR_FILENO);
	log_warn("again");
	assert_string_equal(capture_end(&out), "prog: warning: lost=1 again\n");
}

#define THREADS 8
#define THREAD_LINES 200

static void *
write_debug_lines(void *letter)
{
	char text[200];

	memset(text, *(char *)letter, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < THREAD_LINES; i++)
		log_debug("%s", text);
	return NULL;
}

static void
lines_of_threads_do_not_mix(void **state)
{
	static struct capture large;
	static char letters[] = "abcdefgh";
	pthread_t threads[THREADS];
	char *line, *rest;
	int lines = 0;

	log_set_level(LOG_LEVEL_DEBUG);
	capture_begin(&large, STDERR_FILENO);
	for (int i = 0; i < THREADS; i++)
		pthread_create(
		    &threads[i], NULL, write_debug_lines, &letters[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	capture_end(&large);
	for (line = large.text; (rest = strchr(line, '\n')) != NULL; lines++) {
		*rest = '\0';
		line += strlen("prog: debug: ");
		assert_int_equal(strspn(line, (char[]){line[0], '\0'}), 199);
		line = rest + 1;
	}
	assert_true(lines > 250); /* what fits the capture */
}

static void *
write_warnings(void *unused)
{
	write_many(50);
	return NULL;
}

static void
threads_share_a_call_sites_limit(void **state)
{
	pthread_t threads[4];

	now_ns += 100 * CLOCK_NS_PER_SECOND;
	capture_begin(&out, STDERR_FILENO);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, write_warnings, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(count_lines(capture_end(&out)), 20);
}

static void
the_journal_gets_priorities_when_stderr_is_its_stream(void **state)
{
	struct stat status;
	char stream[64];

	capture_begin(&out, STDERR_FILENO);
	fstat(STDERR_FILENO, &status);
	snprintf(stream, sizeof(stream), "%llu:%llu",
	    (unsigned long long)status.st_dev,
	    (unsigned long long)status.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_open("prog", "auto", LOG_LEVEL_DEBUG, NULL);
	log_error("a");
	log_warn("b");
	log_info("c");
	log_debug("d");
	assert_string_equal(capture_end(&out),
	    "<3>error: a\n<4>warning: b\n<6>info: c\n<7>debug: d\n");
}

static void
another_stderr_than_the_journals_gets_plain_lines(void **state)
{
	static const char *const streams[] = {"", "1:2", "nonsense", "8"};

	for (size_t i = 0; i < COUNT(streams); i++) {
		setenv("JOURNAL_STREAM", streams[i], 1);
		capture_begin(&out, STDERR_FILENO);
		log_open("prog", "auto", LOG_LEVEL_INFO, NULL);
		log_info("a");
		assert_row_string(i, capture_end(&out), "prog: info: a\n");
	}
}

static void
syslog_leaves_stderr_alone(void **state)
{
	log_open("prog", "syslog", LOG_LEVEL_INFO, NULL);
	capture_begin(&out, STDERR_FILENO);
	log_warn("to syslog, %s", "if there is one");
	assert_string_equal(capture_end(&out), "");
}

static void
an_unknown_target_is_an_error(void **state)
{
	struct reason reason;

	assert_int_equal(
	    log_open("prog", "paper", LOG_LEVEL_INFO, &reason), -1);
	assert_string_equal(
	    reason.text, "log target \"paper\" is not stderr, syslog or auto");
}

static int
end_test(void **state)
{
	if (out.active)
		fputs(capture_end(&out), stderr);
	return 0;
}

#define test(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    test(each_level_has_its_word),
	    test(levels_beyond_the_one_set_are_not_written),
	    test(text_from_outside_cannot_break_the_line),
	    test(a_long_line_is_cut_and_marked),
	    test(a_line_of_just_the_room_is_whole),
	    test(a_character_is_not_cut_in_two),
	    test(a_call_site_writes_twenty_lines_in_ten_seconds),
	    test(debug_lines_have_no_limit),
	    test(errno_is_kept),
	    test(nobody_waits_for_a_reader_that_does_not_read),
	    test(a_reader_that_is_gone_is_no_reason_to_stop),
	    test(lines_of_threads_do_not_mix),
	    test(threads_share_a_call_sites_limit),
	    test(the_journal_gets_priorities_when_stderr_is_its_stream),
	    test(another_stderr_than_the_journals_gets_plain_lines),
	    test(syslog_leaves_stderr_alone),
	    test(an_unknown_target_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* log_series: what lies in a log's directory while its files are renamed, or
 * the log is copied and truncated. */
#include "exporter/read/log_series.h"

#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "tests/exporter/log_fixture.h"

#define FILES 20
#define ROTATIONS 300
#define COPIES 9

/* A rotation by copying that falls between two looks at files. The copy's name
 * is there already. */
static struct copying {
	struct log_fixture *log; /* NULL: none is due */
	int looks;               /* before it */
	char copy[32];
	char content[1024];
} copying;

int openat(int directory_fd, const char *name, int flags, ...);

static void
put(const struct log_fixture *log, const char *name, const char *content)
{
	truncate_log(log, name, 0);
	append_text(log, name, content);
}

static void
copy_and_truncate(void)
{
	put(copying.log, copying.copy, copying.content);
	put(copying.log, "mail.log", "");
	copying.log = NULL;
}

int
openat(int directory_fd, const char *name, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	if (copying.log != NULL && strncmp(name, "mail.log", 8) == 0 &&
	    copying.looks-- == 0)
		copy_and_truncate();
	return (int)syscall(SYS_openat, directory_fd, name, flags, mode);
}

struct rotations {
	struct log_fixture *log;
	pthread_barrier_t begin;
};

static void
move(struct log_fixture *log, int from)
{
	char old[PATH_MAX], new[PATH_MAX], name[32];

	snprintf(name, sizeof(name), "mail.log.%d", from);
	fixture_name(log, name, old);
	snprintf(name, sizeof(name), "mail.log.%d", from + 1);
	fixture_name(log, name, new);
	assert_int_equal(rename(old, new), 0);
}

static void *
rotate(void *context)
{
	struct rotations *rotations = context;

	for (int i = 0; i < ROTATIONS; i++) {
		pthread_barrier_wait(&rotations->begin);
		for (int number = i + FILES; number > i; number--)
			move(rotations->log, number);
	}
	return NULL;
}

static void
none_is_missed_while_all_are_renamed(void **state)
{
	struct rotations rotations = {.log = *state};
	pthread_t thread;

	pthread_barrier_init(&rotations.begin, NULL, 2);
	for (int i = 1; i <= FILES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "mail.log.%d", i);
		append(rotations.log, name, 1);
	}
	assert_int_equal(pthread_create(&thread, NULL, rotate, &rotations), 0);
	for (int i = 0; i < ROTATIONS; i++) {
		struct log_series series = {0};

		pthread_barrier_wait(&rotations.begin);
		assert_int_equal(
		    log_series_scan(
			&series, rotations.log->directory, "mail.log", NULL),
		    0);
		assert_int_equal(series.count, FILES);
		log_series_free(&series);
	}
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&rotations.begin);
}

static void
check_that_it_is_found(struct log_fixture *log, int looks)
{
	const struct log_generation *generation = &log->catalog.items[0];
	struct log_series series = {0};

	put(log, "mail.log", copying.content);
	put(log, copying.copy, "");
	copying.looks = looks;
	copying.log = log;
	assert_int_equal(
	    log_series_scan(&series, log->directory, "mail.log", NULL), 0);
	if (log_series_match(&series, generation) == NULL)
		fail_msg("copied to %s after %d looks", copying.copy, looks);
	log_series_free(&series);
	assert_null(copying.log);
	put(log, copying.copy, "");
}

/* Whatever the order in which the directory lists them. */
static void
what_is_copied_and_truncated_meanwhile_is_found(void **state)
{
	struct log_fixture *log = *state;

	format_line(log, 0, copying.content, sizeof(copying.content));
	follow_lines(log, 1);
	unfollow(log);
	for (int number = 1; number <= COPIES; number++) {
		snprintf(
		    copying.copy, sizeof(copying.copy), "mail.log.%d", number);
		append_text(log, copying.copy, "");
	}
	for (int number = 1; number <= COPIES; number++) {
		snprintf(
		    copying.copy, sizeof(copying.copy), "mail.log.%d", number);
		for (int looks = 0; looks <= COPIES; looks++)
			check_that_it_is_found(log, looks);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		none_is_missed_while_all_are_renamed, log_setup, log_teardown),
	    cmocka_unit_test_setup_teardown(
		what_is_copied_and_truncated_meanwhile_is_found, log_setup,
		log_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

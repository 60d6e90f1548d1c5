/* SPDX-License-Identifier: BSD-2-Clause */
/* log_series: what lies in a log's directory while its files are renamed. */
#include "exporter/read/log_series.h"

#include <pthread.h>

#include "tests/exporter/log_fixture.h"

#define FILES 20
#define ROTATIONS 300

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		none_is_missed_while_all_are_renamed, log_setup, log_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

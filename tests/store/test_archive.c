/* SPDX-License-Identifier: BSD-2-Clause */
/* Whoever is killed while days are purged, nothing counts twice, and nothing is
 * missing (I3); what is kept for ever is bounded (I8). */
#include "tests/store/retention_fixture.h"

#include <signal.h>
#include <sys/wait.h>

enum step_of_purge { ARCHIVED, UNLINKED, REMOVED, STEPS_OF_PURGE };

/* What a purge of a day does, up to a step; then it is killed. */
static void
purge_and_die(struct fixture *fixture, int64_t day, enum step_of_purge last)
{
	pid_t child = fork();
	struct archive *archive;
	struct reason reason;
	char *path;
	int status;

	if (child != 0) {
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		return;
	}
	path = layout_day_path(fixture->directory, day);
	if (archive_open(fixture->directory, true, &archive, &reason) != 0 ||
	    archive_put(archive, day, 0, &reason) != 0)
		_exit(1);
	if (last == UNLINKED && unlink(path) != 0)
		_exit(1);
	if (last == REMOVED && layout_remove(path, &reason) != 0)
		_exit(1);
	_exit(0);
}

static void
killed_behind_any_step_nothing_counts_twice(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];
	char *before;

	days_pass(fixture, 12);
	before = days_describe(fixture);
	for (int last = ARCHIVED; last < STEPS_OF_PURGE; last++) {
		fixture_close(fixture);
		purge_and_die(fixture, FIRST_DAY + last, last);
		fixture_open(fixture);
		assert_int_equal(
		    days_has_file(fixture, FIRST_DAY + last), last < UNLINKED);
		assert_described(fixture, before);
	}
	/* A log without its file is removed. */
	fixture_path(fixture, "day-20261201.db-shm", path);
	assert_int_equal(access(path, F_OK), -1);
	days_keep(fixture, 7);
	assert_true(days_purge(fixture));
	assert_false(days_has_file(fixture, FIRST_DAY));
	assert_described(fixture, before);
	free(before);
}

/* Late evidence came between the copy and the end of the file. */
static void
the_archive_is_replaced_as_a_whole(void **state)
{
	struct fixture *fixture = *state;
	char *before;

	days_pass(fixture, 2);
	fixture_close(fixture);
	purge_and_die(fixture, FIRST_DAY, ARCHIVED);
	fixture_open(fixture);
	days_put(fixture, MIDNIGHT_NS, 5 * SECOND_NS);
	fixture_must_commit(fixture, 1000);
	days_pass(fixture, 10);
	before = days_describe(fixture);
	days_keep(fixture, 7);
	assert_true(days_purge(fixture));
	assert_described(fixture, before);
	free(before);
}

static void
purge_until_killed(struct fixture *fixture)
{
	fixture_open(fixture);
	days_purge(fixture);
	_exit(0);
}

static void
killed_at_any_time_nothing_counts_twice(void **state)
{
	struct fixture *fixture = *state;
	int kills = 0, files = getenv("POSTLAG_LONG") != NULL ? 200 : 30;
	char *before;

	days_pass(fixture, files + 7);
	before = days_describe(fixture);
	fixture->settings.retention_ns = 7 * DAY_NS;
	for (int status = 1; status != 0; kills += status != 0) {
		pid_t child;

		fixture_close(fixture);
		child = fork();
		if (child == 0)
			purge_until_killed(fixture);
		poll(NULL, 0, 20 + kills % 60);
		if (kills < files)
			kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		fixture->settings.retention_ns = 0;
		fixture_open(fixture);
		assert_described(fixture, before);
		fixture->settings.retention_ns = 7 * DAY_NS;
	}
	print_message("# killed %d times\n", kills);
	assert_int_equal(days_files(fixture), 7);
	free(before);
}

/* Thirteen months of hours; then a sum. */
static void
four_hundred_days_and_more(void **state)
{
	struct fixture *fixture = *state;
	int days = getenv("POSTLAG_LONG") != NULL ? 400 : 40;
	char *before, *after, *kept, wanted[64];

	fixture->settings.retention_ns = 7 * DAY_NS;
	fixture_reopen(fixture);
	days_pass(fixture, days);
	assert_true(days_purge(fixture));
	fixture_now_ns = MIDNIGHT_NS + 420 * DAY_NS;
	store_seal(fixture->store);
	days_pass(fixture, 1);
	before = days_totals(fixture);
	assert_true(days_purge(fixture));
	/* Those from the 24th on, and what is older. */
	snprintf(wanted, sizeof(wanted), "%d -20787 24 24 \n", days - 24 + 1);
	kept = days_ask(fixture, "archive.db",
	    "SELECT count(*), min(day) - 20787,"
	    " (SELECT min(day) FROM hour) - 20787,"
	    " (SELECT min(day) FROM total WHERE day > 0) - 20787 FROM day");
	assert_string_equal(kept, wanted);
	for (int restart = 0; restart < 3; restart++) {
		after = days_totals(fixture);
		assert_string_equal(after, before);
		free(after);
		fixture_reopen(fixture);
	}
	free(before);
	free(kept);
}

/* Copied, added to the sum, and then killed: its file counts. */
static void
a_day_with_a_file_is_in_no_sum(void **state)
{
	struct fixture *fixture = *state;
	struct archive *archive;
	char *before;

	days_pass(fixture, 12);
	before = days_describe(fixture);
	fixture_close(fixture);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(archive_open(fixture->directory, true,
				     &archive, &fixture->reason),
		    0);
		for (int day = 0; day < 4; day++)
			assert_int_equal(archive_put(archive, FIRST_DAY + day,
					     FIRST_DAY + 100, &fixture->reason),
			    0);
		archive_close(&archive);
		fixture_open(fixture);
		assert_described(fixture, before);
		fixture_close(fixture);
	}
	fixture_open(fixture);
	free(before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(killed_behind_any_step_nothing_counts_twice),
	    FIXTURE_TEST(the_archive_is_replaced_as_a_whole),
	    FIXTURE_TEST(killed_at_any_time_nothing_counts_twice),
	    FIXTURE_TEST(four_hundred_days_and_more),
	    FIXTURE_TEST(a_day_with_a_file_is_in_no_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

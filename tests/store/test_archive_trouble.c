/* SPDX-License-Identifier: BSD-2-Clause */
/* Others remove, damage or lock the archive. Days are purged all the same,
 * nothing that was counted is forgotten (I3), and it is told. */
#include "tests/store/retention_fixture.h"

#define PAGE 4096

static struct store_figures
figures_of(struct fixture *fixture)
{
	struct store_figures figures;
	bool is_done;

	/* As ingest does between batches. */
	store_is_purging(fixture->store, &is_done);
	store_figures(fixture->store, &figures);
	return figures;
}

static void
set_up_purged(struct fixture *fixture, int days)
{
	days_pass(fixture, days);
	days_keep(fixture, 7);
	assert_true(days_purge(fixture));
	assert_int_equal(days_files(fixture), 7);
}

static void
remove_archive(const char *path)
{
	char log[FIXTURE_PATH_SIZE + 8];

	snprintf(log, sizeof(log), "%s-wal", path);
	assert_int_equal(unlink(path), 0);
	unlink(log);
	snprintf(log, sizeof(log), "%s-shm", path);
	unlink(log);
}

static void
cut_archive(const char *path)
{
	assert_int_equal(truncate(path, 2 * PAGE), 0);
}

static void
empty_archive(const char *path)
{
	assert_int_equal(truncate(path, 0), 0);
}

static void
fill(const char *path, off_t since)
{
	static const char garbage[] = "something else\n";
	struct stat status;
	int fd = open(path, O_WRONLY);

	assert_int_equal(fstat(fd, &status), 0);
	assert_true(since < status.st_size);
	for (off_t at = since; at < status.st_size; at += sizeof(garbage) - 1)
		assert_int_equal(pwrite(fd, garbage, sizeof(garbage) - 1, at),
		    sizeof(garbage) - 1);
	close(fd);
}

static void
spoil_header(const char *path)
{
	fill(path, 0);
}

static void
spoil_middle(const char *path)
{
	fill(path, PAGE);
}

static void
assert_totals(struct fixture *fixture, const char *wanted)
{
	char *now = days_totals(fixture);

	assert_string_equal(now, wanted);
	free(now);
}

static const struct trouble {
	const char *name;
	void (*act)(const char *path);
	bool is_damage;
	bool is_seen; /* while nobody reads it */
} troubles[] = {
    {"removed", remove_archive, false, true},
    {"emptied", empty_archive, false, true},
    {"cut short", cut_archive, true, true},
    {"header", spoil_header, true, false},
    {"middle", spoil_middle, true, false},
};

/* A day is purged into the next archive, and the one after it is there. */
static void
check_later_purges(struct fixture *fixture)
{
	uint64_t before = figures_of(fixture).purged_days;
	char *totals, *days;

	days_pass(fixture, 1);
	totals = days_totals(fixture);
	assert_true(days_purge(fixture));
	assert_int_equal(figures_of(fixture).purged_days, before + 1);
	assert_totals(fixture, totals);
	/* It is told once. */
	for (int start = 0; start < 2; start++) {
		fixture_reopen(fixture);
		assert_totals(fixture, totals);
		assert_int_equal(figures_of(fixture).replaced_files, 0);
		assert_int_equal(figures_of(fixture).damaged_files, 0);
	}
	days = days_ask(fixture, "archive.db", "PRAGMA integrity_check");
	assert_string_equal(days, "ok \n");
	free(days);
	days = days_ask(fixture, "archive.db", "SELECT count(*) FROM day");
	assert_string_equal(days, "1 \n");
	free(days);
	free(totals);
}

static void
check_trouble(const struct trouble *trouble, bool is_running)
{
	char path[FIXTURE_PATH_SIZE];
	struct fixture *fixture;
	struct store_figures figures;
	char *totals;
	void *state;

	print_message("# %s, %s\n", trouble->name,
	    is_running ? "while it runs" : "while it is stopped");
	assert_int_equal(fixture_setup(&state), 0);
	fixture = state;
	fixture_path(fixture, "archive.db", path);
	set_up_purged(fixture, 12);
	totals = days_totals(fixture);
	if (!is_running)
		fixture_close(fixture);
	trouble->act(path);
	if (!is_running)
		fixture_open(fixture);
	figures = figures_of(fixture);
	assert_int_equal(figures.replaced_files,
	    is_running ? trouble->is_seen : !trouble->is_damage);
	assert_int_equal(figures.damaged_files,
	    trouble->is_damage && (!is_running || trouble->is_seen));
	assert_totals(fixture, totals);
	check_later_purges(fixture);
	assert_int_equal(fixture_teardown(&state), 0);
	free(totals);
}

static void
whatever_others_do_to_it_nothing_is_forgotten(void **state)
{
	for (size_t i = 0; i < sizeof(troubles) / sizeof(*troubles); i++) {
		check_trouble(&troubles[i], true);
		check_trouble(&troubles[i], false);
	}
}

/* What is put into one that was removed meanwhile is put into the next. */
static void
one_that_is_removed_while_days_are_put_there_is_made_anew(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];
	struct archive *archive;
	char *days;

	fixture_path(fixture, "archive.db", path);
	days_pass(fixture, 12);
	fixture_close(fixture);
	assert_int_equal(
	    archive_open(fixture->directory, true, &archive, &fixture->reason),
	    0);
	for (int day = 0; day < 3; day++) {
		assert_int_equal(
		    archive_put(archive, FIRST_DAY + day, 0, &fixture->reason),
		    0);
		remove_archive(path);
	}
	assert_int_equal(
	    archive_put(archive, FIRST_DAY + 3, 0, &fixture->reason), 0);
	assert_int_equal(archive_trouble(archive).replaced, 3);
	archive_close(&archive);
	days = days_ask(fixture, "archive.db", "SELECT day - 20787 FROM day");
	assert_string_equal(days, "3 \n");
	free(days);
	fixture_open(fixture);
}

static void
execute(sqlite3 *database, const char *sql)
{
	assert_int_equal(
	    sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* No day goes that is not there, and all go when it can be written. */
static void
a_locked_one_is_written_later(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];
	sqlite3 *other;
	char *before;

	set_up_purged(fixture, 9);
	days_pass(fixture, 2);
	before = days_describe(fixture);
	fixture_path(fixture, "archive.db", path);
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	execute(other, "BEGIN IMMEDIATE");
	for (int tries = 1; tries < 3; tries++) {
		assert_true(days_purge(fixture));
		assert_int_equal(days_files(fixture), 9);
		assert_int_equal(figures_of(fixture).failures, tries);
		assert_false(store_has_purge(fixture->store));
		fixture_now_ns += 11 * SECOND_NS;
	}
	execute(other, "ROLLBACK");
	sqlite3_close(other);
	assert_true(days_purge(fixture));
	assert_int_equal(days_files(fixture), 7);
	assert_described(fixture, before);
	free(before);
}

/* As tools leave it that want it for themselves. */
static void
one_that_cannot_even_be_read_is_done_without(void **state)
{
	struct fixture *fixture = *state;
	char path[FIXTURE_PATH_SIZE];
	sqlite3 *other;
	char *before, *totals;

	set_up_purged(fixture, 12);
	before = days_describe(fixture);
	fixture_close(fixture);
	fixture_path(fixture, "archive.db", path);
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	execute(other, "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE;"
		       "DELETE FROM day WHERE day < 0");
	fixture_open(fixture);
	assert_int_equal(figures_of(fixture).failures, 1);
	totals = days_totals(fixture);
	assert_non_null(strstr(before, totals));
	free(totals);
	execute(other, "ROLLBACK");
	sqlite3_close(other);
	assert_described(fixture, before);
	free(before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whatever_others_do_to_it_nothing_is_forgotten),
	    FIXTURE_TEST(
		one_that_is_removed_while_days_are_put_there_is_made_anew),
	    FIXTURE_TEST(a_locked_one_is_written_later),
	    FIXTURE_TEST(one_that_cannot_even_be_read_is_done_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

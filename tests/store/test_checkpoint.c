/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The write-ahead logs stay bounded while much is written, are emptied when
 * nothing is, and readers see whole batches meanwhile.
 */
#include "tests/store/store_fixture.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/file.h>

#include "store/checkpoint.h"
#include "store/query_search.h"
#include "store/read_gate.h"
#include "store/search.h"

#define SEARCHERS 4
/* At which a log is large, and by how many it grows before it is copied again
 * though somebody reads it. */
#define LARGE_PAGES 16384
#define MORE_PAGES 2048
#define COPIES 200

static off_t
size_of(struct fixture *fixture, const char *name)
{
	char path[FIXTURE_PATH_SIZE];
	struct stat status;

	fixture_path(fixture, name, path);
	return stat(path, &status) == 0 ? status.st_size : -1;
}

static void
the_log_is_begun_anew_while_much_is_written(void **state)
{
	struct fixture *fixture = *state;
	off_t largest = 0, size;

	/* 300 MB, were it never copied. */
	for (uint64_t batch = 0; batch < 250; batch++) {
		fixture_write_large_batch(fixture, batch);
		size = size_of(fixture, "day-20261130.db-wal");
		if (size > largest)
			largest = size;
		/* Let the thread have the disk, as a real ingest would. */
		if (size > 64 << 20)
			usleep(20000);
	}
	print_message("# largest log: %ld MB\n", (long)(largest >> 20));
	assert_true(largest < 160 << 20);
	assert_true(size_of(fixture, "day-20261130.db") > 100 << 20);
}

static atomic_bool stop_searching;

/* One of several that look at the last messages again and again, so that hardly
 * ever nobody reads. */
static void *
search_on(void *context)
{
	const struct fixture *fixture = context;
	struct reason reason;
	struct store_reader *reader =
	    store_reader_open(fixture->directory, &reason);
	const struct search search = {.now_wall_ns = NOW_NS};
	const struct search_question question = {
	    .search = &search, .limit = 20};
	struct arena *arena = arena_new(256 << 20);
	struct search_page page;

	while (!atomic_load(&stop_searching)) {
		store_search(reader, &question, arena, &page, &reason);
		arena_reset(arena);
	}
	arena_free(&arena);
	store_reader_free(&reader);
	return NULL;
}

static void
the_log_is_begun_anew_though_somebody_always_reads(void **state)
{
	struct fixture *fixture = *state;
	pthread_t threads[SEARCHERS];
	uint64_t salt = 0, before;
	int begun = 0;

	for (size_t i = 0; i < SEARCHERS; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, search_on, fixture), 0);
	for (uint64_t batch = 0; batch < 400 && begun < 3; batch++) {
		fixture_write_large_batch(fixture, batch);
		before = salt;
		salt = fixture_log_salt(fixture, "day-20261130.db-wal");
		begun += salt != before;
		if (size_of(fixture, "day-20261130.db-wal") > 64 << 20)
			usleep(20000);
	}
	atomic_store(&stop_searching, true);
	for (size_t i = 0; i < SEARCHERS; i++)
		pthread_join(threads[i], NULL);
	print_message("# begun %d times\n", begun);
	assert_int_equal(begun, 3);
}

/* Has the first page read until the connection is closed, so that what is
 * written from then on is not copied. */
static sqlite3 *
reader_of(struct fixture *fixture, const char *name)
{
	char path[FIXTURE_PATH_SIZE];
	sqlite3 *reader;

	fixture_path(fixture, name, path);
	assert_int_equal(sqlite3_open(path, &reader), SQLITE_OK);
	assert_int_equal(
	    sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM sqlite_schema",
		NULL, NULL, NULL),
	    SQLITE_OK);
	return reader;
}

static bool
is_closed(int gate)
{
	if (flock(gate, LOCK_SH | LOCK_NB) != 0)
		return true;
	flock(gate, LOCK_UN);
	return false;
}

/* Returns whether the gate was closed in that time, and open again. */
static bool
closes_within(int gate, int ms)
{
	while (!is_closed(gate)) {
		if (ms-- <= 0)
			return false;
		usleep(1000);
	}
	while (is_closed(gate))
		usleep(1000);
	return true;
}

static void
readers_are_kept_out_only_when_a_log_has_grown(void **state)
{
	struct fixture *fixture = *state;
	struct checkpoint *checkpoint =
	    checkpoint_start(fixture->directory, NULL);
	int gate = read_gate(fixture->directory);
	char path[FIXTURE_PATH_SIZE];
	int pages = LARGE_PAGES;
	sqlite3 *reader;

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	reader = reader_of(fixture, "day-20261130.db");
	fixture_add_both(fixture, 2);
	fixture_must_commit(fixture, 2);
	fixture_path(fixture, "day-20261130.db", path);
	do {
		checkpoint_note(checkpoint, path, pages);
		pages += MORE_PAGES;
	} while (!closes_within(gate, 20));
	pages -= MORE_PAGES;
	for (int i = 0; i < 10; i++) {
		checkpoint_note(checkpoint, path, ++pages);
		assert_false(closes_within(gate, 20));
	}
	checkpoint_note(checkpoint, path, pages + MORE_PAGES);
	assert_true(closes_within(gate, 10000));
	sqlite3_close(reader);
	checkpoint_stop(&checkpoint);
	close(gate);
}

struct impatient {
	const char *path;
	atomic_bool stop;
	unsigned long looks, locked;
};

/* Somebody with SQL of his own, who does not wait for locks. */
static void *
look_without_patience(void *context)
{
	struct impatient *impatient = context;

	while (!atomic_load(&impatient->stop)) {
		sqlite3 *reader;

		assert_int_equal(sqlite3_open_v2(impatient->path, &reader,
				     SQLITE_OPEN_READONLY, NULL),
		    SQLITE_OK);
		impatient->locked +=
		    sqlite3_exec(reader, "SELECT count(*) FROM message", NULL,
			NULL, NULL) != SQLITE_OK;
		impatient->looks++;
		sqlite3_close(reader);
	}
	return NULL;
}

static void
copying_a_log_disturbs_no_reader(void **state)
{
	struct fixture *fixture = *state;
	struct checkpoint *checkpoint =
	    checkpoint_start(fixture->directory, NULL);
	struct impatient impatient = {.looks = 0};
	char path[FIXTURE_PATH_SIZE];
	pthread_t thread;

	fixture_path(fixture, "day-20261130.db", path);
	fixture_add_both(fixture, 0);
	fixture_must_commit(fixture, 1);
	impatient.path = path;
	assert_int_equal(
	    pthread_create(&thread, NULL, look_without_patience, &impatient),
	    0);
	for (uint64_t number = 1; number < COPIES; number++) {
		fixture_add_both(fixture, number);
		fixture_must_commit(fixture, number + 1);
		while (!checkpoint_copy(checkpoint, path))
			usleep(1000);
	}
	atomic_store(&impatient.stop, true);
	pthread_join(thread, NULL);
	print_message("# %lu looks\n", impatient.looks);
	assert_true(impatient.looks > COPIES);
	assert_int_equal(impatient.locked, 0);
	checkpoint_stop(&checkpoint);
}

static void
closing_empties_the_log_and_leaves_it(void **state)
{
	struct fixture *fixture = *state;

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	assert_true(size_of(fixture, "day-20261130.db-wal") > 0);
	fixture_close(fixture);
	assert_int_equal(size_of(fixture, "day-20261130.db-wal"), 0);
	assert_true(size_of(fixture, "day-20261130.db-shm") > 0);
	assert_int_equal(size_of(fixture, "control.db-wal"), 0);
}

static void
an_idle_log_is_emptied_while_a_reader_has_the_file(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct message_record *records;
	int waited_ms = 0;

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	fixture_fill_message(&message, 1);
	assert_int_equal(fixture_find(fixture, message.queue_id, &records), 1);
	while (
	    size_of(fixture, "day-20261130.db-wal") != 0 && waited_ms < 40000) {
		usleep(50000);
		waited_ms += 50;
	}
	assert_int_equal(size_of(fixture, "day-20261130.db-wal"), 0);
	assert_int_equal(fixture_find(fixture, message.queue_id, &records), 1);
	fixture_add_both(fixture, 2);
	fixture_must_commit(fixture, 2);
	fixture_fill_message(&message, 2);
	assert_int_equal(fixture_find(fixture, message.queue_id, &records), 1);
}

struct watcher {
	struct fixture *fixture;
	atomic_bool stop;
	unsigned long looks, partial, errors;
};

/* A message and its delivery are written in one batch: whoever sees the one
 * sees the other. */
static void *
watch(void *argument)
{
	struct watcher *watcher = argument;
	struct reason reason;
	struct store_reader *reader =
	    store_reader_open(watcher->fixture->directory, &reason);
	struct arena *arena = arena_new(64 << 20);
	struct fixture_message message;
	struct message_record *records;
	uint64_t number = 0;

	while (!atomic_load(&watcher->stop)) {
		long count;

		fixture_fill_message(&message, number);
		arena_reset(arena);
		count = store_find(
		    reader, message.queue_id, 10, arena, &records, &reason);
		watcher->looks++;
		if (count < 0)
			watcher->errors++;
		if (count == 1 && records->leg_count != 1)
			watcher->partial++;
		if (count == 1)
			number++;
	}
	arena_free(&arena);
	store_reader_free(&reader);
	return NULL;
}

static void
readers_see_whole_batches_while_they_are_written(void **state)
{
	struct fixture *fixture = *state;
	struct watcher watcher = {.fixture = fixture};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, watch, &watcher), 0);
	for (uint64_t number = 0; number < 1500; number++) {
		fixture_add_both(fixture, number);
		if (number % 10 == 9)
			fixture_must_commit(fixture, number);
	}
	fixture_must_commit(fixture, 1500);
	atomic_store(&watcher.stop, true);
	pthread_join(thread, NULL);
	print_message("# %lu looks\n", watcher.looks);
	assert_int_equal(watcher.errors, 0);
	assert_int_equal(watcher.partial, 0);
	assert_true(watcher.looks > 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	    TEST(the_log_is_begun_anew_while_much_is_written),
	    TEST(the_log_is_begun_anew_though_somebody_always_reads),
	    TEST(readers_are_kept_out_only_when_a_log_has_grown),
	    TEST(copying_a_log_disturbs_no_reader),
	    TEST(closing_empties_the_log_and_leaves_it),
	    TEST(an_idle_log_is_emptied_while_a_reader_has_the_file),
	    TEST(readers_see_whole_batches_while_they_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

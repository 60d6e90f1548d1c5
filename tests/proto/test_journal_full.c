/* SPDX-License-Identifier: BSD-2-Clause */
/* The size limit and a full disk: events are dropped and counted, mail goes on,
 * and when there is room again nothing more is lost (I1, I2, I8). */
#include "tests/proto/journal_fixture.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#define TMPFS_BYTES (256 << 10)

static uint64_t
dropped_by_limit(void)
{
	return producer_counted(PRODUCER_EVENTS_DROPPED_LIMIT);
}

static uint64_t
dropped_by_error(void)
{
	return producer_counted(PRODUCER_EVENTS_DROPPED_ERROR);
}

static int
append_half(struct journal_writer *writer, uint64_t number)
{
	struct event event;

	fixture_event(&event, number);
	return journal_writer_append(writer, &event, JOURNAL_SHARE_HALF);
}

/* Appends until one is dropped. Returns the number of the dropped one. */
static uint64_t
append_until_dropped(struct journal_writer *writer, uint64_t number)
{
	while (fixture_append(writer, number) == 1)
		number++;
	return number;
}

static int64_t
total_bytes(const struct fixture *fixture)
{
	int64_t bytes = 0;

	for (long i = fixture_segment_count(fixture); i-- > 0;) {
		int fd = fixture_segment_fd(fixture, i);

		bytes += fixture_size(fd);
		close(fd);
	}
	return bytes;
}

/* Reads all and removes what was read. Returns how many events there were. */
static uint64_t
read_and_remove(struct fixture *fixture)
{
	uint64_t count = 0;
	struct journal_position position;

	if (fixture->reader == NULL)
		fixture_read(fixture);
	while (fixture_next_event(fixture) != NULL)
		count++;
	position = journal_reader_position(fixture->reader);
	assert_true(
	    journal_reader_remove(fixture->reader, position, NULL) >= 0);
	return count;
}

/* Sums what the heartbeats of the rest of the journal tell. */
static uint64_t
told(struct fixture *fixture, enum producer_counter counter)
{
	const struct journal_record *record;
	uint64_t sum = 0;

	while ((record = fixture_next(fixture)) != NULL)
		if (record->event.type == EVENT_HEARTBEAT)
			sum += record->event.heartbeat.increases[counter];
	return sum;
}

static void
the_limit_bounds_all_segments_together(void **state)
{
	struct fixture *fixture = *state;
	struct journal_writer *writer;
	uint64_t appended;

	fixture->settings.limit_bytes = 128 << 10;
	writer = fixture_open(fixture);
	appended = append_until_dropped(writer, 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(fixture_append(writer, appended), 0);
	assert_int_equal(dropped_by_limit(), 101);
	assert_int_equal(dropped_by_error(), 0);
	journal_writer_close(&writer);
	assert_true(total_bytes(fixture) <= 128 << 10);
	assert_true(total_bytes(fixture) > 110 << 10);
	assert_int_equal(read_and_remove(fixture), appended);
	/* Also for the next process. */
	fixture->settings.limit_bytes = 1000;
	writer = fixture_open(fixture);
	assert_int_equal(fixture_append(writer, 0), 0);
	journal_writer_close(&writer);
}

static void
what_the_reader_removes_can_be_written_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct journal_writer *writer;
	uint64_t number = 0, first;

	fixture->settings.limit_bytes = 128 << 10;
	fixture->settings.sync_interval_ns = 0;
	writer = fixture_open(fixture);
	for (int round = 0; round < 5; round++) {
		first = number;
		number = append_until_dropped(writer, number);
		/* All but the newest segment was free. */
		assert_true(round == 0 || number - first > 200);
		assert_int_equal(read_and_remove(fixture), number - first);
	}
	assert_int_equal(fixture_append(writer, number), 1);
	journal_writer_close(&writer);
	fixture_next_event(fixture);
	assert_int_equal(fixture_number(&fixture->record.event), number);
	assert_int_equal(dropped_by_limit(), 5);
}

/* Segments that grew beyond their size, because they were written faster than
 * they could be synced, are left all the same. */
static void
a_reached_limit_ends_a_large_segment(void **state)
{
	struct fixture *fixture = *state;
	struct journal_writer *writer;
	uint64_t number = 0;

	fixture->settings.limit_bytes = 512 << 10;
	fixture->settings.segment_bytes = 1000;
	writer = fixture_open(fixture);
	number = append_until_dropped(writer, number);
	fixture_read(fixture);
	for (int round = 0; round < 10; round++) {
		fixture_wait((read_and_remove(fixture),
		    fixture_append(writer, number) == 1));
		number = append_until_dropped(writer, number + 1);
	}
	journal_writer_close(&writer);
}

static void
what_an_attacker_makes_at_will_fills_half_at_most(void **state)
{
	struct fixture *fixture = *state;
	struct journal_writer *writer;
	uint64_t number = 0, halves;

	fixture->settings.limit_bytes = 256 << 10;
	writer = fixture_open(fixture);
	while (append_half(writer, number) == 1)
		number++;
	halves = number;
	assert_true(total_bytes(fixture) <= 128 << 10);
	for (int i = 0; i < 50; i++)
		assert_int_equal(append_half(writer, number), 0);
	number = append_until_dropped(writer, number);
	assert_true(number > halves * 3 / 2);
	assert_int_equal(dropped_by_limit(), 52);
	assert_int_equal(read_and_remove(fixture), number);
	assert_int_equal(append_half(writer, number), 1);
	journal_writer_close(&writer);
}

static void
heartbeats_tell_of_drops_while_the_limit_is_reached(void **state)
{
	struct fixture *fixture = *state;
	struct journal_writer *writer;
	uint64_t number;

	fixture->settings.limit_bytes = 128 << 10;
	writer = fixture_open(fixture);
	number = append_until_dropped(writer, 0);
	for (int i = 0; i < 9; i++)
		fixture_append(writer, number);
	journal_writer_close(&writer);
	fixture_read(fixture);
	assert_int_equal(told(fixture, PRODUCER_EVENTS_DROPPED_LIMIT), 10);
}

/* A small file system of our own, mounted where the source's directory is. */
static void
mount_small(struct fixture *fixture, char path[PATH_MAX + 16])
{
	char options[64];

	snprintf(path, PATH_MAX + 16, "%s/" SOURCE, fixture->directory);
	snprintf(options, sizeof(options), "size=%d", TMPFS_BYTES);
	assert_int_equal(mkdir(path, 0700), 0);
	if (mount("tmpfs", path, "tmpfs", 0, options) == 0)
		return;
	print_message("# no right to mount: %s\n", strerror(errno));
	skip();
}

/* Fills what is left of the file system, to the last byte. */
static void
fill_disk(const struct fixture *fixture)
{
	static const char zeros[4096];
	int directory_fd = fixture_source_fd(fixture);
	int fd =
	    openat(directory_fd, "filler", O_CREAT | O_WRONLY | O_APPEND, 0600);

	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	close(fd);
	close(directory_fd);
}

static void
free_disk(const struct fixture *fixture)
{
	int directory_fd = fixture_source_fd(fixture);

	assert_int_equal(unlinkat(directory_fd, "filler", 0), 0);
	close(directory_fd);
}

static void
a_full_disk_drops_counts_and_recovers_at_once(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_MAX + 16];
	struct journal_writer *writer;
	uint64_t number = 0, dropped = 0;

	mount_small(fixture, path);
	writer = fixture_open(fixture);
	fixture_read(fixture);
	for (int round = 0; round < 10; round++) {
		uint64_t first = number;

		fill_disk(fixture);
		number = append_until_dropped(writer, number);
		for (int i = 0; i < 20; i++)
			assert_int_equal(fixture_append(writer, number), 0);
		dropped += 21;
		assert_int_equal(dropped_by_error(), dropped);
		assert_int_equal(fixture_expect_from(fixture, first), number);
		free_disk(fixture);
		first = number;
		for (int i = 0; i < 20; i++)
			assert_int_equal(fixture_append(writer, number++), 1);
		assert_int_equal(fixture_expect_from(fixture, first), number);
	}
	journal_writer_close(&writer);
	assert_true(fixture_is_undamaged(fixture));
	fixture_read(fixture);
	assert_int_equal(told(fixture, PRODUCER_EVENTS_DROPPED_ERROR), dropped);
	journal_reader_free(&fixture->reader);
	assert_int_equal(umount(path), 0);
}

static void
a_disk_full_from_the_start_is_no_reason_not_to_start(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_MAX + 16];
	struct journal_writer *writer;

	mount_small(fixture, path);
	fill_disk(fixture);
	writer = fixture_open(fixture);
	assert_int_equal(fixture_segment_count(fixture), 0);
	assert_int_equal(fixture_append(writer, 0), 0);
	free_disk(fixture);
	assert_int_equal(fixture_append(writer, 0), 1);
	journal_writer_close(&writer);
	fixture_read(fixture);
	assert_int_equal(fixture_expect_from(fixture, 0), 1);
	fixture_read(fixture);
	assert_int_equal(told(fixture, PRODUCER_EVENTS_DROPPED_ERROR), 1);
	journal_reader_free(&fixture->reader);
	assert_int_equal(umount(path), 0);
}

static void
a_full_disk_does_not_end_a_segment_that_can_go_on(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_MAX + 16];
	struct journal_writer *writer;
	uint64_t number = 0;

	mount_small(fixture, path);
	fixture->settings.segment_bytes = 2000;
	writer = fixture_open(fixture);
	while (fixture_segment_count(fixture) == 1)
		assert_int_equal(fixture_append(writer, number++), 1);
	fill_disk(fixture);
	/* There is room in the last page of the segment, for no new one. */
	for (int i = 0; i < 8; i++)
		assert_int_equal(fixture_append(writer, number++), 1);
	number = append_until_dropped(writer, number);
	free_disk(fixture);
	journal_writer_close(&writer);
	fixture_read(fixture);
	assert_int_equal(fixture_expect_from(fixture, 0), number);
	journal_reader_free(&fixture->reader);
	assert_int_equal(umount(path), 0);
}

/* The file system has room and the write fails all the same. */
static void
a_file_that_may_not_grow_drops_counts_and_recovers(void **state)
{
	struct fixture *fixture = *state;
	struct rlimit before, small;
	struct journal_writer *writer;
	uint64_t number, dropped;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 20000;
	writer = fixture_open(fixture);
	fixture_read(fixture);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	number = append_until_dropped(writer, 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(fixture_append(writer, number), 0);
	assert_int_equal(dropped_by_error(), 1001);
	assert_int_equal(fixture_expect_from(fixture, 0), number);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	/* Not known to be possible: it is tried again after a while. */
	fixture_wait(fixture_append(writer, number) == 1);
	dropped = dropped_by_error();
	for (int i = 0; i < 20; i++)
		assert_int_equal(fixture_append(writer, ++number), 1);
	journal_writer_close(&writer);
	fixture_expect_from(fixture, number - 20);
	assert_true(fixture_is_undamaged(fixture));
	fixture_read(fixture);
	assert_int_equal(told(fixture, PRODUCER_EVENTS_DROPPED_ERROR), dropped);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(the_limit_bounds_all_segments_together),
	    FIXTURE_TEST(what_the_reader_removes_can_be_written_at_once),
	    FIXTURE_TEST(a_reached_limit_ends_a_large_segment),
	    FIXTURE_TEST(what_an_attacker_makes_at_will_fills_half_at_most),
	    FIXTURE_TEST(heartbeats_tell_of_drops_while_the_limit_is_reached),
	    FIXTURE_TEST(a_full_disk_drops_counts_and_recovers_at_once),
	    FIXTURE_TEST(a_disk_full_from_the_start_is_no_reason_not_to_start),
	    FIXTURE_TEST(a_full_disk_does_not_end_a_segment_that_can_go_on),
	    FIXTURE_TEST(a_file_that_may_not_grow_drops_counts_and_recovers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What the journal promises to a producer, on a sound disk. */
#include "tests/proto/journal_fixture.h"

#include <pthread.h>

static void
appended_events_are_read_back_in_order(void **state)
{
	struct fixture *fixture = *state;
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];

	fixture_write(fixture, 500);
	fixture_read(fixture);
	assert_int_equal(fixture_expect_from(fixture, 0), 500);
	assert_true(fixture_is_undamaged(fixture));
	fixture_read(fixture);
	assert_non_null(fixture_next(fixture));
	clock_boot_id(boot_id);
	assert_string_equal(fixture->record.segment->source, SOURCE);
	assert_string_equal(
	    fixture->record.segment->instance, "mx.example.com");
	assert_string_equal(fixture->record.segment->program, "test 1");
	assert_memory_equal(
	    fixture->record.segment->boot_id, boot_id, sizeof(boot_id));
}

static void
heartbeats_tell_of_exactly_what_stands_before_them(void **state)
{
	struct fixture *fixture = *state;
	const struct journal_record *record;
	struct journal_writer *writer;
	uint64_t events = 0, told = 0, bytes = 0, told_bytes = 0, beats = 0;

	fixture->settings.heartbeat_interval_ns = SECOND_NS / 100;
	writer = fixture_open(fixture);
	for (uint64_t i = 0; i < 20000; i++)
		assert_int_equal(fixture_append(writer, i), 1);
	journal_writer_close(&writer);
	fixture_read(fixture);
	while ((record = fixture_next(fixture)) != NULL) {
		if (record->event.type != EVENT_HEARTBEAT) {
			events++;
			bytes += record->position.offset - record->offset;
			continue;
		}
		assert_int_equal(record->event.heartbeat.start, beats++ == 0);
		told +=
		    record->event.heartbeat.increases[PRODUCER_EVENTS_APPENDED];
		told_bytes +=
		    record->event.heartbeat.increases[PRODUCER_BYTES_APPENDED];
		assert_int_equal(told, events);
		assert_int_equal(told_bytes, bytes);
	}
	assert_int_equal(events, 20000);
	assert_int_equal(told, 20000);
}

static void
idle_writers_send_heartbeats(void **state)
{
	struct fixture *fixture = *state;
	struct journal_writer *writer;

	fixture->settings.heartbeat_interval_ns = SECOND_NS / 100;
	writer = fixture_open(fixture);
	fixture_read(fixture);
	for (int beats = 0; beats < 5; beats++)
		fixture_wait(fixture_next(fixture) != NULL);
	journal_writer_close(&writer);
}

static void
a_second_writer_is_refused_until_the_first_ends(void **state)
{
	struct fixture *fixture = *state;
	struct journal_writer *writer = fixture_open(fixture);
	struct reason reason = {""};

	assert_null(journal_writer_open(&fixture->settings, &reason));
	assert_non_null(strstr(reason.text, "another process"));
	assert_int_equal(fixture_segment_count(fixture), 1);
	assert_int_equal(fixture_append(writer, 0), 1);
	journal_writer_close(&writer);
	writer = fixture_open(fixture);
	journal_writer_close(&writer);
	journal_writer_close(&writer);
	assert_int_equal(fixture_segment_count(fixture), 2);
}

static void
a_directory_that_cannot_be_used_is_an_error_with_its_name(void **state)
{
	struct fixture *fixture = *state;
	struct reason reason = {""};
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/missing", fixture->directory);
	fixture->settings.directory = path;
	assert_null(journal_writer_open(&fixture->settings, &reason));
	assert_non_null(strstr(reason.text, "missing"));
	fixture->settings.directory = fixture->directory;
	close(open(path, O_CREAT | O_WRONLY, 0600));
	fixture->settings.source = "missing";
	assert_null(journal_writer_open(&fixture->settings, &reason));
	assert_non_null(strstr(reason.text, "missing"));
}

static void
files_are_for_the_group_to_read_whatever_the_umask(void **state)
{
	static const struct {
		const char *name;
		mode_t mode;
	} rows[] = {{".", 02770}, {"lock", 0660}, {NULL, 0640}};
	struct fixture *fixture = *state;
	mode_t before = umask(0777);
	struct stat status;
	char name[SEGMENT_NAME_SIZE];
	uint64_t *numbers;
	int fd;

	fixture_write(fixture, 1);
	umask(before);
	fd = fixture_source_fd(fixture);
	fixture_segments(fixture, &numbers);
	segment_name(numbers[0], name);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_row(
		    i, fstatat(fd, rows[i].name != NULL ? rows[i].name : name,
			   &status, 0) == 0);
		assert_row(i, (status.st_mode & 07777) == rows[i].mode);
	}
	free(numbers);
	close(fd);
}

static void
segments_change_by_size_and_lose_nothing(void **state)
{
	struct fixture *fixture = *state;
	long count;

	fixture->settings.segment_bytes = 4096;
	fixture->settings.sync_interval_ns = 0;
	fixture_write(fixture, 400);
	count = fixture_segment_count(fixture);
	assert_true(count > 10);
	for (long i = 0; i < count; i++) {
		int fd = fixture_segment_fd(fixture, i);

		assert_true(fixture_size(fd) <= 4096);
		close(fd);
	}
	fixture_read(fixture);
	assert_int_equal(fixture_expect_from(fixture, 0), 400);
	assert_true(fixture_is_undamaged(fixture));
}

/* Faster than they can be synced and closed: some become larger. */
static void
segments_that_change_too_fast_lose_nothing(void **state)
{
	struct fixture *fixture = *state;

	fixture->settings.segment_bytes = 1000;
	fixture_write(fixture, 2000);
	fixture_read(fixture);
	assert_int_equal(fixture_expect_from(fixture, 0), 2000);
	assert_true(fixture_is_undamaged(fixture));
}

static void
segments_change_by_age_once_there_are_records(void **state)
{
	struct fixture *fixture = *state;
	struct journal_writer *writer;

	fixture->settings.segment_age_ns = SECOND_NS / 20;
	writer = fixture_open(fixture);
	fixture_wait(fixture_segment_count(fixture) == 2);
	/* The second one has none, and stays. */
	assert_int_equal(fixture_append(writer, 0), 1);
	fixture_wait(fixture_segment_count(fixture) == 3);
	assert_int_equal(fixture_append(writer, 1), 1);
	journal_writer_close(&writer);
	fixture_read(fixture);
	assert_int_equal(fixture_expect_from(fixture, 0), 2);
}

static struct stamp
a_day_ago(void)
{
	struct timespec wall, monotonic;

	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	return (struct stamp){(wall.tv_sec - 86400) * SECOND_NS + wall.tv_nsec,
	    monotonic.tv_sec * SECOND_NS + monotonic.tv_nsec};
}

static struct stamp
before_1970(void)
{
	struct stamp stamp = a_day_ago();

	stamp.wall_ns = -5 * SECOND_NS;
	return stamp;
}

static void
a_clock_set_back_does_not_reorder_events(void **state)
{
	struct fixture *fixture = *state;
	struct stamp (*const clocks[])(void) = {NULL, a_day_ago, before_1970};
	struct journal_writer *writer;
	uint64_t number = 0;

	fixture->settings.segment_bytes = 1500;
	for (size_t i = 0; i < COUNT(clocks); i++) {
		clock_set_source(clocks[i]);
		writer = fixture_open(fixture);
		for (int n = 0; n < 30; n++)
			assert_int_equal(fixture_append(writer, number++), 1);
		journal_writer_close(&writer);
	}
	clock_set_source(NULL);
	assert_true(fixture_segment_count(fixture) > 6);
	fixture_read(fixture);
	assert_int_equal(fixture_expect_from(fixture, 0), number);
}

/* Many threads append what is numbered per thread; a reader follows. */
#define THREADS 8
#define EACH 3000
#define EACH_SYNCED 100

struct appender {
	pthread_t thread;
	struct journal_writer *writer;
	uint64_t first;
	uint64_t count;
};

static void *
append_many(void *argument)
{
	struct appender *appender = argument;
	struct event event = {.type = EVENT_MESSAGE};

	event.message.sender = "sender@example.com";
	event.message.helo = "a name that makes the record longer";
	for (uint64_t i = 0; i < appender->count; i++) {
		event.message.session = appender->first + i;
		if (journal_writer_append(
			appender->writer, &event, JOURNAL_SHARE_ALL) != 1)
			return argument;
	}
	return NULL;
}

static void
start_appenders(
    struct appender *appenders, struct journal_writer *writer, uint64_t count)
{
	for (uint64_t i = 0; i < THREADS; i++) {
		appenders[i].writer = writer;
		appenders[i].first = i * EACH;
		appenders[i].count = count;
		assert_int_equal(pthread_create(&appenders[i].thread, NULL,
				     append_many, &appenders[i]),
		    0);
	}
}

static void
join_appenders(struct appender *appenders)
{
	void *failed;

	for (int i = 0; i < THREADS; i++) {
		pthread_join(appenders[i].thread, &failed);
		assert_null(failed);
	}
}

/* Reads what is there; each thread's events must come in its order. */
static uint64_t
read_appended(struct fixture *fixture, uint64_t next[THREADS])
{
	const struct journal_record *record;
	uint64_t number, count = 0;

	while ((record = fixture_next_event(fixture)) != NULL) {
		number = fixture_number(&record->event);
		assert_int_equal(number % EACH, next[number / EACH]++);
		count++;
	}
	return count;
}

static void
concurrent_appends_are_followed(struct fixture *fixture)
{
	struct appender appenders[THREADS];
	uint64_t next[THREADS] = {0}, count = 0;
	struct journal_writer *writer = fixture_open(fixture);

	fixture_read(fixture);
	start_appenders(appenders, writer, EACH);
	fixture_wait((count += read_appended(fixture, next)) == THREADS * EACH);
	join_appenders(appenders);
	journal_writer_close(&writer);
	assert_int_equal(read_appended(fixture, next), 0);
	assert_true(fixture_is_undamaged(fixture));
	assert_int_equal(journal_reader_behind_bytes(fixture->reader), 0);
}

static void
a_reader_follows_eight_threads(void **state)
{
	struct fixture *fixture = *state;

	fixture->settings.segment_bytes = 64 << 10;
	concurrent_appends_are_followed(fixture);
}

static void
a_reader_follows_eight_threads_while_segments_change_and_sync(void **state)
{
	struct fixture *fixture = *state;

	fixture->settings.segment_bytes = 16 << 10;
	fixture->settings.segment_age_ns = SECOND_NS / 100;
	fixture->settings.heartbeat_interval_ns = SECOND_NS / 100;
	fixture->settings.sync_interval_ns = SECOND_NS / 1000;
	concurrent_appends_are_followed(fixture);
}

static void
syncing_before_the_answer_serves_several_threads(void **state)
{
	struct fixture *fixture = *state;
	struct appender appenders[THREADS];
	struct journal_writer *writer;
	uint64_t next[THREADS] = {0};

	fixture->settings.sync_interval_ns = 0;
	fixture->settings.segment_bytes = 64 << 10;
	writer = fixture_open(fixture);
	start_appenders(appenders, writer, EACH_SYNCED);
	join_appenders(appenders);
	journal_writer_close(&writer);
	fixture_read(fixture);
	assert_int_equal(read_appended(fixture, next), THREADS * EACH_SYNCED);
}

static void
an_abandoned_journal_has_its_last_heartbeat_and_takes_no_more(void **state)
{
	struct fixture *fixture = *state;
	static struct journal_writer *writer; /* never freed */

	writer = fixture_open(fixture);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(fixture_append(writer, i), 1);
	producer_count(PRODUCER_UNSTAMPED_STOPPED, 3);
	journal_writer_abandon(writer);
	journal_writer_abandon(writer);
	assert_int_equal(fixture_append(writer, 10), 0);
	assert_int_equal(producer_counted(PRODUCER_EVENTS_DROPPED_ERROR), 1);
	fixture_read(fixture);
	for (int i = 0; i < 12; i++)
		assert_non_null(fixture_next(fixture));
	assert_int_equal(fixture->record.event.type, EVENT_HEARTBEAT);
	assert_int_equal(fixture->record.event.heartbeat
			     .increases[PRODUCER_UNSTAMPED_STOPPED],
	    3);
	assert_null(fixture_next(fixture));
}

static void
an_event_too_large_is_dropped_and_counted(void **state)
{
	struct fixture *fixture = *state;
	struct journal_writer *writer = fixture_open(fixture);
	struct event event = {.type = EVENT_MESSAGE};
	size_t size = 5 << 20;
	char *helo = malloc(size);

	memset(helo, 'h', size);
	helo[size - 1] = '\0';
	event.message.helo = helo;
	assert_int_equal(
	    journal_writer_append(writer, &event, JOURNAL_SHARE_ALL), 0);
	helo[4000000] = '\0';
	assert_int_equal(
	    journal_writer_append(writer, &event, JOURNAL_SHARE_ALL), 1);
	assert_int_equal(fixture_append(writer, 7), 1);
	journal_writer_close(&writer);
	assert_int_equal(producer_counted(PRODUCER_EVENTS_DROPPED_MEMORY), 1);
	fixture_read(fixture);
	assert_non_null(fixture_next_event(fixture));
	assert_int_equal(strlen(fixture->record.event.message.helo), 4000000);
	assert_int_equal(fixture_expect_from(fixture, 7), 8);
	free(helo);
}

static void
a_removed_segment_is_replaced_at_the_next_heartbeat(void **state)
{
	struct fixture *fixture = *state;
	struct journal_writer *writer;
	char name[SEGMENT_NAME_SIZE];
	uint64_t *numbers;
	int fd;

	fixture->settings.heartbeat_interval_ns = SECOND_NS / 50;
	writer = fixture_open(fixture);
	fd = fixture_source_fd(fixture);
	assert_int_equal(fixture_segments(fixture, &numbers), 1);
	segment_name(numbers[0], name);
	free(numbers);
	assert_int_equal(unlinkat(fd, name, 0), 0);
	fixture_wait(fixture_segment_count(fixture) == 1);
	assert_int_equal(fixture_append(writer, 0), 1);
	journal_writer_close(&writer);
	fixture_read(fixture);
	assert_int_equal(fixture_expect_from(fixture, 0), 1);
	close(fd);
}

static void
what_a_crash_left_unnamed_does_not_matter(void **state)
{
	struct fixture *fixture = *state;
	int fd;

	fixture_write(fixture, 1);
	fd = fixture_source_fd(fixture);
	close(openat(fd, "new", O_CREAT | O_WRONLY, 0));
	close(fd);
	fixture_write(fixture, 1);
	fixture_read(fixture);
	assert_non_null(fixture_next_event(fixture));
	assert_int_equal(fixture_expect_from(fixture, 0), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(appended_events_are_read_back_in_order),
	    FIXTURE_TEST(heartbeats_tell_of_exactly_what_stands_before_them),
	    FIXTURE_TEST(idle_writers_send_heartbeats),
	    FIXTURE_TEST(a_second_writer_is_refused_until_the_first_ends),
	    FIXTURE_TEST(
		a_directory_that_cannot_be_used_is_an_error_with_its_name),
	    FIXTURE_TEST(files_are_for_the_group_to_read_whatever_the_umask),
	    FIXTURE_TEST(segments_change_by_size_and_lose_nothing),
	    FIXTURE_TEST(segments_that_change_too_fast_lose_nothing),
	    FIXTURE_TEST(segments_change_by_age_once_there_are_records),
	    FIXTURE_TEST(a_clock_set_back_does_not_reorder_events),
	    FIXTURE_TEST(a_reader_follows_eight_threads),
	    FIXTURE_TEST(
		a_reader_follows_eight_threads_while_segments_change_and_sync),
	    FIXTURE_TEST(syncing_before_the_answer_serves_several_threads),
	    FIXTURE_TEST(
		an_abandoned_journal_has_its_last_heartbeat_and_takes_no_more),
	    FIXTURE_TEST(an_event_too_large_is_dropped_and_counted),
	    FIXTURE_TEST(a_removed_segment_is_replaced_at_the_next_heartbeat),
	    FIXTURE_TEST(what_a_crash_left_unnamed_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

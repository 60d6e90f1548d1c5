/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_fixture: a private directory of journals, events to put into it, and
 * what a reader finds there.
 *
 * Each event carries its number in `session`, so that a test can tell which
 * ones came back.
 */
#ifndef TESTS_PROTO_JOURNAL_FIXTURE_H
#define TESTS_PROTO_JOURNAL_FIXTURE_H

#include "base/log.h"
#include "base/reason.h"
#include "proto/event.h"
#include "proto/journal_reader.h"
#include "proto/journal_writer.h"
#include "proto/producer_counter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/unit.h"

#define SECOND_NS INT64_C(1000000000)
#define SOURCE "milter"

struct fixture {
	char directory[PATH_MAX];
	struct journal_writer_settings settings;
	struct journal_reader *reader;
	struct journal_record record;
};

static inline int
fixture_setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const char *parent = getenv("TMPDIR");

	snprintf(fixture->directory, sizeof(fixture->directory),
	    "%s/journal.XXXXXX", parent != NULL ? parent : "/tmp");
	if (mkdtemp(fixture->directory) == NULL)
		return -1;
	fixture->settings = (struct journal_writer_settings){
	    .directory = fixture->directory,
	    .source = SOURCE,
	    .instance = "mx.example.com",
	    .program = "test 1",
	    .segment_bytes = 16 << 20,
	    .segment_age_ns = 3600 * SECOND_NS,
	    .limit_bytes = 1 << 30,
	    .sync_interval_ns = SECOND_NS,
	    .heartbeat_interval_ns = 3600 * SECOND_NS,
	};
	producer_counters_reset();
	log_set_level(LOG_LEVEL_ERROR);
	*state = fixture;
	return 0;
}

static inline int
fixture_unlink(
    const char *path, const struct stat *status, int type, struct FTW *walk)
{
	return remove(path);
}

static inline int
fixture_teardown(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_MAX + sizeof(SOURCE) + 1];

	journal_reader_free(&fixture->reader);
	/* What a test that failed may have mounted. */
	snprintf(path, sizeof(path), "%s/" SOURCE, fixture->directory);
	umount2(path, MNT_DETACH);
	nftw(fixture->directory, fixture_unlink, 16, FTW_DEPTH | FTW_PHYS);
	free(fixture);
	return 0;
}

#define FIXTURE_TEST(function)                                                 \
	cmocka_unit_test_setup_teardown(                                       \
	    function, fixture_setup, fixture_teardown)

/* A message, a delivery or an abort, of different sizes, numbered. */
static inline void
fixture_event(struct event *event, uint64_t number)
{
	static const char *const texts[] = {
	    "a", "somebody@example.com", "\xc3\xa9\xff 8-bit", NULL, "<>"};
	static struct message_recipient to[3];
	static struct delivery_recipient by[2];
	const char *text = texts[number % COUNT(texts)];

	*event = (struct event){0};
	if (number % 3 == 2) {
		struct delivery_event *delivery = &event->delivery;

		event->type = EVENT_DELIVERY;
		delivery->id = uuid_new((int64_t)number * SECOND_NS);
		delivery->session = number;
		delivery->queue_id = "4Kt8Fh2vZlz9";
		delivery->sender = "";
		delivery->run = text;
		delivery->mail_at = clock_stamp();
		delivery->ending = DELIVERY_ENDING_COMPLETED;
		by[0].address = by[1].address = "user@example.org";
		by[1].position = 1;
		by[0].final.code = by[1].envelope.code = 250;
		by[0].final.text = "Saved";
		delivery->recipients = by;
		delivery->recipient_count = number % 7 == 0 ? 2 : 1;
		return;
	}
	event->type = EVENT_MESSAGE;
	event->message.id = uuid_new((int64_t)number * SECOND_NS);
	event->message.session = number;
	event->message.sender = "sender@example.com";
	event->message.helo = text;
	event->message.mail_at = clock_stamp();
	for (size_t i = 0; i < COUNT(to); i++)
		to[i].address = "recipient@example.org";
	event->message.recipients = to;
	event->message.recipient_count = number % 4;
}

static inline uint64_t
fixture_number(const struct event *event)
{
	if (event->type == EVENT_HEARTBEAT)
		return UINT64_MAX;
	return event->type == EVENT_MESSAGE ? event->message.session
					    : event->delivery.session;
}

static inline struct journal_writer *
fixture_open(struct fixture *fixture)
{
	struct reason reason = {""};
	struct journal_writer *writer =
	    journal_writer_open(&fixture->settings, &reason);

	if (writer == NULL)
		fail_msg("%s", reason.text);
	return writer;
}

static inline int
fixture_append(struct journal_writer *writer, uint64_t number)
{
	struct event event;

	fixture_event(&event, number);
	return journal_writer_append(writer, &event, JOURNAL_SHARE_ALL);
}

/* A journal of `count` events in one segment. */
static inline void
fixture_write(struct fixture *fixture, uint64_t count)
{
	struct journal_writer *writer = fixture_open(fixture);

	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(fixture_append(writer, i), 1);
	journal_writer_close(&writer);
}

/* Begins to read from a position. */
static inline void
fixture_read_from(struct fixture *fixture, struct journal_position from)
{
	struct reason reason = {""};

	journal_reader_free(&fixture->reader);
	fixture->reader =
	    journal_reader_open(fixture->directory, SOURCE, from, &reason);
	if (fixture->reader == NULL)
		fail_msg("%s", reason.text);
}

static inline void
fixture_read(struct fixture *fixture)
{
	fixture_read_from(fixture, (struct journal_position){0, 0});
}

/* The next record, or NULL when there is none now. */
static inline const struct journal_record *
fixture_next(struct fixture *fixture)
{
	struct reason reason = {""};
	int result =
	    journal_reader_next(fixture->reader, &fixture->record, &reason);

	if (result < 0)
		fail_msg("%s", reason.text);
	return result == 1 ? &fixture->record : NULL;
}

/* The same, heartbeats passed over. */
static inline const struct journal_record *
fixture_next_event(struct fixture *fixture)
{
	const struct journal_record *record;

	do
		record = fixture_next(fixture);
	while (record != NULL && record->event.type == EVENT_HEARTBEAT);
	return record;
}

/* Reads on to the end; the events must be `first`, `first` + 1, ... Returns the
 * number of the one that would follow. */
static inline uint64_t
fixture_expect_from(struct fixture *fixture, uint64_t first)
{
	const struct journal_record *record;

	while ((record = fixture_next_event(fixture)) != NULL)
		assert_int_equal(fixture_number(&record->event), first++);
	return first;
}

static inline const struct journal_damage *
fixture_damage(const struct fixture *fixture)
{
	return journal_reader_damage(fixture->reader);
}

static inline bool
fixture_is_undamaged(const struct fixture *fixture)
{
	static const struct journal_damage none;

	return memcmp(fixture_damage(fixture), &none, sizeof(none)) == 0;
}

/* The source's directory, open; to be closed by the caller. */
static inline int
fixture_source_fd(const struct fixture *fixture)
{
	char path[PATH_MAX + sizeof(SOURCE) + 1];
	int fd;

	snprintf(path, sizeof(path), "%s/" SOURCE, fixture->directory);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* How many segments there are; their numbers are to be freed. */
static inline long
fixture_segments(const struct fixture *fixture, uint64_t **numbers_r)
{
	int fd = fixture_source_fd(fixture);
	long count = segment_list(fd, numbers_r, NULL);

	close(fd);
	return count;
}

static inline long
fixture_segment_count(const struct fixture *fixture)
{
	uint64_t *numbers;
	long count = fixture_segments(fixture, &numbers);

	free(numbers);
	return count;
}

/* Opens the i-th segment for reading and writing. */
static inline int
fixture_segment_fd(const struct fixture *fixture, long i)
{
	char name[SEGMENT_NAME_SIZE];
	uint64_t *numbers;
	int directory_fd = fixture_source_fd(fixture), fd;

	assert_true(fixture_segments(fixture, &numbers) > i);
	segment_name(numbers[i], name);
	fd = openat(directory_fd, name, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	close(directory_fd);
	free(numbers);
	return fd;
}

static inline off_t
fixture_size(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return status.st_size;
}

/* Polls until the condition is true; fails after 20 s. */
#define fixture_wait(condition)                                                \
	do {                                                                   \
		int tries_ = 0;                                                \
                                                                               \
		while (!(condition)) {                                         \
			if (++tries_ > 4000)                                   \
				fail_msg("waited for %s", #condition);         \
			nanosleep(&(struct timespec){0, 5000000}, NULL);       \
		}                                                              \
	} while (0)

#endif

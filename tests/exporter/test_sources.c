/* SPDX-License-Identifier: BSD-2-Clause */
/* In which order the records of several journals come. */
#include "exporter/read/sources.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/reason.h"
#include "exporter/metrics/metrics.h"
#include "exporter/read/watch.h"
#include "proto/journal_writer.h"
#include "store/store.h"
#include "store/totals.h"
#include "tests/lib/capture.h"
#include "tests/lib/unit.h"

#define SECOND_NS INT64_C(1000000000)

struct fixture {
	char directory[PATH_MAX - 20];
	char journal[PATH_MAX];
	char store_directory[PATH_MAX];
	struct totals *totals;
	struct store *store;
	struct watch *watch;
	struct sources *sources;
	struct journal_writer *milter, *lmtp;
	int64_t now_ns; /* of the stamps, both clocks */
};

static struct journal_writer *
open_writer(const char *directory, const char *source)
{
	const struct journal_writer_settings settings = {
	    .directory = directory,
	    .source = source,
	    .instance = "mx.test",
	    .program = "test",
	    .segment_bytes = 64 << 10,
	    .segment_age_ns = 3600 * SECOND_NS,
	    .limit_bytes = 1 << 30,
	    .sync_interval_ns = SECOND_NS,
	    .heartbeat_interval_ns = 3600 * SECOND_NS,
	};
	struct reason reason;
	struct journal_writer *writer = journal_writer_open(&settings, &reason);

	if (writer == NULL)
		fail_msg("%s", reason.text);
	return writer;
}

static int
setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const char *parent = getenv("TMPDIR");
	struct store_settings settings = {
	    .queue_lifetime_ns = 86400 * SECOND_NS};
	struct reason reason;

	log_set_level(LOG_LEVEL_ERROR);
	snprintf(fixture->directory, sizeof(fixture->directory),
	    "%s/sources.XXXXXX", parent != NULL ? parent : "/tmp");
	assert_non_null(mkdtemp(fixture->directory));
	snprintf(fixture->journal, sizeof(fixture->journal), "%s/journal",
	    fixture->directory);
	snprintf(fixture->store_directory, sizeof(fixture->store_directory),
	    "%s/store", fixture->directory);
	mkdir(fixture->journal, 0700);
	settings.directory = fixture->store_directory;
	fixture->totals = totals_new(metrics_names());
	fixture->store = store_open(&settings, fixture->totals, &reason);
	assert_non_null(fixture->store);
	fixture->watch = watch_open(fixture->journal, &reason);
	assert_non_null(fixture->watch);
	fixture->sources =
	    sources_new(fixture->journal, fixture->store, fixture->watch);
	fixture->now_ns = 1000 * SECOND_NS;
	*state = fixture;
	return 0;
}

static int
unlink_one(
    const char *path, const struct stat *status, int type, struct FTW *walk)
{
	return remove(path);
}

static int
teardown(void **state)
{
	struct fixture *fixture = *state;

	journal_writer_close(&fixture->milter);
	journal_writer_close(&fixture->lmtp);
	sources_free(&fixture->sources);
	watch_free(&fixture->watch);
	store_close(&fixture->store);
	totals_free(&fixture->totals);
	nftw(fixture->directory, unlink_one, 10, FTW_DEPTH | FTW_PHYS);
	free(fixture);
	return 0;
}

static void
open_journals(struct fixture *fixture)
{
	struct reason reason;

	fixture->milter = open_writer(fixture->journal, "milter");
	fixture->lmtp = open_writer(fixture->journal, "lmtp");
	assert_int_equal(sources_scan(fixture->sources, &reason), 0);
}

static struct stamp
next_stamp(struct fixture *fixture)
{
	fixture->now_ns += 1000000;
	return (struct stamp){fixture->now_ns, fixture->now_ns};
}

static void
write_message(struct fixture *fixture, uint64_t session)
{
	struct event event = {.type = EVENT_MESSAGE};

	event.message.session = session;
	event.message.eom_at = next_stamp(fixture);
	event.message.id = uuid_new(event.message.eom_at.wall_ns);
	assert_int_equal(
	    journal_writer_append(fixture->milter, &event, JOURNAL_SHARE_ALL),
	    1);
}

static void
write_delivery(struct fixture *fixture, uint64_t session)
{
	struct event event = {.type = EVENT_DELIVERY};

	event.delivery.session = session;
	event.delivery.mail_at = next_stamp(fixture);
	event.delivery.id = uuid_new(event.delivery.mail_at.wall_ns);
	assert_int_equal(
	    journal_writer_append(fixture->lmtp, &event, JOURNAL_SHARE_ALL), 1);
}

/* No delivery is ready by itself. */
static bool
only_messages(void *context, const struct source_record *record)
{
	return record->record->event.type != EVENT_DELIVERY;
}

static bool
everything(void *context, const struct source_record *record)
{
	return true;
}

/* The next message's or delivery's session, negative for deliveries; 0 at the
 * end. */
static int64_t
next(struct fixture *fixture, sources_ready *ready)
{
	struct source_record record;

	while (sources_next(fixture->sources, ready, NULL, &record) == 1) {
		const struct event *event = &record.record->event;

		if (event->type == EVENT_MESSAGE)
			return (int64_t)event->message.session;
		if (event->type == EVENT_DELIVERY)
			return -(int64_t)event->delivery.session;
	}
	return 0;
}

static void
a_delivery_comes_after_what_was_written_before_it(void **state)
{
	struct fixture *fixture = *state;
	int64_t got, messages = 0;

	open_journals(fixture);
	for (uint64_t i = 1; i <= 1000; i++) {
		write_message(fixture, i);
		write_delivery(fixture, i);
	}
	while ((got = next(fixture, only_messages)) != 0) {
		if (got > 0)
			messages = got;
		else
			assert_true(messages >= -got);
	}
	assert_int_equal(messages, 1000);
}

static void
a_journal_that_nobody_has_seen_yet_comes_before_it_as_well(void **state)
{
	struct fixture *fixture = *state;
	struct reason reason;

	fixture->lmtp = open_writer(fixture->journal, "lmtp");
	assert_int_equal(sources_scan(fixture->sources, &reason), 0);
	fixture->milter = open_writer(fixture->journal, "milter");
	write_message(fixture, 1);
	write_delivery(fixture, 1);
	assert_int_equal(next(fixture, only_messages), 1);
	assert_int_equal(next(fixture, only_messages), -1);
	assert_int_equal(next(fixture, only_messages), 0);
}

static void
it_need_not_wait_for_what_is_later(void **state)
{
	struct fixture *fixture = *state;
	int64_t got, before = 0;

	open_journals(fixture);
	write_message(fixture, 1);
	write_delivery(fixture, 1);
	for (uint64_t i = 2; i <= 5000; i++)
		write_message(fixture, i);
	while ((got = next(fixture, only_messages)) > 0)
		before++;
	assert_int_equal(got, -1);
	assert_in_range(before, 2, 1000);
}

static void
a_delivery_that_is_ready_waits_for_nobody(void **state)
{
	struct fixture *fixture = *state;
	int64_t got, before = 0;

	open_journals(fixture);
	for (uint64_t i = 1; i <= 5000; i++)
		write_message(fixture, i);
	write_delivery(fixture, 1);
	while ((got = next(fixture, everything)) > 0)
		before++;
	assert_int_equal(got, -1);
	assert_in_range(before, 0, 1000);
}

/* What is known of a message is not told long after it. */
static void
a_source_with_little_to_tell_does_not_run_ahead(void **state)
{
	struct fixture *fixture = *state;
	int64_t got, messages = 0, deliveries = 0;

	open_journals(fixture);
	for (uint64_t i = 1; i <= 2000; i++) {
		write_message(fixture, i);
		for (int j = 0; j < 5; j++)
			write_delivery(fixture, i);
	}
	while ((got = next(fixture, everything)) != 0) {
		if (got > 0)
			messages = got;
		else
			deliveries = -got;
		assert_true(messages - deliveries <= 600);
	}
	assert_int_equal(messages, 2000);
	assert_int_equal(deliveries, 2000);
}

static void
what_comes_at_the_end_of_all_is_read_when_it_is_there(void **state)
{
	struct fixture *fixture = *state;

	open_journals(fixture);
	assert_int_equal(next(fixture, only_messages), 0);
	write_message(fixture, 1);
	assert_int_equal(next(fixture, only_messages), 1);
	assert_int_equal(next(fixture, only_messages), 0);
	write_delivery(fixture, 1);
	assert_int_equal(next(fixture, only_messages), -1);
	assert_int_equal(next(fixture, only_messages), 0);
	assert_false(sources_in_trouble(fixture->sources));
}

static void
after_a_restart_everything_uncommitted_comes_again(void **state)
{
	struct fixture *fixture = *state;
	const struct source_position *positions;
	struct reason reason;
	size_t count;

	open_journals(fixture);
	write_message(fixture, 1);
	write_message(fixture, 2);
	assert_int_equal(next(fixture, only_messages), 1);
	positions = sources_positions(fixture->sources, NULL, NULL, &count);
	assert_int_equal(count, 2);
	assert_non_null(store_file(fixture->store, 0, &reason));
	assert_int_equal(
	    store_commit(fixture->store, positions, count, &reason), 0);
	assert_int_equal(next(fixture, only_messages), 2);
	store_rollback(fixture->store);
	assert_int_equal(sources_restart(fixture->sources, &reason), 0);
	assert_int_equal(next(fixture, only_messages), 2);
	assert_int_equal(next(fixture, only_messages), 0);
}

static void
after_a_restart_nothing_is_later_that_was_not_read_again(void **state)
{
	struct fixture *fixture = *state;
	struct reason reason;
	int64_t got, before = 0;

	open_journals(fixture);
	for (uint64_t i = 1; i <= 1000; i++)
		write_message(fixture, i);
	write_delivery(fixture, 1);
	write_message(fixture, 1001);
	while (next(fixture, only_messages) != 0)
		continue;
	assert_int_equal(sources_restart(fixture->sources, &reason), 0);
	while ((got = next(fixture, only_messages)) > 0)
		before++;
	assert_int_equal(got, -1);
	assert_in_range(before, 1000, 1001);
}

static void
the_gauges_tell_what_is_not_read_yet(void **state)
{
	struct fixture *fixture = *state;
	int64_t live[100] = {0};
	const int64_t *behind =
	    &live[metric_index(METRIC_JOURNAL_BEHIND_BYTES, SOURCE_MILTER)];
	const int64_t *latest =
	    &live[metric_index(METRIC_SOURCE_LAST_EVENT, SOURCE_MILTER)];
	const int64_t *available = &live[metric_index(
	    METRIC_DISK_AVAILABLE_BYTES, DISK_JOURNAL)];

	assert_in_range(metric_values(METRIC_GAUGE), 1, COUNT(live));
	open_journals(fixture);
	next(fixture, only_messages);
	write_message(fixture, 1);
	sources_gauges(fixture->sources, live);
	assert_true(*behind > 0);
	assert_true(*available > 0);
	next(fixture, only_messages);
	next(fixture, only_messages);
	memset(live, 0, sizeof(live));
	sources_gauges(fixture->sources, live);
	assert_int_equal(*behind, 0);
	assert_int_equal(*latest, fixture->now_ns);
}

/* A journal whose directory became something else. */
static void
what_fails_again_and_again_is_told_once(void **state)
{
	struct fixture *fixture = *state;
	static struct capture log;
	char path[PATH_MAX + 10];

	snprintf(path, sizeof(path), "%s/odd", fixture->journal);
	assert_int_equal(mkdir(path, 0700), 0);
	open_journals(fixture);
	assert_int_equal(rmdir(path), 0);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	write_message(fixture, 1);

	capture_begin(&log, STDERR_FILENO);
	log_set_level(LOG_LEVEL_INFO);
	assert_int_equal(next(fixture, only_messages), 1);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(next(fixture, only_messages), 0);
		assert_true(sources_in_trouble(fixture->sources));
	}
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(next(fixture, only_messages), 0);
	assert_false(sources_in_trouble(fixture->sources));
	assert_string_equal(capture_end(&log),
	    "postlag: error: source=odd reason=\"journal odd: Not a "
	    "directory\"\n"
	    "postlag: info: source=odd reason=read again\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		a_delivery_comes_after_what_was_written_before_it, setup,
		teardown),
	    cmocka_unit_test_setup_teardown(
		a_journal_that_nobody_has_seen_yet_comes_before_it_as_well,
		setup, teardown),
	    cmocka_unit_test_setup_teardown(
		it_need_not_wait_for_what_is_later, setup, teardown),
	    cmocka_unit_test_setup_teardown(
		a_delivery_that_is_ready_waits_for_nobody, setup, teardown),
	    cmocka_unit_test_setup_teardown(
		a_source_with_little_to_tell_does_not_run_ahead, setup,
		teardown),
	    cmocka_unit_test_setup_teardown(
		what_comes_at_the_end_of_all_is_read_when_it_is_there, setup,
		teardown),
	    cmocka_unit_test_setup_teardown(
		after_a_restart_everything_uncommitted_comes_again, setup,
		teardown),
	    cmocka_unit_test_setup_teardown(
		after_a_restart_nothing_is_later_that_was_not_read_again, setup,
		teardown),
	    cmocka_unit_test_setup_teardown(
		the_gauges_tell_what_is_not_read_yet, setup, teardown),
	    cmocka_unit_test_setup_teardown(
		what_fails_again_and_again_is_told_once, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

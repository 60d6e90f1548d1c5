/* SPDX-License-Identifier: BSD-2-Clause */
/* What those who watch are told, beside a living writer. */
#include "store/query_feed.h"

#include "tests/store/store_fixture.h"

#include "store/feed.h"
#include "store/layout.h"

struct watcher {
	struct fixture *fixture;
	struct store_reader *reader;
	struct store_feed *feed;
	struct feed_page page;
};

static struct watcher
watch(struct fixture *fixture, bool from_start)
{
	struct watcher watcher = {.fixture = fixture};

	watcher.reader =
	    store_reader_open(fixture->directory, &fixture->reason);
	assert_non_null(watcher.reader);
	watcher.feed = store_feed_open(watcher.reader, from_start);
	return watcher;
}

static void
end_watch(struct watcher *watcher)
{
	store_feed_free(&watcher->feed);
	store_reader_free(&watcher->reader);
}

/* Asks for the next page; returns how many it has. */
static size_t
next(struct watcher *watcher)
{
	struct fixture *fixture = watcher->fixture;

	arena_reset(fixture->arena);
	if (store_feed_next(watcher->feed, fixture->arena, &watcher->page,
		&fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	if (watcher->page.incomplete)
		fail_msg("%s", watcher->page.reason.text);
	return watcher->page.count;
}

static void
expect(const struct watcher *watcher, size_t number, int from,
    enum recipient_state to)
{
	const struct feed_hit *hit = &watcher->page.hits[number];

	assert_true(number < watcher->page.count);
	assert_int_equal(from, hit->is_begun ? -1 : (int)hit->from);
	assert_int_equal(to, hit->record.recipients[0].state);
	assert_int_equal(1, hit->record.recipient_count);
}

static void
expect_sender(const struct watcher *watcher, const char *sender)
{
	assert_string_equal(sender, watcher->page.hits[0].record.event.sender);
}

/* Message `number`, which is divisible by three, to one recipient. */
static struct message_key
add(struct fixture *fixture, uint64_t number)
{
	struct fixture_message message;
	struct message_key key;

	assert_int_equal(number % 3, 0);
	if (fixture_add_message(fixture, number, &message, &key) != 0)
		fail_msg("%s", fixture->reason.text);
	return key;
}

static void
change(struct fixture *fixture, const struct message_key *key,
    enum recipient_state from, enum recipient_state to)
{
	const struct recipient_change change = {.former = from, .state = to};

	if (store_change_recipient(key, &change, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
}

static void
each_entry_into_a_state_is_told_once(void **state)
{
	struct fixture *fixture = *state;
	struct watcher watcher = watch(fixture, false);
	struct message_key key = add(fixture, 3);

	assert_int_equal(0, next(&watcher));
	fixture_must_commit(fixture, 1);
	assert_int_equal(1, next(&watcher));
	expect(&watcher, 0, -1, RECIPIENT_IN_FLIGHT);
	change(fixture, &key, RECIPIENT_IN_FLIGHT, RECIPIENT_DEFERRED);
	assert_int_equal(0, next(&watcher));
	fixture_must_commit(fixture, 2);
	change(fixture, &key, RECIPIENT_DEFERRED, RECIPIENT_DEFERRED);
	fixture_must_commit(fixture, 3);
	change(fixture, &key, RECIPIENT_DEFERRED, RECIPIENT_LOST);
	change(fixture, &key, RECIPIENT_LOST, RECIPIENT_RELAYED);
	fixture_must_commit(fixture, 4);
	assert_int_equal(3, next(&watcher));
	expect(&watcher, 0, RECIPIENT_IN_FLIGHT, RECIPIENT_DEFERRED);
	expect(&watcher, 1, RECIPIENT_DEFERRED, RECIPIENT_LOST);
	expect(&watcher, 2, RECIPIENT_LOST, RECIPIENT_RELAYED);
	expect_sender(&watcher, "sender3@example.net");
	assert_int_equal(0, next(&watcher));
	end_watch(&watcher);
}

static void
what_was_there_before_or_rolled_back_is_not_told(void **state)
{
	struct fixture *fixture = *state;
	struct message_key key = add(fixture, 3);
	struct watcher watcher;

	fixture_must_commit(fixture, 1);
	watcher = watch(fixture, false);
	assert_int_equal(0, next(&watcher));
	change(fixture, &key, RECIPIENT_IN_FLIGHT, RECIPIENT_BOUNCED);
	store_rollback(fixture->store);
	add(fixture, 6);
	fixture_must_commit(fixture, 2);
	assert_int_equal(1, next(&watcher));
	expect(&watcher, 0, -1, RECIPIENT_IN_FLIGHT);
	expect_sender(&watcher, "sender6@example.net");
	end_watch(&watcher);
	watcher = watch(fixture, true);
	assert_int_equal(2, next(&watcher));
	assert_false(watcher.page.has_gap);
	end_watch(&watcher);
}

/* Takes a message out and tells it anew as number `as`. */
static struct message_key
tell_anew(struct fixture *fixture, const struct message_key *key, uint64_t as)
{
	struct taken_message taken;
	struct fixture_message message;
	struct message_key again;
	struct day_file *file = key->file;

	arena_reset(fixture->arena);
	if (store_take_message(key, fixture->arena, &taken, &fixture->reason) !=
	    0)
		fail_msg("%s", fixture->reason.text);
	fixture_fill_message(&message, as);
	message.recipients[0].address = taken.record.recipients[0].address;
	if (store_add_message(file, &message.event, &fixture_segment,
		&message.verdict, &again, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	return again;
}

static void
who_is_told_anew_is_told_of_if_that_changed_something(void **state)
{
	struct fixture *fixture = *state;
	struct watcher watcher = watch(fixture, false);
	struct message_key key = add(fixture, 3);

	change(fixture, &key, RECIPIENT_IN_FLIGHT, RECIPIENT_DELIVERED);
	fixture_must_commit(fixture, 1);
	assert_int_equal(2, next(&watcher));
	key = tell_anew(fixture, &key, 9);
	change(fixture, &key, RECIPIENT_IN_FLIGHT, RECIPIENT_DEFERRED);
	change(fixture, &key, RECIPIENT_DEFERRED, RECIPIENT_DELIVERED);
	store_taken_is_told(key.file);
	fixture_must_commit(fixture, 2);
	assert_int_equal(0, next(&watcher));
	key = tell_anew(fixture, &key, 15);
	change(fixture, &key, RECIPIENT_IN_FLIGHT, RECIPIENT_BOUNCED);
	store_taken_is_told(key.file);
	fixture_must_commit(fixture, 3);
	assert_int_equal(1, next(&watcher));
	expect(&watcher, 0, RECIPIENT_DELIVERED, RECIPIENT_BOUNCED);
	end_watch(&watcher);
}

/* Of a slow watcher: the rows that entries name are gone when it looks. */
static void
what_was_told_anew_since_is_found_again(void **state)
{
	struct fixture *fixture = *state;
	struct watcher watcher = watch(fixture, false);
	struct message_key key = add(fixture, 3);

	change(fixture, &key, RECIPIENT_IN_FLIGHT, RECIPIENT_DELIVERED);
	fixture_must_commit(fixture, 1);
	key = tell_anew(fixture, &key, 9);
	change(fixture, &key, RECIPIENT_IN_FLIGHT, RECIPIENT_DELIVERED);
	store_taken_is_told(key.file);
	key = tell_anew(fixture, &key, 15);
	change(fixture, &key, RECIPIENT_IN_FLIGHT, RECIPIENT_DELIVERED);
	store_taken_is_told(key.file);
	fixture_must_commit(fixture, 2);
	assert_int_equal(2, next(&watcher));
	expect(&watcher, 0, -1, RECIPIENT_IN_FLIGHT);
	expect(&watcher, 1, RECIPIENT_IN_FLIGHT, RECIPIENT_DELIVERED);
	expect_sender(&watcher, "sender15@example.net");
	end_watch(&watcher);
}

static void
a_mail_for_one_who_was_taken_away_is_new(void **state)
{
	struct fixture *fixture = *state;
	struct watcher watcher = watch(fixture, false);
	struct message_key key = add(fixture, 3);
	struct taken_message taken;

	fixture_must_commit(fixture, 1);
	next(&watcher);
	if (store_take_message(
		&key, fixture->arena, &taken, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	store_taken_is_told(key.file);
	add(fixture, 3);
	fixture_must_commit(fixture, 2);
	assert_int_equal(1, next(&watcher));
	expect(&watcher, 0, -1, RECIPIENT_IN_FLIGHT);
	end_watch(&watcher);
}

static void
a_delivery_without_a_message_is_told(void **state)
{
	struct fixture *fixture = *state;
	struct watcher watcher = watch(fixture, false);
	const struct leg_verdict verdict = {LEG_UNSTAMPED, NULL};
	struct fixture_message message;
	struct fixture_delivery delivery;
	struct day_file *file =
	    store_file(fixture->store, NOW_NS, &fixture->reason);
	int64_t row;

	fixture_fill_message(&message, 4);
	fixture_fill_delivery(&delivery, &message, 4);
	delivery.recipients[1].final.code = 550;
	assert_non_null(file);
	if (store_add_leg(file, &delivery.event, &fixture_segment, &verdict,
		&row, &fixture->reason) != 0 ||
	    store_tell_leg(file, row, &delivery.event, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	fixture_must_commit(fixture, 1);
	assert_int_equal(2, next(&watcher));
	expect(&watcher, 0, -1, RECIPIENT_DELIVERED);
	expect(&watcher, 1, -1, RECIPIENT_BOUNCED);
	assert_string_equal(message.addresses[1],
	    watcher.page.hits[1].record.recipients[0].address);
	end_watch(&watcher);
}

static void
who_looks_too_late_is_told_so(void **state)
{
	struct fixture *fixture = *state;
	struct watcher watcher = watch(fixture, false);
	struct message_key key = add(fixture, 3);
	uint64_t position = 0;
	size_t found;

	fixture_must_commit(fixture, ++position);
	assert_int_equal(1, next(&watcher));
	for (int i = 0; i < 100; i++) {
		for (int j = 0; j < 1500; j++) {
			change(fixture, &key, RECIPIENT_IN_FLIGHT,
			    RECIPIENT_DEFERRED);
			change(fixture, &key, RECIPIENT_DEFERRED,
			    RECIPIENT_IN_FLIGHT);
		}
		fixture_must_commit(fixture, ++position);
	}
	found = next(&watcher);
	assert_true(watcher.page.has_gap);
	while (!watcher.page.is_last) {
		found += next(&watcher);
		assert_false(watcher.page.has_gap);
	}
	assert_true(found > FEED_BYTES / 8 && found < 100 * 3000);
	end_watch(&watcher);
}

/* A message of the day before. */
static void
add_yesterday(struct fixture *fixture, uint64_t number)
{
	struct fixture_message message;
	struct message_key key;
	int64_t at_ns = NOW_NS - DAY_NS;

	fixture_fill_message(&message, number);
	message.event.id = fixture_id(at_ns, number);
	message.event.mail_at = fixture_stamp(at_ns);
	key.file = store_file(fixture->store, at_ns, &fixture->reason);
	if (key.file == NULL ||
	    store_add_message(key.file, &message.event, &fixture_segment,
		&message.verdict, &key, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
}

static void
days_come_and_go(void **state)
{
	struct fixture *fixture = *state;
	struct watcher watcher = watch(fixture, false);
	char path[FIXTURE_PATH_SIZE];

	add(fixture, 3);
	fixture_must_commit(fixture, 1);
	assert_int_equal(1, next(&watcher));
	add_yesterday(fixture, 6);
	fixture_must_commit(fixture, 2);
	assert_int_equal(1, next(&watcher));
	fixture_reopen(fixture);
	assert_int_equal(0, next(&watcher));
	fixture_path(fixture, "day-20261129.db", path);
	assert_int_equal(0, layout_remove(path, &fixture->reason));
	assert_int_equal(0, next(&watcher));
	add(fixture, 9);
	fixture_must_commit(fixture, 3);
	assert_int_equal(1, next(&watcher));
	expect_sender(&watcher, "sender9@example.net");
	assert_false(watcher.page.has_gap);
	end_watch(&watcher);
}

/* A message of the random run, as the writer and as the watcher know it. */
struct known {
	struct message_key key;
	enum recipient_state state;
	int told; /* -1: nothing yet */
	uint64_t entries, told_entries;
};

enum { MANY = 100, STEPS = 6000 };

static struct known *
known_of(struct known known[MANY], const struct feed_hit *hit)
{
	const char *number = hit->record.event.sender + strlen("sender");

	return &known[strtoul(number, NULL, 10) / 3];
}

static void
see(struct watcher *watcher, struct known known[MANY])
{
	do {
		next(watcher);
		assert_false(watcher->page.has_gap);
		for (size_t i = 0; i < watcher->page.count; i++) {
			const struct feed_hit *hit = &watcher->page.hits[i];
			struct known *one = known_of(known, hit);

			assert_int_equal(
			    one->told, hit->is_begun ? -1 : (int)hit->from);
			one->told = (int)hit->record.recipients[0].state;
			one->told_entries++;
		}
	} while (!watcher->page.is_last);
}

/* Everything was committed. */
static void
restart(struct fixture *fixture, struct known known[MANY])
{
	store_close(&fixture->store);
	totals_free(&fixture->totals);
	fixture_open(fixture);
	for (size_t i = 0; i < MANY; i++) {
		struct fixture_message message;
		struct open_message open;

		if (known[i].key.file == NULL)
			continue;
		fixture_fill_message(&message, 3 * i);
		arena_reset(fixture->arena);
		if (store_find_message(fixture->store, &message.event.id,
			fixture->arena, &open, &fixture->reason) != 1)
			fail_msg("%s", fixture->reason.text);
		known[i].key = open.key;
	}
}

static void
do_something(struct fixture *fixture, struct known *one, uint64_t number)
{
	enum recipient_state to =
	    (enum recipient_state)(rand() % RECIPIENT_STATES);

	if (one->key.file == NULL) {
		one->key = add(fixture, number);
		one->entries++;
		return;
	}
	change(fixture, &one->key, one->state, to);
	one->entries += one->state != to;
	one->state = to;
}

/* I2, as seen by those who watch. */
static void
whoever_looks_whenever_is_told_everything_once(void **state)
{
	struct fixture *fixture = *state;
	struct watcher watcher = watch(fixture, true);
	static struct known known[MANY];
	uint64_t position = 0;

	srand(7);
	for (size_t i = 0; i < MANY; i++)
		known[i].told = -1;
	for (size_t step = 0; step < STEPS; step++) {
		size_t i = (size_t)rand() % MANY;

		do_something(fixture, &known[i], 3 * i);
		if (rand() % 10 == 0)
			fixture_must_commit(fixture, ++position);
		if (rand() % 40 == 0)
			see(&watcher, known);
		if (rand() % 500 == 0) {
			fixture_must_commit(fixture, ++position);
			restart(fixture, known);
		}
	}
	fixture_must_commit(fixture, ++position);
	see(&watcher, known);
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(known[i].entries, known[i].told_entries);
		if (known[i].entries > 0)
			assert_int_equal(known[i].state, known[i].told);
	}
	end_watch(&watcher);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define FEED_TEST(name)                                                        \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	    FEED_TEST(each_entry_into_a_state_is_told_once),
	    FEED_TEST(what_was_there_before_or_rolled_back_is_not_told),
	    FEED_TEST(who_is_told_anew_is_told_of_if_that_changed_something),
	    FEED_TEST(what_was_told_anew_since_is_found_again),
	    FEED_TEST(a_mail_for_one_who_was_taken_away_is_new),
	    FEED_TEST(a_delivery_without_a_message_is_told),
	    FEED_TEST(who_looks_too_late_is_told_so),
	    FEED_TEST(days_come_and_go),
	    FEED_TEST(whoever_looks_whenever_is_told_everything_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

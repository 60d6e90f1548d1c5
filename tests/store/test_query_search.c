/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Searches over a store of several days, by every way of finding candidates:
 * what is found is what a look at every message finds.
 */
#include "store/query_search.h"

#include <stdio.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/search.h"
#include "store/search_match.h"
#include "tests/store/store_fixture.h"

#define MESSAGES 700
#define DAYS 5
#define QUERIES 1000
#define MANY 2000
#define ROWS_AT_ONCE 100 /* with slow_clock() */
#define LIMIT 17

static uint32_t random_state;
static size_t gate_passes;

int
flock(int fd, int operation)
{
	gate_passes += operation == (LOCK_SH | LOCK_NB);
	return (int)syscall(SYS_flock, fd, operation);
}

/* Each row takes a millisecond. */
static struct stamp
slow_clock(void)
{
	static _Thread_local int64_t spent_ns;
	struct stamp now = fixture_clock();

	spent_ns += CLOCK_NS_PER_SECOND / 1000;
	now.monotonic_ns += spent_ns;
	return now;
}

static unsigned
random_below(unsigned limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % limit;
}

static const char *
one_of(const char *const *words, unsigned count)
{
	return words[random_below(count)];
}

#define ONE_OF(words) one_of(words, COUNT(words))

static const char *const locals[] = {"alice", "Alice", "bob", "root",
    "first.last", "bob+tag", "carol", "dave", "postmaster"};
static const char *const domains[] = {"example.test", "Example.TEST",
    "mail.example.test", "outlook.test", "rare.test"};
static const char *const relays[] = {"127.0.0.1[127.0.0.1]:2424",
    "mx1.outlook.test[192.0.2.1]:25", "MX2.outlook.test[192.0.2.2]:25", "none"};

static void
make_address(char *text, size_t size)
{
	unsigned kind = random_below(40);

	if (kind == 0)
		snprintf(text, size, "<>");
	else if (kind == 1)
		snprintf(text, size, "%s", ONE_OF(locals));
	else
		snprintf(text, size, "%s@%s", ONE_OF(locals),
		    random_below(60) == 0 ? domains[4]
					  : domains[random_below(4)]);
}

static void
shift(struct stamp *stamp, int64_t by_ns)
{
	stamp->wall_ns += by_ns;
	stamp->monotonic_ns += by_ns;
}

/* Spread over some days, with other names than the fixture's. */
static void
vary_message(struct fixture_message *message, uint64_t number)
{
	struct message_event *event = &message->event;
	int64_t by_ns = -(int64_t)(number % DAYS) * DAY_NS;

	shift(&event->mail_at, by_ns);
	shift(&event->eom_at, by_ns);
	shift(&event->connect_at, by_ns);
	shift(&event->helo_at, by_ns);
	shift(&event->data_at, by_ns);
	shift(&event->content_at, by_ns);
	event->id = fixture_id(event->mail_at.wall_ns, number);
	make_address(message->sender, sizeof(message->sender));
	if (random_below(9) == 0)
		event->run = "night";
	for (size_t i = 0; i < event->recipient_count; i++) {
		make_address(
		    message->addresses[i], sizeof(message->addresses[i]));
		shift(&message->recipients[i].rcpt_at, by_ns);
		message->verdicts[i].state =
		    (enum recipient_state)random_below(RECIPIENT_STATES);
	}
}

static void
vary_delivery(struct fixture_delivery *delivery, uint64_t number)
{
	struct delivery_event *event = &delivery->event;
	int64_t by_ns = -(int64_t)(number % DAYS) * DAY_NS +
			(int64_t)random_below(60) * SECOND_NS;

	shift(&event->mail_at, by_ns);
	shift(&event->data_at, by_ns);
	shift(&event->content_end_at, by_ns);
	shift(&event->end_at, by_ns);
	for (size_t i = 0; i < event->recipient_count; i++)
		shift(&delivery->recipients[i].final.at, by_ns);
	event->id = fixture_id(event->mail_at.wall_ns, number + 1000000);
}

static void
must(struct fixture *fixture, int result)
{
	if (result != 0)
		fail_msg("%s", fixture->reason.text);
}

static struct day_file *
file_at(struct fixture *fixture, int64_t wall_ns)
{
	struct day_file *file =
	    store_file(fixture->store, wall_ns, &fixture->reason);

	must(fixture, file == NULL);
	return file;
}

/* Lines of the log about some of the recipients. */
static void
add_log(struct fixture *fixture, const struct message_key *key,
    const struct fixture_message *message)
{
	size_t count = message->event.recipient_count;
	struct attempt_record attempt = {
	    .wall_ns = message->event.mail_at.wall_ns +
		       (int64_t)random_below(90) * SECOND_NS,
	    .recipient = random_below((unsigned)count),
	    .agent = "smtp",
	    .relay = ONE_OF(relays),
	    .dsn = "2.0.0",
	    .status = "sent",
	    .text = "250 ok"};
	struct recipient_change change = {.number = attempt.recipient,
	    .state = message->verdicts[attempt.recipient].state,
	    .original = random_below(3) == 0 ? "list@example.test" : NULL};

	must(fixture, store_add_attempt(key, &attempt, NULL, &fixture->reason));
	must(fixture, store_change_recipient(key, &change, &fixture->reason));
}

/* A message; or a delivery of which no message is known. */
static void
add(struct fixture *fixture, uint64_t number)
{
	struct fixture_message message;
	struct fixture_delivery delivery;
	struct message_key key;
	bool is_lone = random_below(6) == 0;
	struct leg_verdict verdict = {
	    is_lone ? LEG_UNSTAMPED : LEG_STAMPED, is_lone ? NULL : &key};
	int64_t leg_row;

	fixture_fill_message(&message, number);
	vary_message(&message, number);
	fixture_fill_delivery(&delivery, &message, number);
	vary_delivery(&delivery, number);
	key.file = file_at(fixture, message.event.mail_at.wall_ns);
	if (!is_lone)
		must(fixture, store_add_message(key.file, &message.event,
				  &fixture_segment, &message.verdict, &key,
				  &fixture->reason));
	if (!is_lone && random_below(3) == 0)
		add_log(fixture, &key, &message);
	if (is_lone || random_below(2) == 0)
		must(fixture,
		    store_add_leg(key.file, &delivery.event, &fixture_segment,
			&verdict, &leg_row, &fixture->reason));
}

static int
setup(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	random_state = 1;
	for (uint64_t number = 0; number < MESSAGES; number++)
		add(*state, number);
	fixture_must_commit(*state, 1);
	return 0;
}

static struct store_reader *
reader(struct fixture *fixture)
{
	if (fixture->reader == NULL)
		fixture->reader =
		    store_reader_open(fixture->directory, &fixture->reason);
	assert_non_null(fixture->reader);
	return fixture->reader;
}

static struct search
parse(struct arena *arena, const char *text)
{
	struct search search;
	struct search_error error;

	if (search_parse(text, NOW_NS, arena, &search, &error) != 0)
		fail_msg("%s: %s", text, error.reason.text);
	return search;
}

static struct search_page
ask_in(struct arena *arena, struct fixture *fixture,
    const struct search_question *question)
{
	struct search_page page;

	if (store_search(
		reader(fixture), question, arena, &page, &fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	assert_false(page.incomplete);
	return page;
}

static struct search_page
ask(struct fixture *fixture, const struct search_question *question)
{
	return ask_in(fixture->arena, fixture, question);
}

static const struct uuid *
id_of(const struct message_record *record)
{
	return uuid_is_set(&record->event.id) ? &record->event.id
					      : &record->legs[0].event.id;
}

/* Everything, in the order of the pages, on one. */
static struct search_page
ask_all(struct fixture *fixture)
{
	struct search search = parse(fixture->arena, " ");
	const struct search_question question = {
	    .search = &search, .limit = SIZE_MAX};

	return ask(fixture, &question);
}

/* Page by page; every hit is the next one of `all` that matches. */
static void
check(struct fixture *fixture, const struct search_page *all, const char *text)
{
	struct arena *arena = arena_new(64 << 20);
	struct search search = parse(arena, text);
	char cursor[SEARCH_CURSOR_SIZE];
	struct search_question question = {.search = &search, .limit = LIMIT};
	struct search_page page = {.is_last = false};
	size_t next = 0;

	while (!page.is_last) {
		page = ask_in(arena, fixture, &question);
		for (size_t i = 0; i < page.count; i++, next++) {
			while (next < all->count &&
			       !search_matches(
				   &search, &all->hits[next].record, NULL))
				next++;
			if (next == all->count)
				fail_msg("%s: one that does not match", text);
			if (!uuid_equal(id_of(&all->hits[next].record),
				id_of(&page.hits[i].record)))
				fail_msg("%s: one is missing", text);
		}
		memcpy(cursor, page.cursor, sizeof(cursor));
		question.cursor = cursor;
	}
	for (; next < all->count; next++)
		if (search_matches(&search, &all->hits[next].record, NULL))
			fail_msg("%s: one is missing at the end", text);
	arena_free(&arena);
}

static void
append_word(char *text, size_t size, const char *word)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s", word);
}

static void
append_term(char *text, size_t size, const struct search_page *all)
{
	static const char *const words[] = {"to:outlook.test", "to:@rare.test",
	    "to:alice@example.test", "to:BOB@example.TEST", "to:*ar*",
	    "to:*@mail.example.test", "to:root", "to:first.last",
	    "to:list@example.test", "to:nobody@nowhere.test", "to:alice@*",
	    "from:outlook.test", "from:\"<>\"", "from:first.last@rare.test",
	    "from:postmaster", "from:*e*@example.test", "status:deferred",
	    "status:lost,unknown", "status:delivered", "status:bounced",
	    "status:open", "status:expired,held", "relay:127.0.0.1",
	    "relay:mx*", "relay:192.0.2.2", "client:client7.example.net",
	    "client:192.0.2.17", "host:mx.example.com", "host:other",
	    "run:night", "slower:30s", "faster:1s", "slower:1h", "since:2d",
	    "since:2026-11-29", "until:2026-11-28", "until:14h", "since:30h",
	    "alice", "example.test", "ob+", "carol@outlook"};
	const struct message_record *record =
	    &all->hits[random_below((unsigned)all->count)].record;
	const char *id = record->event.queue_id;
	char exact[200];

	append_word(text, size, random_below(5) == 0 ? " -" : " ");
	if (random_below(8) != 0 || id == NULL) {
		append_word(text, size, ONE_OF(words));
		return;
	}
	snprintf(exact, sizeof(exact), "%s%s",
	    random_below(2) == 0 ? "queue:" : "msgid:", "");
	append_word(text, size, exact);
	append_word(
	    text, size, exact[0] == 'q' ? id : record->event.message_id);
}

/* Must show of the search: equal to a filter over all rows. */
static void
a_search_finds_what_a_look_at_every_message_finds(void **state)
{
	struct fixture *fixture = *state;
	struct search_page all = ask_all(fixture);

	assert_int_equal(all.count, MESSAGES);
	for (unsigned query = 0; query < QUERIES; query++) {
		char text[400] = "";

		for (unsigned i = 1 + random_below(3); i > 0; i--)
			append_term(text, sizeof(text), &all);
		check(fixture, &all, text);
	}
}

/* The page is what `all` has from there on. */
static void
assert_follows(
    const struct search_page *all, size_t next, const struct search_page *page)
{
	assert_true(next + page->count <= all->count);
	for (size_t i = 0; i < page->count; i++)
		assert_true(uuid_equal(id_of(&all->hits[next + i].record),
		    id_of(&page->hits[i].record)));
}

static void
pages_are_the_whole_while_new_messages_arrive(void **state)
{
	struct fixture *fixture = *state;
	struct search_page all = ask_all(fixture), page = {.count = 0};
	struct search search = parse(fixture->arena, "");
	char cursor[SEARCH_CURSOR_SIZE];
	struct search_question question = {.search = &search, .limit = 50};

	for (size_t next = 0; !page.is_last; next += page.count) {
		page = ask(fixture, &question);
		assert_follows(&all, next, &page);
		memcpy(cursor, page.cursor, sizeof(cursor));
		question.cursor = cursor;
		/* Of the newest day, and behind all others. */
		add(fixture, MESSAGES + DAYS - MESSAGES % DAYS + next * DAYS);
		fixture_must_commit(fixture, 2 + next);
	}
}

/* For longer than a log may be kept from being begun anew; pages are the same.
 */
static void
a_long_search_leaves_the_file_and_finds_each_once(void **state)
{
	struct fixture *fixture = *state;
	struct search_page all, page = {.count = 0};
	struct search search = parse(fixture->arena, "");
	char cursor[SEARCH_CURSOR_SIZE];
	struct search_question question = {.search = &search, .limit = 3000};
	size_t next = 0;

	for (uint64_t i = 0; i < MANY; i++)
		add(fixture, MESSAGES + DAYS - MESSAGES % DAYS + i * DAYS);
	fixture_must_commit(fixture, 2);
	all = ask_all(fixture);
	assert_int_equal(all.count, MESSAGES + MANY);
	gate_passes = 0;
	clock_set_source(slow_clock);
	for (; !page.is_last; next += page.count) {
		page = ask(fixture, &question);
		assert_follows(&all, next, &page);
		memcpy(cursor, page.cursor, sizeof(cursor));
		question.cursor = cursor;
	}
	assert_int_equal(next, all.count);
	assert_true(gate_passes > all.count / ROWS_AT_ONCE);
}

static void
a_page_ends_in_time_and_the_next_goes_on(void **state)
{
	struct fixture *fixture = *state;
	struct search_page all = ask_all(fixture), page = {.count = 0};
	struct search search = parse(fixture->arena, "");
	char cursor[SEARCH_CURSOR_SIZE];
	struct search_question question = {
	    .search = &search, .limit = 50, .budget_ns = 1};
	size_t count = 0, pages = 0;

	/* The fixture's clock stands still: at once it is over. */
	while (!page.is_last) {
		question.budget_ns = pages % 2 == 0 ? -1 : 0;
		page = ask(fixture, &question);
		if (pages++ % 2 == 0)
			assert_true(page.count <= 1 && !page.is_last);
		count += page.count;
		memcpy(cursor, page.cursor, sizeof(cursor));
		question.cursor = cursor;
	}
	assert_int_equal(count, all.count);
}

static void
only_the_recipients_meant_are_marked(void **state)
{
	struct fixture *fixture = *state;
	struct search search = parse(fixture->arena, "to:alice@example.test");
	const struct search_question question = {
	    .search = &search, .limit = 100};
	struct search_page page = ask(fixture, &question);

	assert_true(page.count > 0);
	for (size_t i = 0; i < page.count; i++) {
		const struct message_record *record = &page.hits[i].record;

		for (size_t j = 0; j < record->recipient_count; j++)
			assert_int_equal(page.hits[i].meant[j],
			    strcasecmp(record->recipients[j].address,
				"alice@example.test") == 0);
	}
}

static void
a_cursor_that_is_none_is_refused(void **state)
{
	static const char *const cursors[] = {
	    "", "odd", "20787", "20787-1", "20787-1x", "20787-1m ", "x-1m"};
	struct fixture *fixture = *state;
	struct search search = parse(fixture->arena, "");
	struct search_question question = {.search = &search, .limit = 1};
	struct search_page page;

	for (size_t i = 0; i < COUNT(cursors); i++) {
		question.cursor = cursors[i];
		assert_row(
		    i, store_search(reader(fixture), &question, fixture->arena,
			   &page, &fixture->reason) == -1);
	}
}

static void
an_unreadable_file_does_not_hide_the_others(void **state)
{
	struct fixture *fixture = *state;
	struct search search = parse(fixture->arena, "");
	const struct search_question question = {
	    .search = &search, .limit = SIZE_MAX};
	struct search_page page;
	char path[FIXTURE_PATH_SIZE];
	FILE *file;

	fixture_close(fixture);
	fixture_path(fixture, "day-20261129.db", path);
	file = fopen(path, "w");
	fputs("not a database, whatever it was before this line", file);
	fclose(file);
	assert_int_equal(store_search(reader(fixture), &question,
			     fixture->arena, &page, &fixture->reason),
	    0);
	assert_true(page.incomplete);
	assert_non_null(strstr(page.reason.text, "day-20261129"));
	assert_int_equal(page.count, MESSAGES - MESSAGES / DAYS);
	fixture_open(fixture);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		a_search_finds_what_a_look_at_every_message_finds, setup,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		pages_are_the_whole_while_new_messages_arrive, setup,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		a_long_search_leaves_the_file_and_finds_each_once, setup,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		a_page_ends_in_time_and_the_next_goes_on, setup,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		only_the_recipients_meant_are_marked, setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		a_cursor_that_is_none_is_refused, setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		an_unreadable_file_does_not_hide_the_others, setup,
		fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

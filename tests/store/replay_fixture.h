/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay_fixture: a journal, a writer that reads it into a store from the lower
 * bound to the end, and everything that stands in the files then. The disk is
 * said to be so full that logs are begun anew again and again.
 */
#ifndef TESTS_STORE_REPLAY_FIXTURE_H
#define TESTS_STORE_REPLAY_FIXTURE_H

#include "tests/lib/outcome_rows.h"
#include "tests/store/small_disk.h"
#include "tests/store/store_fixture.h"

#include <poll.h>
#include <sqlite3.h>
#include <sys/mman.h>

#define MESSAGES 24
#define EVENTS (3 * MESSAGES)
#define EVENTS_PER_BATCH 11
#define COPY_STEPS 20

/* The journal: event 3k is message k, which every third is yesterday's; event
 * 3k + 1 is a delivery of a message that came before, event 3k + 2 what the log
 * says of it. */
static inline void
message_of(uint64_t number, struct fixture_message *message)
{
	fixture_fill_message(message, number);
	if (number % 3 == 0) {
		message->event.mail_at =
		    fixture_stamp(fixture_message_ns(number) - DAY_NS);
		message->event.id =
		    fixture_id(message->event.mail_at.wall_ns, number);
	}
}

static inline int
apply_message(struct fixture *fixture, uint64_t number, uint64_t position)
{
	struct fixture_message message;
	struct message_key key;
	struct day_file *file;

	message_of(number, &message);
	file = store_file(
	    fixture->store, message.event.mail_at.wall_ns, &fixture->reason);
	if (file == NULL)
		return -1;
	if (day_file_has(file, SOURCE, (struct journal_position){1, position}))
		return 0;
	day_file_count(file, COUNTER_MESSAGES, 1);
	return store_add_message(file, &message.event, &fixture_segment,
	    &message.verdict, &key, &fixture->reason);
}

static inline int
apply_delivery(struct fixture *fixture, uint64_t number, uint64_t position)
{
	struct fixture_message message;
	struct open_message open;

	message_of(number, &message);
	arena_reset(fixture->arena);
	if (store_find_message(fixture->store, &message.event.id,
		fixture->arena, &open, &fixture->reason) != 1)
		return -1;
	if (day_file_has(
		open.key.file, SOURCE, (struct journal_position){1, position}))
		return 0;
	return fixture_add_delivery_after(
	    fixture, number, &message, &open.key, open.recipients[0].state);
}

static inline int
add_attempts(struct fixture *fixture, const struct open_message *open)
{
	for (uint32_t i = 0; i < open->recipient_count; i++) {
		const struct attempt_record attempt = {.wall_ns = NOW_NS,
		    .recipient = i,
		    .agent = "lmtp",
		    .dsn = "2.0.0",
		    .status = "sent",
		    .text = "250 2.0.0 Saved"};
		const struct recipient_change change = {.number = i,
		    .former = open->recipients[i].state,
		    .state = RECIPIENT_DELIVERED,
		    .evidence = 37,
		    .attempts = 1,
		    .leg_row = open->recipients[i].leg_row,
		    .leg_position = open->recipients[i].leg_position,
		    .original = i == 1 ? "team@example.org" : NULL};

		if (store_add_attempt(
			&open->key, &attempt, NULL, &fixture->reason) != 0 ||
		    store_change_recipient(
			&open->key, &change, &fixture->reason) != 0)
			return -1;
	}
	return 0;
}

static inline int
apply_log(struct fixture *fixture, uint64_t number, uint64_t position)
{
	const struct message_change change = {
	    .evidence = 15, .size_bytes = 1000 + number};
	const struct queue_id_claim claim = {"mx", "AGAIN", NOW_NS};
	struct fixture_message message;
	struct open_message open;

	message_of(number, &message);
	arena_reset(fixture->arena);
	if (store_find_message(fixture->store, &message.event.id,
		fixture->arena, &open, &fixture->reason) != 1)
		return -1;
	if (day_file_has(
		open.key.file, SOURCE, (struct journal_position){1, position}))
		return 0;
	if (store_change_message(&open.key, &change, &fixture->reason) != 0 ||
	    store_add_queue_id(&open.key, &claim, &fixture->reason) != 0)
		return -1;
	return add_attempts(fixture, &open);
}

/* Which message a delivery or the log is about: often several times the same.
 */
static inline uint64_t
earlier(uint64_t number)
{
	return number < 10 ? number / 2 : number - 10 + number % 2;
}

static inline int
apply(struct fixture *fixture, uint64_t event)
{
	uint64_t number = event / 3;

	switch (event % 3) {
	case 0:
		return apply_message(fixture, number, event + 1);
	case 1:
		return apply_delivery(fixture, earlier(number), event + 1);
	default:
		return apply_log(fixture, earlier(number), event + 1);
	}
}

/* What must hold whatever happens to a process; they share it. */
struct promised {
	uint64_t removed_until; /* the journal, and it is not there any more */
	uint64_t shown;         /* as the counter of messages */
	uint64_t begun_anew;    /* today's log, how often */
};

static inline struct promised *
promised(void)
{
	static struct promised *shared;

	if (shared == NULL)
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	return shared;
}

static inline void
note_log(const struct fixture *fixture)
{
	static uint64_t salt;
	uint64_t before = salt;

	salt = fixture_log_salt(fixture, "day-20261130.db-wal");
	if (before != 0 && salt != before)
		promised()->begun_anew++;
}

/* The next batch is to find the log copied, if it has grown. */
static inline void
wait_for_copy(struct store *store)
{
	for (int steps = 0; steps < COPY_STEPS; steps++) {
		if (store_most_events(store) == 1)
			return;
		poll(NULL, 0, 1);
	}
}

/* Every second batch is committed while the disk is asked for the one before
 * it, which is then waited for; what the store does not need any more is
 * removed. */
static inline int
commit(struct fixture *fixture, uint64_t event)
{
	struct store *store = fixture->store;
	static uint64_t counted;
	static int64_t now_ns;
	static bool is_asked;

	if (fixture_commit(fixture, event) != 0)
		return -1;
	note_log(fixture);
	if (is_asked) {
		while (store_follow_sync(store, now_ns) != STORE_SYNC_ENDED)
			poll(NULL, 0, 1);
		store_raise_synced(store);
		promised()->shown = counted;
		promised()->removed_until =
		    store_synced_bound(store, SOURCE).offset;
		wait_for_copy(store);
	} else {
		now_ns += SECOND_NS;
		store_follow_sync(store, now_ns);
		counted = fixture_counted(fixture, COUNTER_MESSAGES);
	}
	is_asked = !is_asked;
	return 0;
}

/* Reads on from the lower bound, or what is left, to the end. */
static inline int
run_writer(struct fixture *fixture)
{
	uint64_t event = store_lower_bound(fixture->store, SOURCE).offset;

	if (event < promised()->removed_until)
		event = promised()->removed_until;
	while (event < EVENTS) {
		if (apply(fixture, event++) != 0)
			return -1;
		if ((event % EVENTS_PER_BATCH == 0 || event == EVENTS) &&
		    commit(fixture, event) != 0)
			return -1;
	}
	return 0;
}

struct dump {
	char text[1 << 20];
	size_t size;
};

static inline int
dump_row(void *context, int columns, char **values, char **names)
{
	struct dump *dump = context;

	for (int i = 0; i < columns; i++)
		dump->size += (size_t)snprintf(dump->text + dump->size,
		    sizeof(dump->text) - dump->size, "%s|", values[i]);
	assert_true(dump->size < sizeof(dump->text));
	return 0;
}

/* The rows of all tables, every value quoted. */
static inline void
dump_file(const char *path, struct dump *dump)
{
	static const char *const queries[] = {
	    "SELECT 'message', row, quote(id), queue_hash, queue_id,"
	    " quote(message_id_local), origin, client, sender, quote(packed)"
	    " FROM message ORDER BY row",
	    /* Behind it is room, or none. */
	    "SELECT 'log', row, rtrim(hex(log), '0') FROM message ORDER BY row",
	    "SELECT 'attempt', key, quote(packed) FROM attempt ORDER BY key",
	    "SELECT 'queue_id', * FROM queue_id ORDER BY message",
	    "SELECT 'original', * FROM original ORDER BY key",
	    "SELECT 'recipient', key, address, state, attempts, leg, position,"
	    " evidence, quote(packed) FROM recipient ORDER BY key",
	    "SELECT 'leg', row, quote(id), state, message, queue_hash,"
	    " quote(packed) FROM leg ORDER BY row",
	    "SELECT 'address', id, domain, local FROM address ORDER BY id",
	    "SELECT 'undecided', message, leg FROM undecided",
	    "SELECT 'text', id, text FROM text ORDER BY id",
	    "SELECT 'position', * FROM position ORDER BY source",
	    "SELECT 'counter', * FROM counter ORDER BY name",
	    "SELECT 'total', series, count, sum_ns, quote(buckets) FROM total",
	    "SELECT 'minute', series, time, count, sum_ns, quote(cells)"
	    " FROM minute ORDER BY series, time",
	    "SELECT 'hour', series, time, count, sum_ns, quote(cells)"
	    " FROM hour ORDER BY series, time",
	    "SELECT 'outcome_minute', * FROM outcome_minute",
	    "SELECT 'outcome_hour', * FROM outcome_hour",
	    "PRAGMA integrity_check"};
	sqlite3 *database;

	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	for (size_t i = 0; i < COUNT(queries); i++)
		assert_int_equal(
		    sqlite3_exec(database, queries[i], dump_row, dump, NULL),
		    SQLITE_OK);
	sqlite3_close(database);
	outcome_rows_check_file(path);
}

static inline void
dump_store(struct fixture *fixture, struct dump *dump)
{
	char path[FIXTURE_PATH_SIZE];

	dump->size = 0;
	fixture_path(fixture, "day-20261130.db", path);
	dump_file(path, dump);
	fixture_path(fixture, "day-20261129.db", path);
	dump_file(path, dump);
}

static inline uint64_t
count_recipients(void)
{
	struct fixture_message message;
	uint64_t recipients = 0;

	for (uint64_t number = 0; number < MESSAGES; number++) {
		message_of(earlier(number), &message);
		recipients += message.event.recipient_count;
	}
	return recipients;
}

/* What the sums over all files say when the store is opened. */
static inline void
assert_totals(struct fixture *fixture, uint64_t messages, uint64_t deliveries)
{
	struct histogram_total histograms[HISTOGRAMS];
	uint64_t counters[COUNTERS], sum = 0;

	fixture_open(fixture);
	totals_snapshot(fixture->totals, counters, histograms);
	assert_int_equal(counters[COUNTER_MESSAGES], messages);
	assert_int_equal(counters[COUNTER_DELIVERIES], deliveries);
	assert_int_equal(
	    histograms[HISTOGRAM_LATENCY].exponential.count, deliveries);
	for (size_t i = 0; i <= TOTALS_BUCKETS; i++)
		sum += histograms[HISTOGRAM_LATENCY].buckets[i];
	assert_int_equal(sum, deliveries);
	fixture_close(fixture);
}

static inline void
remove_store(struct fixture *fixture)
{
	nftw(fixture->directory, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
	*promised() = (struct promised){0};
}

static inline int
setup_closed(void **state)
{
	*promised() = (struct promised){0};
	*state = fixture_new();
	return *state != NULL ? 0 : -1;
}

/* In a child: opens the store and runs the writer to its end. */
static inline void
run_and_exit(struct fixture *fixture)
{
	fixture->totals = totals_new(&fixture_names);
	fixture->store =
	    store_open(&fixture->settings, fixture->totals, &fixture->reason);
	if (fixture->store == NULL || run_writer(fixture) != 0) {
		fprintf(stderr, "# %s\n", fixture->reason.text);
		_exit(1);
	}
	_exit(0);
}

/* What happens to a writer at its n-th call, in a process of its own; 0:
 * nothing does. Returns whether it came to its end before. */
typedef bool run_writer_until(struct fixture *fixture, long call);

struct interruption {
	run_writer_until *run;
	void (*check)(struct fixture *fixture); /* after some; or NULL */
	long step; /* in check; each call with POSTLAG_LONG */
};

static inline void
assert_same(struct fixture *fixture, const struct dump *wanted, long call)
{
	static struct dump got;

	dump_store(fixture, &got);
	if (strcmp(got.text, wanted->text) != 0)
		fail_msg("interrupted at call %ld: the files differ", call);
}

static inline void
interrupt_at_each(
    struct fixture *fixture, const struct interruption *interruption)
{
	static struct dump wanted;
	long step = getenv("POSTLAG_LONG") != NULL ? 1 : interruption->step;
	long count = 0;

	assert_true(interruption->run(fixture, 0));
	dump_store(fixture, &wanted);
	assert_totals(fixture, MESSAGES, count_recipients());
	print_message("# begun anew %lu times\n",
	    (unsigned long)promised()->begun_anew);
	assert_true(promised()->begun_anew > 0);
	remove_store(fixture);
	for (long call = 1; !interruption->run(fixture, call); call += step) {
		count++;
		if (interruption->check != NULL && count % 2 == 0)
			interruption->check(fixture);
		assert_true(interruption->run(fixture, 0));
		assert_same(fixture, &wanted, call);
		if (count % 10 == 0)
			assert_totals(fixture, MESSAGES, count_recipients());
		remove_store(fixture);
	}
	print_message("# %ld times\n", count);
	assert_true(count > 20);
}

/* Until it comes to its end; it goes on each time where it was. */
static inline void
interrupt_again_and_again(
    struct fixture *fixture, run_writer_until *run, long (*call_of)(long count))
{
	static struct dump wanted;
	long count = 0;

	assert_true(run(fixture, 0));
	dump_store(fixture, &wanted);
	remove_store(fixture);
	while (!run(fixture, call_of(count)))
		count++;
	assert_true(run(fixture, 0));
	assert_same(fixture, &wanted, call_of(count));
	assert_totals(fixture, MESSAGES, count_recipients());
	print_message("# %ld times\n", count);
}

/* With TSan: children end while their threads go on; it would wait a second for
 * each of hundreds. */
const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
	return "atexit_sleep_ms=0";
}

#endif

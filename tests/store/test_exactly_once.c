/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Killed at any system call that writes or syncs, also between two files'
 * commits, and started again, the writer ends with the same rows, counters and
 * cells as one that was never killed (I2, I3).
 *
 * The writer runs in a child whose system calls are counted; it dies at the
 * n-th, with half of it done. Every n-th in check, each one with POSTLAG_LONG.
 */
#include "tests/lib/outcome_rows.h"
#include "tests/store/store_fixture.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MESSAGES 24
#define EVENTS (3 * MESSAGES)
#define EVENTS_PER_BATCH 11
#define STEP_IN_CHECK 5

/* At which call to die; 0: never. */
static long calls_left;

static bool
is_last_call(void)
{
	return calls_left > 0 && --calls_left == 0;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset);
int fdatasync(int fd);
int fsync(int fd);

ssize_t
pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	if (is_last_call()) {
		syscall(SYS_pwrite64, fd, data, size / 2, offset);
		raise(SIGKILL);
	}
	return syscall(SYS_pwrite64, fd, data, size, offset);
}

/* Syncing takes nothing that a killed process could lose. */
int
fdatasync(int fd)
{
	if (is_last_call())
		raise(SIGKILL);
	return 0;
}

int
fsync(int fd)
{
	return fdatasync(fd);
}

/* The journal: event 3k is message k, which every third is yesterday's; event
 * 3k + 1 is a delivery of a message that came before, event 3k + 2 what the log
 * says of it. */
static void
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

static int
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

static int
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
	return fixture_add_delivery_after(fixture, number, &message, &open.key,
	    open.recipients[0].state);
}

static int
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

static int
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
static uint64_t
earlier(uint64_t number)
{
	return number < 10 ? number / 2 : number - 10 + number % 2;
}

static int
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

/* Reads on from the lower bound to the end. */
static int
run_writer(struct fixture *fixture)
{
	uint64_t event = store_lower_bound(fixture->store, SOURCE).offset;

	while (event < EVENTS) {
		if (apply(fixture, event++) != 0)
			return -1;
		if ((event % EVENTS_PER_BATCH == 0 || event == EVENTS) &&
		    fixture_commit(fixture, event) != 0)
			return -1;
	}
	return 0;
}

/* Runs the writer in a child that dies at its n-th call. Returns whether it
 * came to its end before. */
static bool
run_child(struct fixture *fixture, long call)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		calls_left = call;
		fixture->totals = totals_new(&fixture_names);
		fixture->store = store_open(
		    &fixture->settings, fixture->totals, &fixture->reason);
		if (fixture->store == NULL || run_writer(fixture) != 0) {
			fprintf(stderr, "# %s\n", fixture->reason.text);
			_exit(1);
		}
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return false;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	return true;
}

struct dump {
	char text[1 << 20];
	size_t size;
};

static int
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
static void
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

static void
dump_store(struct fixture *fixture, struct dump *dump)
{
	char path[FIXTURE_PATH_SIZE];

	dump->size = 0;
	fixture_path(fixture, "day-20261130.db", path);
	dump_file(path, dump);
	fixture_path(fixture, "day-20261129.db", path);
	dump_file(path, dump);
}

static uint64_t
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
static void
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

static void
remove_store(struct fixture *fixture)
{
	nftw(fixture->directory, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static int
setup_closed(void **state)
{
	*state = fixture_new();
	return *state != NULL ? 0 : -1;
}

static void
killed_at_any_call_the_writer_ends_the_same(void **state)
{
	static struct dump wanted, got;
	struct fixture *fixture = *state;
	long step = getenv("POSTLAG_LONG") != NULL ? 1 : STEP_IN_CHECK;
	long kills = 0;

	assert_true(run_child(fixture, 0));
	dump_store(fixture, &wanted);
	assert_totals(fixture, MESSAGES, count_recipients());
	remove_store(fixture);
	for (long call = 1;; call += step) {
		if (run_child(fixture, call))
			break;
		kills++;
		assert_true(run_child(fixture, 0));
		dump_store(fixture, &got);
		if (strcmp(got.text, wanted.text) != 0)
			fail_msg("killed at call %ld: the files differ", call);
		if (kills % 10 == 0)
			assert_totals(fixture, MESSAGES, count_recipients());
		remove_store(fixture);
	}
	print_message("# %ld kills\n", kills);
	assert_true(kills > 20);
}

/* Each run dies a little later than the one before got. */
static void
killed_again_and_again_the_writer_ends_the_same(void **state)
{
	static struct dump wanted, got;
	struct fixture *fixture = *state;
	long kills = 0;

	assert_true(run_child(fixture, 0));
	dump_store(fixture, &wanted);
	remove_store(fixture);
	while (!run_child(fixture, 23 + kills % 100))
		kills++;
	assert_true(run_child(fixture, 0));
	dump_store(fixture, &got);
	assert_string_equal(got.text, wanted.text);
	assert_totals(fixture, MESSAGES, count_recipients());
	print_message("# %ld kills\n", kills);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		killed_at_any_call_the_writer_ends_the_same, setup_closed,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		killed_again_and_again_the_writer_ends_the_same, setup_closed,
		fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

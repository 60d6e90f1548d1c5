/* SPDX-License-Identifier: BSD-2-Clause */
/* A writer killed in the middle of whatever it does loses nothing that it had
 * appended, and leaves nothing that it had not (I2; must show 9 in the small).
 */
#include "tests/proto/journal_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define THREADS 3
#define THREAD_STEP 1000000
#define ROUNDS 40
#define ROUNDS_LONG 400

/* Shared with the child: each thread's events appended so far. */
struct shared {
	_Atomic uint64_t appended[THREADS];
};

struct appender {
	struct journal_writer *writer;
	struct shared *shared;
	uint64_t thread;
};

static void *
append_for_ever(void *argument)
{
	struct appender *appender = argument;
	_Atomic uint64_t *appended =
	    &appender->shared->appended[appender->thread];
	static char text[3][9000];
	struct event event = {.type = EVENT_MESSAGE};
	char *mine = text[appender->thread];

	memset(mine, 'x', sizeof(text[0]) - 1);
	event.message.helo = mine;
	for (uint64_t i = 0;; i++) {
		size_t size = i * 7919 % (sizeof(text[0]) - 1);

		mine[size] = '\0';
		event.message.session = appender->thread * THREAD_STEP + i;
		if (journal_writer_append(
			appender->writer, &event, JOURNAL_SHARE_ALL) != 1)
			_exit(1);
		atomic_store(appended, i + 1);
		mine[size] = 'x';
	}
	return NULL;
}

static void
child(struct fixture *fixture, struct shared *shared)
{
	struct appender appenders[THREADS];
	struct journal_writer *writer;
	pthread_t threads[THREADS];

	writer = journal_writer_open(&fixture->settings, NULL);
	if (writer == NULL)
		_exit(1);
	for (uint64_t i = 0; i < THREADS; i++) {
		appenders[i] = (struct appender){writer, shared, i};
		pthread_create(
		    &threads[i], NULL, append_for_ever, &appenders[i]);
	}
	for (;;)
		pause();
}

/* Reads what the round left; each thread's events must be there in order, all
 * that were answered and at most one more. */
static void
expect_round(struct fixture *fixture, const struct shared *shared)
{
	uint64_t next[THREADS] = {0}, number;
	const struct journal_record *record;

	while ((record = fixture_next_event(fixture)) != NULL) {
		number = fixture_number(&record->event);
		assert_true(number / THREAD_STEP < THREADS);
		assert_int_equal(
		    number % THREAD_STEP, next[number / THREAD_STEP]++);
		assert_int_equal(strlen(record->event.message.helo != NULL
					    ? record->event.message.helo
					    : ""),
		    number % THREAD_STEP * 7919 % 8999);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_true(next[i] >= shared->appended[i]);
		assert_true(next[i] <= shared->appended[i] + 1);
	}
}

static void
a_killed_writer_loses_and_invents_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct shared *shared = mmap(NULL, sizeof(*shared),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rounds = getenv("POSTLAG_LONG") != NULL ? ROUNDS_LONG : ROUNDS;
	unsigned seed = (unsigned)time(NULL);
	int status;
	pid_t pid;

	fixture->settings.segment_bytes = 256 << 10;
	fixture->settings.heartbeat_interval_ns = SECOND_NS / 1000;
	fixture_read(fixture);
	for (int round = 0; round < rounds; round++) {
		memset(shared, 0, sizeof(*shared));
		pid = fork();
		if (pid == 0)
			child(fixture, shared);
		fixture_wait(shared->appended[0] > 0);
		nanosleep(
		    &(struct timespec){0, rand_r(&seed) % 10000000}, NULL);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		expect_round(fixture, shared);
		journal_reader_remove(fixture->reader,
		    journal_reader_position(fixture->reader), NULL);
	}
	/* Nothing was damaged; a record cut short is told as that. */
	assert_int_equal(fixture_damage(fixture)->records, 0);
	assert_int_equal(fixture_damage(fixture)->segments, 0);
	munmap(shared, sizeof(*shared));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(a_killed_writer_loses_and_invents_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

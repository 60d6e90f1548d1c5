/* SPDX-License-Identifier: BSD-2-Clause */
/* The gate between the checkpoint thread and who reads. */
#include "store/read_gate.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/unit.h"

#define READERS 4

static char directory[] = "/tmp/postlag-gate-XXXXXX";

static bool
is_held(void)
{
	int gate = read_gate(directory);
	bool held = flock(gate, LOCK_EX | LOCK_NB) != 0;

	close(gate);
	return held;
}

static void
a_reader_passes_and_holds_nothing(void **state)
{
	int mine = read_gate(directory), other = read_gate(directory);

	read_gate_pass(other);
	assert_false(is_held());
	assert_true(read_gate_close(mine));
	assert_true(is_held());
	read_gate_open(mine);
	read_gate_pass(other);
	assert_false(is_held());
	close(mine);
	close(other);
}

/* Another process closes it, tells so, and stands still. */
static pid_t
closer(void)
{
	int told[2];
	char word;
	pid_t pid;

	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (pid == 0) {
		bool closed = read_gate_close(read_gate(directory));

		if (write(told[1], closed ? "y" : "n", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(told[0], &word, 1), 1);
	assert_int_equal(word, 'y');
	close(told[0]);
	close(told[1]);
	return pid;
}

static void
nobody_waits_for_ever_for_one_that_stands_still(void **state)
{
	int gate = read_gate(directory);
	pid_t pid = closer();

	read_gate_pass(gate);
	assert_false(read_gate_close(gate));
	assert_true(is_held());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_false(is_held());
	assert_true(read_gate_close(gate));
	close(gate);
}

static void
without_a_directory_there_is_no_gate(void **state)
{
	int gate = read_gate("/nowhere");

	assert_int_equal(gate, -1);
	read_gate_pass(gate);
	assert_false(read_gate_close(gate));
	read_gate_open(gate);
}

static atomic_bool stop;

static void *
read_on(void *context)
{
	int gate = read_gate(directory);

	while (!atomic_load(&stop))
		read_gate_pass(gate);
	close(gate);
	return NULL;
}

static void
it_is_closed_however_many_come(void **state)
{
	int gate = read_gate(directory);
	pthread_t threads[READERS];

	for (size_t i = 0; i < READERS; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, read_on, NULL), 0);
	for (int i = 0; i < 50; i++) {
		assert_true(read_gate_close(gate));
		read_gate_open(gate);
	}
	atomic_store(&stop, true);
	for (size_t i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	close(gate);
}

static int
make_directory(void **state)
{
	return mkdtemp(directory) == NULL ? -1 : 0;
}

static int
remove_directory(void **state)
{
	return rmdir(directory);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_reader_passes_and_holds_nothing),
	    cmocka_unit_test(nobody_waits_for_ever_for_one_that_stands_still),
	    cmocka_unit_test(without_a_directory_there_is_no_gate),
	    cmocka_unit_test(it_is_closed_however_many_come),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

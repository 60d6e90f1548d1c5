/* SPDX-License-Identifier: BSD-2-Clause */
/* Giving way is a thread's own business. */
#include "base/priority.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lib/unit.h"

static int
nice_of_thread(void)
{
	return getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid));
}

static void *
give_way_twice(void *result)
{
	priority_give_way();
	priority_give_way();
	*(int *)result = nice_of_thread();
	return NULL;
}

static void
a_thread_gives_way_once_and_for_itself(void **state)
{
	int before = nice_of_thread(), after = before;
	pthread_t thread;

	assert_int_equal(
	    pthread_create(&thread, NULL, give_way_twice, &after), 0);
	pthread_join(thread, NULL);
	assert_int_equal(after, before + 10 < 19 ? before + 10 : 19);
	assert_int_equal(nice_of_thread(), before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_thread_gives_way_once_and_for_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

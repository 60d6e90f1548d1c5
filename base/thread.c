/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by whatever has a thread of its own, at its start. */
#include "base/thread.h"

#include <signal.h>

int
thread_start(pthread_t *thread_r, void *(*run)(void *), void *argument)
{
	sigset_t all, old;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(thread_r, NULL, run, argument);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

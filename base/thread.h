/* SPDX-License-Identifier: BSD-2-Clause */
/* thread: start threads of our own. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>

/* With all signals blocked: they are the main thread's business. Returns 0, or
 * an error number of pthread_create(3). */
int thread_start(pthread_t *thread_r, void *(*run)(void *), void *argument);

#endif

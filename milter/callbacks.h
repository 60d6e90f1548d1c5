/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * callbacks: libmilter, and what it calls. The only file that knows it.
 *
 * Whatever happens inside, a message is let pass. Debian's libmilter runs all
 * sessions on a pool of threads that is not guarded against slow callbacks, so
 * none of them waits for anything but one write(2).
 */
#ifndef MILTER_CALLBACKS_H
#define MILTER_CALLBACKS_H

#include "milter/session.h"

#include <stdbool.h>
#include <stdint.h>

struct reason;
struct trusted;

/* Tells libmilter what to call. The arguments are copied and apply to all
 * sessions. */
int callbacks_register(const struct session_settings *settings,
    const struct trusted *reinjectors, struct reason *reason);

/* Opens the socket; `connection` in the form of smfi_setconn(3). */
int callbacks_open_socket(const char *connection, struct reason *reason);

/* Serves sessions on threads of libmilter's own, from now on until the process
 * ends: libmilter never sees the signals that would stop it. */
int callbacks_start(struct reason *reason);

/* Whether libmilter gave up; the process is then sent SIGTERM. */
bool callbacks_failed(void);

/* How many sessions are open. Any thread. */
uint64_t callbacks_open_sessions(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* listener: the socket that Postfix connects to. */
#ifndef MILTER_LISTENER_H
#define MILTER_LISTENER_H

struct milter_settings;
struct reason;

/* Opens the configured socket, or takes the one that the supervisor handed
 * over. A unix socket that nobody listens on any more is replaced, a live one
 * is not; mode and group become the configured ones. To be called with the
 * rights the program was started with, after callbacks_register(). Returns 0 or
 * -1. */
int listener_open(
    const struct milter_settings *settings, struct reason *reason);

#endif

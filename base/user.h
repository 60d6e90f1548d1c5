/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user: giving up root for good, and every capability that a supervisor gave.
 *
 * A program may be started by root, or as its own user with CAP_SETUID and
 * CAP_SETGID, which a child then uses to become somebody else. At start, before
 * threads.
 */
#ifndef BASE_USER_H
#define BASE_USER_H

#include <stdbool.h>

struct reason;

/* Whether we may become another user. */
bool user_may_change(void);

/* Becomes the user with its primary and supplementary groups, and makes sure
 * that there is no way back. Who is that user already, or may not change, stays
 * who it is, with the groups that it was given, but without capabilities; so
 * does everybody with the empty name, except root. Returns 0, or -1: the
 * process may then be halfway and has to end. */
int user_become(const char *name, struct reason *reason);

/* The same with the primary group only. */
int user_become_alone(const char *name, struct reason *reason);

#endif

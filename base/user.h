/* SPDX-License-Identifier: BSD-2-Clause */
/* user: giving up root for good. At start, before threads. */
#ifndef BASE_USER_H
#define BASE_USER_H

struct reason;

/* Becomes the user with its primary and supplementary groups, and makes sure
 * that there is no way back. Does nothing when we are not root. Returns 0, or
 * -1: the process may then be halfway and has to end. */
int user_become(const char *name, struct reason *reason);

/* The same with the primary group only. */
int user_become_alone(const char *name, struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * priority: who asks gives way to mail, and to who stores what is known of it.
 */
#ifndef BASE_PRIORITY_H
#define BASE_PRIORITY_H

/* Makes the calling thread nicer, once however often it is called: with Linux
 * each thread has a nice(2) of its own. */
void priority_give_way(void);

#endif

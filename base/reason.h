/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reason: the sentence that travels with a failure.
 *
 * A function that can fail takes a `struct reason *` last and returns -1 after
 * filling it in; whoever decides what the failure means (refuse to start, drop
 * and count, answer 500) also decides where the sentence goes. A NULL reason is
 * allowed everywhere and means that the caller does not care.
 */
#ifndef BASE_REASON_H
#define BASE_REASON_H

struct reason {
	char text[512];
};

/* Sets the reason, cut to its size. Always returns -1, so that a failing
 * function can end with `return reason_set(...)`. errno is kept. */
int reason_set(struct reason *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with ": " and the text of errno behind it. */
int reason_set_errno(struct reason *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

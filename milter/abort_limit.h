/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abort_limit: how many transactions without an accepted recipient are recorded
 * a second.
 *
 * On a busy MX they are many, and anybody can make more. A burst is let
 * through, then the rate; what is beyond is counted only.
 */
#ifndef MILTER_ABORT_LIMIT_H
#define MILTER_ABORT_LIMIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct abort_limit {
	int64_t interval_ns; /* between two at the full rate; 0: none at all */
	int64_t burst_ns;    /* how far ahead of the rate one may run */
	atomic_int_least64_t
	    next_ns; /* when the next one is due at that rate */
};

/* `per_second` may be 0 (none is let through); `burst` is at least 1. */
void abort_limit_init(
    struct abort_limit *limit, int64_t per_second, int64_t burst);

/* Whether one more is let through at CLOCK_MONOTONIC `now_ns`. Any thread,
 * never waits. */
bool abort_limit_take(struct abort_limit *limit, int64_t now_ns);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search_time: durations and moments as people write them.
 *
 * No state; any thread.
 */
#ifndef STORE_SEARCH_TIME_H
#define STORE_SEARCH_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers, each with ms, s (sec), m (min), h, d or w: `500ms`, `1.5s`, `1h30m`.
 * Returns 0, or -1 when it is anything else. */
int search_duration(const char *text, int64_t *ns_r);

/* `today`, `yesterday`, a date (2026-11, 2026-11-29), a time of today (14:30),
 * or both with T or a blank in between, seconds and their fractions; UTC unless
 * Z or an offset like +01:00 follows; or a duration, which is how long ago. Of
 * a day or a month it is the beginning, or with `is_end` the end. Returns 0,
 * or -1 when it is anything else. */
int search_moment(
    const char *text, int64_t now_wall_ns, bool is_end, int64_t *wall_ns_r);

#endif

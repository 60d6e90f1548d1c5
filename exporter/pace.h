/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace: how fast the exporter reads what it is behind of, and when it will have
 * caught up.
 *
 * It is behind when for two seconds not everything that is there was read. Part
 * of ingest, on its thread.
 */
#ifndef EXPORTER_PACE_H
#define EXPORTER_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

#define PACE_SAMPLES 10 /* one a second */

struct pace {
	struct pace_sample {
		int64_t at_ns, read_events, behind_bytes;
	} samples[PACE_SAMPLES]; /* the oldest first */
	size_t count;
	int64_t at_end_ns;
	bool is_noted;
};

/* Begins at `now_ns`, CLOCK_MONOTONIC. */
struct pace pace_begin(int64_t now_ns);

/* Looks at the gauges of sources and sets those of pace; `at_end`: everything
 * was read. What readers of the store are to know is noted there, at most once
 * a second. */
void pace_look(struct pace *pace, int64_t now_ns, bool at_end, int64_t *live,
    struct store *store);

#endif

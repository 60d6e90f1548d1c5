/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apply: hand what the sources read to the join, as privacy allows it.
 *
 * Part of ingest, on its thread.
 */
#ifndef EXPORTER_APPLY_H
#define EXPORTER_APPLY_H

#include <stdbool.h>
#include <stdint.h>

struct join;
struct privacy_filter;
struct reason;
struct source_record;

/* A sources_ready of which the context is the join. */
bool apply_is_ready(void *context, const struct source_record *record);

struct apply {
	struct join *join;
	struct privacy_filter *filter;
	int64_t now_ns; /* CLOCK_MONOTONIC */
};

/* Whatever it is; *record is then what of it was applied. Returns 0, or -1. */
int apply_record(const struct apply *apply, struct source_record *record,
    struct reason *reason);

#endif

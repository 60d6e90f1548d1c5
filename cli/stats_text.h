/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_text: how long deliveries and phases took in a period, as a table.
 * Pure.
 */
#ifndef CLI_STATS_TEXT_H
#define CLI_STATS_TEXT_H

#include "store/query_latency.h"

#include <stddef.h>
#include <stdint.h>

struct buffer;
struct text_style;

/* One line of it. */
struct stats_row {
	const char *kind; /* "route", "phase", "host", "relay", "provider" */
	const char *name;
	struct latency_point point;
};

struct stats {
	int64_t since_wall_ns, until_wall_ns;
	struct stats_row *rows;
	size_t count;
};

/* Appends the table; rows without a count are left out. */
void stats_text(const struct stats *stats, const struct text_style *style,
    struct buffer *out);

/* The same as a JSON object, with all rows. */
void stats_json(const struct stats *stats, struct buffer *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exposition: how metrics are written.
 *
 * A format is told one family after the other, and of each family its label
 * sets with their values; it appends what it makes of them to a buffer. Which
 * families there are is metrics.h's matter, their values collect.h's.
 */
#ifndef EXPORTER_SERVE_EXPOSITION_H
#define EXPORTER_SERVE_EXPOSITION_H

#include "exporter/metrics/metrics.h"

#include <stdint.h>

struct buffer;
struct histogram_total;

struct exposition_format {
	const char *content_type;
	/* Begins a family; its label sets follow in order. */
	void (*family)(struct buffer *out, enum metric metric);
	/* A counter's or a gauge's value, in the family's unit (metrics.h). */
	void (*value)(struct buffer *out, enum metric metric, unsigned set,
	    int64_t value);
	void (*histogram)(struct buffer *out, enum metric metric, unsigned set,
	    const struct histogram_total *value);
	/* After the last family; may be NULL. */
	void (*end)(struct buffer *out);
};

/* Prometheus text format 0.0.4. */
extern const struct exposition_format exposition_text;

#endif

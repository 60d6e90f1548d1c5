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

#include <stddef.h>
#include <stdint.h>

struct buffer;
struct histogram_total;

/* One label set of a family. */
struct sample {
	const struct metric_family *family;
	unsigned set;
};

struct exposition_format {
	const char *content_type;
	/* Begins a family; its label sets follow in order. */
	void (*family)(struct buffer *out, const struct metric_family *family);
	/* A counter's or a gauge's value, in the family's unit (metrics.h). */
	void (*value)(
	    struct buffer *out, const struct sample *sample, int64_t value);
	void (*histogram)(struct buffer *out, const struct sample *sample,
	    const struct histogram_total *value);
	/* After a family that began at `start` of the buffer; may be NULL. */
	void (*family_end)(struct buffer *out, size_t start);
	/* After the last family; may be NULL. */
	void (*end)(struct buffer *out);
};

/* Under which an exemplar has the id of its message. */
#define EXPOSITION_EXEMPLAR_LABEL "trace_id"

/* Prometheus text format 0.0.4. */
extern const struct exposition_format exposition_text;

/* OpenMetrics 1.0, with exemplars in the buckets of histograms. */
extern const struct exposition_format exposition_openmetrics;

/* Prometheus' protobuf, with native histograms beside classic buckets. */
extern const struct exposition_format exposition_protobuf;

/* The format that an Accept (NULL: there is none) asks for; text when it asks
 * for nothing that there is. */
const struct exposition_format *exposition_choose(const char *accept);

#endif

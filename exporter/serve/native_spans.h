/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * native_spans: the buckets of an exponential histogram as Prometheus' native
 * histograms have them.
 *
 * Spans of neighbouring buckets, and of all these buckets how far each count is
 * from the one before it. Pure; any thread.
 */
#ifndef EXPORTER_SERVE_NATIVE_SPANS_H
#define EXPORTER_SERVE_NATIVE_SPANS_H

#include "store/histogram.h"

#include <stddef.h>
#include <stdint.h>

/* So many empty buckets are cheaper than a new span. */
#define NATIVE_SPANS_BRIDGED 2

#define NATIVE_SPANS_MAX (HISTOGRAM_BUCKETS / (NATIVE_SPANS_BRIDGED + 2) + 1)

struct native_span {
	/* From the end of the span before; of the first, from index 0. */
	int32_t offset;
	uint32_t length;
};

struct native_spans {
	size_t span_count, delta_count;
	struct native_span spans[NATIVE_SPANS_MAX];
	int64_t deltas[HISTOGRAM_BUCKETS];
};

void native_spans_fill(
    const struct histogram *histogram, struct native_spans *spans_r);

#endif

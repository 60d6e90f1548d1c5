/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sample_text: what the text format and OpenMetrics have in common.
 *
 * All arithmetic is on integers: nanoseconds become decimal seconds without
 * passing through floating point, so there is neither rounding nor NaN.
 */
#ifndef EXPORTER_SERVE_SAMPLE_TEXT_H
#define EXPORTER_SERVE_SAMPLE_TEXT_H

#include "exporter/metrics/metrics.h"

#include <stdint.h>

struct buffer;
struct histogram_total;
struct sample;

/* Seconds in the shortest decimal form: 0.0025, 1, 432000. */
void sample_text_seconds(struct buffer *out, int64_t ns);

/* A value of the unit. */
void sample_text_number(
    struct buffer *out, enum metric_unit unit, int64_t value);

/* Text with a backslash before each backslash and each of `escaped`, and with
 * newlines as \n. */
void sample_text_escaped(
    struct buffer *out, const char *text, const char *escaped);

/* `name{labels} value` and a newline. `suffix` follows the name. */
void sample_text_line(struct buffer *out, const struct sample *sample,
    const char *suffix, enum metric_unit unit, int64_t value);

/* The line of a bucket, without a newline. Its bound always has a point, which
 * OpenMetrics demands and Prometheus writes itself: so the series is the same
 * one in every format. */
void sample_text_bucket(struct buffer *out, const struct sample *sample,
    unsigned bucket, uint64_t cumulative);

/* The lines after the buckets: sum and count. */
void sample_text_sum(struct buffer *out, const struct sample *sample,
    const struct histogram_total *value);

#endif

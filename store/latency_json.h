/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency_json: percentiles as JSON, for API and command line alike.
 *
 * No state; any thread.
 */
#ifndef STORE_LATENCY_JSON_H
#define STORE_LATENCY_JSON_H

#include <stdint.h>

struct buffer;
struct latency_answer;
struct latency_point;

/* Appends an object: "start", "count", "sum", "p50" to "max", in seconds, null
 * where there is nothing; with cells also "cells", pairs of a bucket's upper
 * bound in seconds and its count. */
void latency_point_json(const struct latency_point *point, struct buffer *out);

/* Appends {"step": SECONDS, "points": [...], "whole": {...}}; where a file
 * could not be read, "incomplete" is true. */
void latency_answer_json(
    const struct latency_answer *answer, int64_t step_ns, struct buffer *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * outcomes_json: outcomes over time as JSON. No state; any thread.
 */
#ifndef STORE_OUTCOMES_JSON_H
#define STORE_OUTCOMES_JSON_H

#include <stdint.h>

struct buffer;
struct outcome_answer;

/* Appends {"step": SECONDS, "points": [...], "whole": {...}}; each point, and
 * the whole, has "start" and the count of every state of a recipient that was
 * accepted; where a file could not be read, "incomplete" is true. */
void outcomes_json(
    const struct outcome_answer *answer, int64_t step_ns, struct buffer *out);

#endif

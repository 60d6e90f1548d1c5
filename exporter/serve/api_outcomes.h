/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_outcomes: what became of the mail of a period, over time, as JSON. Any
 * thread.
 */
#ifndef EXPORTER_SERVE_API_OUTCOMES_H
#define EXPORTER_SERVE_API_OUTCOMES_H

struct api;
struct api_period;
struct buffer;

/* Appends what outcomes_json() has. Returns 200, 400 for what cannot be
 * understood, 503 when the store cannot be read. */
unsigned api_outcomes(
    struct api *api, const struct api_period *asked, struct buffer *out);

#endif

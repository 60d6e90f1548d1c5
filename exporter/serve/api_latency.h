/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_latency: percentiles and heatmaps over time as JSON. Any thread.
 */
#ifndef EXPORTER_SERVE_API_LATENCY_H
#define EXPORTER_SERVE_API_LATENCY_H

#include "exporter/serve/api_period.h"

/* What was asked, as it was written; empty: the default. */
struct api_latency {
	char phase[API_ARGUMENT_SIZE]; /* else whole latencies */
	char route[API_ARGUMENT_SIZE]; /* else of all routes */
	char host[API_ARGUMENT_SIZE];  /* else of all hosts */
	char relay[API_ARGUMENT_SIZE]; /* else of all relays */
	char provider[API_ARGUMENT_SIZE]; /* else of all */
	struct api_period period;
	char cells[API_ARGUMENT_SIZE]; /* 1: with a heatmap's cells */
};

/* Appends what latency_answer_json() has. Returns 200, 400 for what cannot be
 * understood, 503 when the store cannot be read. */
unsigned api_latency(
    struct api *api, const struct api_latency *asked, struct buffer *out);

#endif

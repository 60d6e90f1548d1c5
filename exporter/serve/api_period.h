/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_period: the period and the steps that a client asks for. Any thread.
 */
#ifndef EXPORTER_SERVE_API_PERIOD_H
#define EXPORTER_SERVE_API_PERIOD_H

#include "exporter/serve/api.h"

#include <stdbool.h>

struct query_period;
struct reason;

/* What was asked, as it was written; empty: the default. */
struct api_period {
	char since[API_ARGUMENT_SIZE]; /* else 24h before until; as in a search
					*/
	char until[API_ARGUMENT_SIZE]; /* else now */
	char step[API_ARGUMENT_SIZE];  /* else what gives some 100 steps */
};

/* Returns 0, or -1 with what is wrong. With `by_hour` steps are not chosen
 * below an hour. */
int api_period_read(const struct api_period *asked, bool by_hour,
    struct query_period *period_r, struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * series: the names under which histograms are kept, where others than whoever
 * writes them ask for them. They are those of the metrics. Any thread.
 */
#ifndef STORE_SERIES_H
#define STORE_SERIES_H

#include "proto/phase.h"
#include "store/route.h"

/* postlag_delivery_latency_seconds of a route. */
const char *series_of_route(enum route route);

/* postlag_phase_seconds of a phase. */
const char *series_of_phase(enum phase phase);

#endif

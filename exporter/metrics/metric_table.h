/* SPDX-License-Identifier: BSD-2-Clause */
/* metric_table: the families of metrics.h. */
#ifndef EXPORTER_METRICS_METRIC_TABLE_H
#define EXPORTER_METRICS_METRIC_TABLE_H

#include "exporter/metrics/metrics.h"

extern const struct metric_family metric_families[METRICS];

#endif

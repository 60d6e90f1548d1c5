/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deferral: count recipients that wait for another attempt, by why.
 *
 * The reason is the second number of the enhanced status code, its subject (RFC
 * 3463 section 4), which every delivery agent of Postfix logs. For the ingest
 * thread.
 */
#ifndef EXPORTER_JOIN_DEFERRAL_H
#define EXPORTER_JOIN_DEFERRAL_H

#include "exporter/maillog/maillog_view.h"
#include "exporter/metrics/metric_labels.h"

struct day_file;

/* Of anything that is no such code: DEFERRAL_OTHER. */
enum metric_deferral deferral_reason(struct maillog_view enhanced);

/* Counts one in the message's file. */
void deferral_count(struct day_file *file, struct maillog_view enhanced);

#endif

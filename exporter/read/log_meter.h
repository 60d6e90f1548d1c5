/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_meter: how near the lines of a log come to a rate limit.
 *
 * Lines are counted as the limit counts them, by process or all together, over
 * each interval of its length, to a fifteenth of it or a second. Lines that the
 * limit took are not there to be counted: who has used it up may have lost
 * some. Times are the log's own. Not thread-safe.
 */
#ifndef EXPORTER_READ_LOG_METER_H
#define EXPORTER_READ_LOG_METER_H

#include "exporter/maillog/log_limit.h"

#include <stdbool.h>
#include <stdint.h>

struct log_meter;

/* A limit that is none is never used up. */
struct log_meter *log_meter_new(const struct log_limit *limit, bool by_process);
void log_meter_free(struct log_meter **meter);

enum log_meter_news {
	LOG_METER_NOTHING,
	LOG_METER_NEAR,   /* more than half is used, for the first time */
	LOG_METER_USED_UP /* all is, and was not within an interval before */
};

/* Counts `lines` of one process. */
enum log_meter_news log_meter_add(
    struct log_meter *meter, int64_t pid, int64_t wall_ns, unsigned lines);

/* The largest share of the limit that was used in the last hour of the log, in
 * billionths. */
int64_t log_meter_used(const struct log_meter *meter);

#endif

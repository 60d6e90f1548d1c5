/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_limit: how many lines a logger lets pass in how much time, and drops the
 * rest. Any thread.
 */
#ifndef EXPORTER_MAILLOG_LOG_LIMIT_H
#define EXPORTER_MAILLOG_LOG_LIMIT_H

#include <stdint.h>

enum log_limit_kind {
	LOG_LIMIT_JOURNALD,  /* counts by unit: all of one Postfix together */
	LOG_LIMIT_IMUXSOCK,  /* rsyslogd's socket: counts by process */
	LOG_LIMIT_IMJOURNAL, /* rsyslogd reading the journal: counts all */
	LOG_LIMITS
};

struct log_limit {
	int64_t interval_ns; /* 0: no limit */
	int64_t burst;       /* lines */
};

/* "journald", ...; "unknown" for what is not in the enum. */
const char *log_limit_name(enum log_limit_kind kind);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logger_conf: which rate limits stand between Postfix and a log.
 *
 * By the configuration files of journald and rsyslogd. A file that rsyslogd's
 * configuration does not name is Postfix's own (maillog_file), which nobody
 * limits, or is named by a template, which is not recognised. Limits of single
 * units (LogRateLimitBurst= in systemd.exec(5)) are not seen either. Called at
 * start.
 */
#ifndef EXPORTER_READ_LOGGER_CONF_H
#define EXPORTER_READ_LOGGER_CONF_H

#include "exporter/maillog/log_limit.h"

#include <limits.h>

struct logger_limit {
	struct log_limit limit;
	char file[PATH_MAX]; /* to be changed: where it is set, or could be */
	const char *setting; /* there */
};

/* Indexed by enum log_limit_kind. */
struct logger_limits {
	struct logger_limit items[LOG_LIMITS];
};

/* `root` is the directory in which etc/systemd and etc/rsyslog.conf are; `log`
 * is named as in log_reader.h. What cannot be read limits nothing. */
void logger_conf_find(
    const char *root, const char *log, struct logger_limits *limits_r);

#endif

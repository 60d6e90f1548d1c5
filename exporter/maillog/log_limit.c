/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words for limits. Pure; any thread.
 */
#include "exporter/maillog/log_limit.h"

const char *
log_limit_name(enum log_limit_kind kind)
{
	static const char *const names[LOG_LIMITS] = {
	    [LOG_LIMIT_JOURNALD] = "journald",
	    [LOG_LIMIT_IMUXSOCK] = "imuxsock",
	    [LOG_LIMIT_IMJOURNAL] = "imjournal",
	};

	return kind < LOG_LIMITS ? names[kind] : "unknown";
}

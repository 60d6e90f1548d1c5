/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsyslog_conf: the settings in a configuration file of rsyslogd.
 *
 * One setting after the other, in either of its two languages: `$Name value`,
 * and `object(name="value" ...)`. Only what limits rates or includes files has
 * a meaning here; the rest is passed over. Pure, any thread.
 */
#ifndef EXPORTER_READ_RSYSLOG_CONF_H
#define EXPORTER_READ_RSYSLOG_CONF_H

#include "exporter/maillog/maillog_view.h"

#include <stdbool.h>
#include <stdint.h>

enum rsyslog_setting_kind {
	RSYSLOG_LOADS,           /* value: of a module */
	RSYSLOG_INCLUDES,        /* value: a path, which may hold * and ? */
	RSYSLOG_SOCKET_INTERVAL, /* imuxsock, seconds */
	RSYSLOG_SOCKET_BURST,
	RSYSLOG_JOURNAL_INTERVAL, /* imjournal, seconds */
	RSYSLOG_JOURNAL_BURST
};

struct rsyslog_setting {
	enum rsyslog_setting_kind kind;
	struct maillog_view value;
	int64_t number; /* of intervals and bursts */
};

/* What is left to be read; begins zeroed but for `text`. */
struct rsyslog_conf {
	struct maillog_view text;
	struct maillog_view module; /* of the object that is being read */
	bool is_input;
	bool is_include;
	bool in_object;
};

/* Returns whether there is one more setting. */
bool rsyslog_conf_next(
    struct rsyslog_conf *conf, struct rsyslog_setting *setting_r);

/* Whether the file names this path outside comments: writes to it. */
bool rsyslog_conf_names(struct maillog_view text, struct maillog_view path);

#endif

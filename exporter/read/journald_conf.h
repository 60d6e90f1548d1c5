/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journald_conf: the rate limit in a journald.conf.
 *
 * Pure, any thread; what is not understood is passed over, as journald does.
 */
#ifndef EXPORTER_READ_JOURNALD_CONF_H
#define EXPORTER_READ_JOURNALD_CONF_H

#include "exporter/maillog/log_limit.h"
#include "exporter/maillog/maillog_view.h"

#include <stdbool.h>

/* journald's own: 10000 lines in 30 s. */
extern const struct log_limit journald_conf_default;

/* Applies a file's settings to those of the files before it. Returns whether it
 * has any. */
bool journald_conf_read(struct maillog_view text, struct log_limit *limit);

#endif

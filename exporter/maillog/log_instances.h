/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_instances: whose lines those of a syslog name are.
 *
 * The first part of syslog_name tells Postfix instances apart: "postfix" is the
 * default one, whatever the service ("postfix/submission"), "postfix-out" is
 * another. Each is known by the same word as in the journals. For the ingest
 * thread.
 */
#ifndef EXPORTER_MAILLOG_LOG_INSTANCES_H
#define EXPORTER_MAILLOG_LOG_INSTANCES_H

#include "exporter/maillog/maillog_view.h"

#include <stddef.h>

struct log_instances;
struct reason;

/* Reads "postfix=mx.example.org, postfix-out=out.example.org"; may be empty.
 * The default instance is `host` unless it says otherwise, any other is its own
 * name. NULL with a reason when it is anything else. */
struct log_instances *log_instances_new(
    const char *text, const char *host, struct reason *reason);
void log_instances_free(struct log_instances **instances);

/* The instance of a line's syslog name, always the same string; NULL: of no
 * name, which a gap has. */
const char *log_instances_find(
    struct log_instances *instances, struct maillog_view syslog_name);

/* The same string as that, for an instance's own name; NULL: no log has it. */
const char *log_instances_find_instance(
    const struct log_instances *instances, const char *instance);

#endif

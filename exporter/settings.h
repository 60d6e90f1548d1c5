/* SPDX-License-Identifier: BSD-2-Clause */
/* settings: the options of section [exporter]. */
#ifndef EXPORTER_SETTINGS_H
#define EXPORTER_SETTINGS_H

#include "base/config.h"
#include "base/daemon.h"
#include "exporter/join/loss.h"
#include "exporter/logs.h"
#include "exporter/queue/queue_lookup.h"

#include <stdbool.h>
#include <stdint.h>

struct endpoint;
struct reason;

struct exporter_settings {
	struct daemon_settings daemon;
	char *journal;
	char *maillog;
	char *maillog_instances;
	char *rate_limit_root;
	char *dovecot_log;
	char *listen;
	bool insecure_listen;
	int64_t http_timeout_ns;
	int64_t commit_interval_ns;
	int64_t commit_events;
	int64_t stamp_wait_ns;
	char *queue_directories;
	char *queue_user;
	char *hash_queue_names;
	int64_t hash_queue_depth;
	char *config_directories;
	char *postqueue;
	int64_t postqueue_interval_ns;
	struct loss_settings loss;
};

extern const struct config_item exporter_items[];
extern const size_t exporter_item_count;

/* Reads `listen` and refuses to be reached from other machines unless
 * insecure_listen says so. Returns 0, or -1. */
int exporter_settings_endpoint(const struct exporter_settings *settings,
    struct endpoint *endpoint_r, struct reason *reason);

/* What they say of Postfix's logs; strings are the settings'. */
struct logs_settings exporter_settings_logs(
    const struct exporter_settings *settings);

/* What they say of looking into the queue; strings are the settings'. */
struct queue_lookup_settings exporter_settings_lookup(
    const struct exporter_settings *settings);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* settings: the section [lmtp] of the configuration. */
#ifndef LMTP_SETTINGS_H
#define LMTP_SETTINGS_H

#include "base/config.h"
#include "base/daemon.h"
#include "proto/journal_settings.h"

#include <stdint.h>
#include <sys/types.h>

struct reason;

struct lmtp_settings {
	struct daemon_settings daemon;
	char *listen;
	char *socket_mode;
	char *backend;
	char *host_name;
	char *header;
	int64_t backend_connect_timeout_ns;
	int64_t backend_reply_timeout_ns;
	int64_t backend_final_timeout_ns;
	int64_t client_timeout_ns;
	int64_t drain_timeout_ns;
	int64_t max_connections;
	struct journal_settings journal;
};

/* The section that fills *settings. */
struct config_section lmtp_section(struct lmtp_settings *settings);

/* Returns 0, or -1 with a reason that names the option. */
int lmtp_settings_check(
    const struct lmtp_settings *settings, struct reason *reason);

/* `settings` have been checked. */
mode_t lmtp_socket_mode(const struct lmtp_settings *settings);

/* The name that our Postfix has in its Received: headers. */
const char *lmtp_host_name(const struct lmtp_settings *settings);

#endif

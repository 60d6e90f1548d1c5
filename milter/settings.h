/* SPDX-License-Identifier: BSD-2-Clause */
/* settings: the section [milter] of the configuration. */
#ifndef MILTER_SETTINGS_H
#define MILTER_SETTINGS_H

#include "base/config.h"
#include "base/daemon.h"
#include "milter/session.h"
#include "proto/journal_settings.h"

#include <stdint.h>
#include <sys/types.h>

struct milter_settings {
	struct daemon_settings daemon;
	char *socket;
	char *socket_mode;
	char *socket_group;
	char *header;
	char *trusted_reinjectors;
	int64_t max_recipients;
	int64_t message_memory;
	int64_t aborts_per_second;
	int64_t aborts_burst;
	struct journal_settings journal;
};

/* The section with its values in `settings`. */
struct config_section milter_section(struct milter_settings *settings);

/* Checks what the table cannot. Returns 0 or -1. */
int milter_settings_check(
    const struct milter_settings *settings, struct reason *reason);

/* `settings` have been checked. */
mode_t milter_socket_mode(const struct milter_settings *settings);

/* What sessions take of them; valid as long as `settings`. */
struct session_settings milter_session(const struct milter_settings *settings);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings: the section [store] of the configuration, which the exporter and
 * the command line read.
 */
#ifndef STORE_SETTINGS_H
#define STORE_SETTINGS_H

#include "base/config.h"

#include <stddef.h>
#include <stdint.h>

/* How much of a mail address is kept. */
enum privacy_mode {
	PRIVACY_FULL,
	PRIVACY_DOMAIN, /* its domain */
	PRIVACY_HASH    /* and a pseudonym for its local part */
};

struct store_settings {
	char *directory;
	int privacy;               /* enum privacy_mode */
	int64_t queue_lifetime_ns; /* Postfix's maximal_queue_lifetime */
	int64_t retention_ns;      /* 0: days are kept for ever */
	int64_t retention_bytes;   /* 0: whatever their size */
};

/* For a struct config_section named "store" with a struct store_settings. */
extern const struct config_item store_config_items[];
extern const size_t store_config_item_count;

/* Whether the options go together. Returns 0, or -1 with a reason. */
int store_settings_check(
    const struct store_settings *settings, struct reason *reason);

#endif

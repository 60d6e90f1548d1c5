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

struct store_settings {
	char *directory;
	int64_t queue_lifetime_ns; /* Postfix's maximal_queue_lifetime */
};

/* For a struct config_section named "store" with a struct store_settings. */
extern const struct config_item store_config_items[];
extern const size_t store_config_item_count;

#endif

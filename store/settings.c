/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of [store]. Only data. */
#include "store/settings.h"

static const char *const privacy_choices[] = {"full", "domain", "hash", NULL};

/* clang-format off */
const struct config_item store_config_items[] = {
	{"directory", CONFIG_STRING, offsetof(struct store_settings, directory),
	    "/var/lib/postlag/store", 0, 0, NULL,
	    "Directory of the store: one SQLite file a day."},
	{"privacy", CONFIG_CHOICE, offsetof(struct store_settings, privacy),
	    "full", 0, 0, privacy_choices,
	    "How much of mail addresses is kept, and logged and served: full; "
	    "domain, what is behind the @; hash, that and a pseudonym, by "
	    "which who knows an address finds it."},
	{"queue_lifetime", CONFIG_DURATION,
	    offsetof(struct store_settings, queue_lifetime_ns), "5d",
	    0, INT64_C(100) * 86400 * 1000000000, NULL,
	    "Postfix's maximal_queue_lifetime: how long after its arrival "
	    "something may still become of a message."},
};
/* clang-format on */

const size_t store_config_item_count =
    sizeof(store_config_items) / sizeof(store_config_items[0]);

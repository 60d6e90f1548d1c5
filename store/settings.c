/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of [store], and what must hold between them. */
#include "store/settings.h"

#include "base/clock.h"
#include "base/reason.h"

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
	{"retention", CONFIG_DURATION,
	    offsetof(struct store_settings, retention_ns), "90d",
	    0, INT64_C(36500) * 86400 * 1000000000, NULL,
	    "How long messages can be looked up: a day is removed when all of "
	    "it is older. What was counted of it stays, by the hour for "
	    "thirteen months. More than queue_lifetime by a day at least; 0: "
	    "for ever."},
	{"retention_bytes", CONFIG_SIZE,
	    offsetof(struct store_settings, retention_bytes), "0", 0,
	    INT64_C(1) << 60, NULL,
	    "Size of all day files together beyond which the oldest are "
	    "removed earlier, but for those of the last queue_lifetime and "
	    "the day before; 0: none."},
};
/* clang-format on */

const size_t store_config_item_count =
    sizeof(store_config_items) / sizeof(store_config_items[0]);

int
store_settings_check(
    const struct store_settings *settings, struct reason *reason)
{
	if (settings->retention_ns == 0 ||
	    settings->retention_ns >=
		settings->queue_lifetime_ns + CLOCK_NS_PER_DAY)
		return 0;
	return reason_set(reason,
	    "retention: messages may be in the queue for all of "
	    "queue_lifetime, and a day more by when they began; keep them at "
	    "least that long");
}

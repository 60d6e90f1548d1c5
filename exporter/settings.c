/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exporter's options and what must hold between them. Called at start and
 * by -t, on the main thread.
 */
#include "exporter/settings.h"

#include <stddef.h>

#include "base/endpoint.h"
#include "base/reason.h"

#define SECOND INT64_C(1000000000)

#define MEMBER(member) offsetof(struct exporter_settings, member)

const struct config_item exporter_items[] = {
    DAEMON_CONFIG_ITEMS(struct exporter_settings, daemon, "postlag-exporter"),
    {"journal", CONFIG_STRING, MEMBER(journal), "/var/lib/postlag/journal", 0,
	0, NULL, "Directory of all journals; each directory in it is one."},
    {"listen", CONFIG_STRING, MEMBER(listen), "inet:127.0.0.1:9154", 0, 0, NULL,
	"Where to serve HTTP: inet:host:port or unix:/path."},
    {"insecure_listen", CONFIG_BOOLEAN, MEMBER(insecure_listen), "no", 0, 0,
	NULL,
	"Serve other machines too, although everybody who can connect can "
	"look up every message."},
    {"http_timeout", CONFIG_DURATION, MEMBER(http_timeout_ns), "10s", SECOND,
	3600 * SECOND, NULL,
	"How long an HTTP connection may be idle; whole seconds."},
    {"commit_interval", CONFIG_DURATION, MEMBER(commit_interval_ns), "200ms",
	SECOND / 1000, 60 * SECOND, NULL,
	"Time after which what was read becomes visible and durable."},
    {"commit_events", CONFIG_INTEGER, MEMBER(commit_events), "1000", 1, 100000,
	NULL, "The same by number of events, when there are many."},
    {"stamp_wait", CONFIG_DURATION, MEMBER(stamp_wait_ns), "60s", 0,
	86400 * SECOND, NULL,
	"How long a delivery waits for the message that its stamp names "
	"before the stamp counts as foreign."},
};

const size_t exporter_item_count =
    sizeof(exporter_items) / sizeof(exporter_items[0]);

int
exporter_settings_endpoint(const struct exporter_settings *settings,
    struct endpoint *endpoint_r, struct reason *reason)
{
	if (endpoint_parse(settings->listen, endpoint_r, reason) != 0)
		return -1;
	if (endpoint_is_local(endpoint_r) || settings->insecure_listen)
		return 0;
	return reason_set(reason,
	    "listen: \"%s\" can be reached from other machines, which could "
	    "look up every message; insecure_listen = yes allows it",
	    settings->listen);
}

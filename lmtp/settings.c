/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings: the hook's options: their table and what a table cannot check.
 * Called at start, on the main thread.
 */
#include "lmtp/settings.h"

#include "base/clock.h"
#include "base/endpoint.h"
#include "base/reason.h"
#include "lmtp/header_scan.h"

#define ITEM(name, type, member, default, minimum, maximum, help)              \
	{                                                                      \
		name, type, offsetof(struct lmtp_settings, member), default,   \
		    minimum, maximum, NULL, help                               \
	}
#define TIMEOUT(name, member, default, help)                                   \
	ITEM(name, CONFIG_DURATION, member, default,                           \
	    10 * CLOCK_NS_PER_SECOND / 1000, CLOCK_NS_PER_DAY, help)

static const struct config_item items[] = {
    DAEMON_CONFIG_ITEMS(struct lmtp_settings, daemon, "postlag-lmtp"),
    ITEM("listen", CONFIG_STRING, listen, "inet:127.0.0.2:2424", 0, 0,
	"Where Postfix's lmtp client connects: inet:HOST:PORT or unix:PATH. "
	"Only with inet, and another address than the LMTP server's, does "
	"Postfix always go on to its next nexthop when the hook is down. "
	"Sockets inherited from the supervisor come first."),
    ITEM("socket_mode", CONFIG_STRING, socket_mode, "0660", 0, 0,
	"Mode of a unix socket, octal; to connect takes write permission."),
    ITEM("backend", CONFIG_STRING, backend, "inet:127.0.0.1:24", 0, 0,
	"The LMTP server that mail is passed on to: inet:HOST:PORT or "
	"unix:PATH."),
    ITEM("host_name", CONFIG_STRING, host_name, "", 0, 0,
	"Postfix's myhostname, by which its Received: header is told from "
	"others; empty: the host name."),
    ITEM("header", CONFIG_STRING, header, STAMP_HEADER_NAME, 0, 0,
	"Name of the header that carries the milter's stamp."),
    TIMEOUT("backend_connect_timeout", backend_connect_timeout_ns, "3s",
	"For the connection to the backend and its greeting. Less than "
	"lmtp_lhlo_timeout, so that Postfix goes on to its next nexthop."),
    TIMEOUT("backend_reply_timeout", backend_reply_timeout_ns, "60s",
	"For the backend's reply to a command, and for it to take content."),
    TIMEOUT("backend_final_timeout", backend_final_timeout_ns, "590s",
	"For each of the backend's replies after the end of data. Less than "
	"lmtp_data_done_timeout."),
    TIMEOUT("client_timeout", client_timeout_ns, "330s",
	"For the next command or more content from Postfix. More than "
	"lmtp_connection_reuse_time_limit."),
    TIMEOUT("drain_timeout", drain_timeout_ns, "10s",
	"How long deliveries whose content is under way are waited for at "
	"stop."),
    ITEM("max_connections", CONFIG_INTEGER, max_connections, "1000", 1, 100000,
	"Connections at a time; further ones wait to be accepted."),
    JOURNAL_CONFIG_ITEMS(struct lmtp_settings, journal, "lmtp"),
};

struct config_section
lmtp_section(struct lmtp_settings *settings)
{
	return (struct config_section){
	    .name = "lmtp",
	    .items = items,
	    .item_count = sizeof(items) / sizeof(items[0]),
	    .settings = settings,
	};
}

_Static_assert(HEADER_SCAN_NAME_BYTES >= STAMP_HEADER_NAME_MAX,
    "the scan keeps whole the name that it looks for");

static int
check_endpoint(const char *option, const char *text, struct reason *reason)
{
	struct endpoint endpoint;
	struct reason detail;

	if (endpoint_parse(text, &endpoint, &detail) == -1)
		return reason_set(reason, "%s: %s", option, detail.text);
	return 0;
}

int
lmtp_settings_check(const struct lmtp_settings *settings, struct reason *reason)
{
	struct reason detail;
	mode_t mode;

	if (endpoint_mode_parse(settings->socket_mode, &mode, &detail) != 0)
		return reason_set(reason, "socket_mode: %s", detail.text);
	if (stamp_header_name_check(settings->header, &detail) != 0)
		return reason_set(reason, "header: %s", detail.text);
	if (check_endpoint("listen", settings->listen, reason) == -1 ||
	    check_endpoint("backend", settings->backend, reason) == -1)
		return -1;
	return journal_settings_check(&settings->journal, reason);
}

mode_t
lmtp_socket_mode(const struct lmtp_settings *settings)
{
	mode_t mode = 0;

	endpoint_mode_parse(settings->socket_mode, &mode, NULL);
	return mode;
}

const char *
lmtp_host_name(const struct lmtp_settings *settings)
{
	return settings->host_name[0] != '\0' ? settings->host_name
					      : journal_default_instance();
}

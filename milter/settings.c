/* SPDX-License-Identifier: BSD-2-Clause */
/* The milter's options: their table and what a table cannot check. */
#include "milter/settings.h"

#include "base/endpoint.h"
#include "base/reason.h"
#include "milter/trusted.h"
#include "proto/frame.h"
#include "proto/stamp_header.h"

#define ITEM(name, type, member, default, minimum, maximum, help)              \
	{                                                                      \
		name, type, offsetof(struct milter_settings, member), default, \
		    minimum, maximum, NULL, help                               \
	}

static const struct config_item items[] = {
    DAEMON_CONFIG_ITEMS(struct milter_settings, daemon, "postlag-milter"),
    ITEM("socket", CONFIG_STRING, socket,
	"unix:/var/spool/postfix/postlag/milter.sock", 0, 0,
	"Where Postfix connects: unix:PATH or inet:HOST:PORT. The directory of "
	"PATH must exist; set-group-id and of a group that Postfix's user is "
	"in, mode 2750, it lets Postfix and nobody else connect."),
    ITEM("socket_mode", CONFIG_STRING, socket_mode, "0660", 0, 0,
	"Mode of a unix socket, octal; to connect takes write permission."),
    ITEM("socket_group", CONFIG_STRING, socket_group, "", 0, 0,
	"Group of a unix socket; empty leaves what the directory gives it."),
    ITEM("header", CONFIG_STRING, header, STAMP_HEADER_NAME, 0, 0,
	"Name of the header that carries the stamp."),
    ITEM("trusted_reinjectors", CONFIG_STRING, trusted_reinjectors,
	"127.0.0.0/8 [::1]/128 non-smtp", 0, 0,
	"Networks whose mail may come with a stamp of ours that links it to "
	"the message it was before (a content filter, a forward); non-smtp is "
	"mail by sendmail."),
    ITEM("max_recipients", CONFIG_INTEGER, max_recipients, "10000", 1, 1000000,
	"Recipients of a message that are recorded; others are counted."),
    ITEM("message_memory", CONFIG_SIZE, message_memory, "2M", 16 << 10,
	FRAME_PAYLOAD_MAX - (256 << 10),
	"Memory that the recipients of one message may take."),
    ITEM("aborts_per_second", CONFIG_INTEGER, aborts_per_second, "10", 0,
	1000000,
	"Transactions without an accepted recipient that are recorded a "
	"second; others are counted."),
    ITEM("aborts_burst", CONFIG_INTEGER, aborts_burst, "100", 1, 1000000,
	"How many of them are recorded at once after a quiet time."),
    JOURNAL_CONFIG_ITEMS(struct milter_settings, journal, "milter"),
};

struct config_section
milter_section(struct milter_settings *settings)
{
	return (struct config_section){
	    .name = "milter",
	    .items = items,
	    .item_count = sizeof(items) / sizeof(items[0]),
	    .settings = settings,
	};
}

int
milter_settings_check(
    const struct milter_settings *settings, struct reason *reason)
{
	struct reason detail;
	struct trusted trusted;
	mode_t mode;

	if (stamp_header_name_check(settings->header, &detail) != 0)
		return reason_set(reason, "header: %s", detail.text);
	if (endpoint_mode_parse(settings->socket_mode, &mode, &detail) != 0)
		return reason_set(reason, "socket_mode: %s", detail.text);
	if (trusted_parse(settings->trusted_reinjectors, &trusted, &detail) !=
	    0)
		return reason_set(
		    reason, "trusted_reinjectors: %s", detail.text);
	return journal_settings_check(&settings->journal, reason);
}

mode_t
milter_socket_mode(const struct milter_settings *settings)
{
	mode_t mode = 0;

	endpoint_mode_parse(settings->socket_mode, &mode, NULL);
	return mode;
}

struct session_settings
milter_session(const struct milter_settings *settings)
{
	return (struct session_settings){
	    .stamp_name = settings->header,
	    .memory_bytes = (size_t)settings->message_memory,
	    .recipients_max = (size_t)settings->max_recipients,
	};
}

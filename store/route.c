/* SPDX-License-Identifier: BSD-2-Clause */
/* Used by the join for labels and by the timeline. */
#include "store/route.h"

#include <string.h>

const char *
route_name(enum route route)
{
	static const char *const names[ROUTES] = {
	    [ROUTE_INBOUND] = "inbound",
	    [ROUTE_INTERNAL] = "internal",
	    [ROUTE_OUTBOUND] = "outbound",
	    [ROUTE_TRANSIT] = "transit",
	};

	return route < ROUTES ? names[route] : NULL;
}

static bool
begins(const char *address, size_t size, const char *prefix)
{
	size_t length = strlen(prefix);

	return size >= length && memcmp(address, prefix, length) == 0;
}

bool
route_is_loopback(const char *address, size_t size)
{
	return begins(address, size, "127.") ||
	       begins(address, size, "::ffff:127.") ||
	       (size == 3 && begins(address, size, "::1"));
}

bool
route_is_submitted(const struct message_event *event)
{
	const char *address = event->client_address;

	if (event->sasl_user != NULL && *event->sasl_user != '\0')
		return true;
	return !uuid_is_set(&event->previous) && address != NULL &&
	       route_is_loopback(address, strlen(address));
}

enum route
route_of(bool is_submitted, enum recipient_state state)
{
	switch (state) {
	case RECIPIENT_DELIVERED:
		return is_submitted ? ROUTE_INTERNAL : ROUTE_INBOUND;
	case RECIPIENT_RELAYED:
		return is_submitted ? ROUTE_OUTBOUND : ROUTE_TRANSIT;
	default:
		return ROUTES;
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * route: from where to where mail went, as an administrator divides it.
 *
 * Mail is submitted when its client authenticated, or is this machine itself
 * (sendmail(1), a loopback address); otherwise it came from outside. What
 * a content filter or a forward brings back is what the message before was. A
 * network in mynetworks that need not authenticate counts as outside: nobody
 * tells. Mail ends in a mailbox or at another host. Pure; any thread.
 */
#ifndef STORE_ROUTE_H
#define STORE_ROUTE_H

#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>

enum route {
	ROUTE_INBOUND,  /* from outside to a mailbox */
	ROUTE_INTERNAL, /* submitted, to a mailbox */
	ROUTE_OUTBOUND, /* submitted, to another host */
	ROUTE_TRANSIT,  /* from outside to another host */
	ROUTES
};

/* "inbound", ...; NULL for ROUTES. */
const char *route_name(enum route route);

/* Whether the message was submitted, as far as its event tells: a previous
 * message may tell better. */
bool route_is_submitted(const struct message_event *event);

/* ROUTES when the recipient is in neither place. */
enum route route_of(bool is_submitted, enum recipient_state state);

/* Whether an IP address is a loopback address. */
bool route_is_loopback(const char *address, size_t size);

#endif

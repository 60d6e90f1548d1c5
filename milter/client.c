/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes the client of a session. Pure; once a connection. */
#include "milter/client.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static void
describe_ipv4(const struct in_addr *address, struct client *client)
{
	inet_ntop(AF_INET, address, client->address, sizeof(client->address));
}

static void
describe_ipv6(const struct in6_addr *address, struct client *client)
{
	struct in_addr mapped;

	if (!IN6_IS_ADDR_V4MAPPED(address)) {
		inet_ntop(AF_INET6, address, client->address,
		    sizeof(client->address));
		return;
	}
	memcpy(&mapped, &address->s6_addr[12], sizeof(mapped));
	describe_ipv4(&mapped, client);
}

static bool
is_loopback(const char *address)
{
	return strcmp(address, "127.0.0.1") == 0 || strcmp(address, "::1") == 0;
}

void
client_describe(
    const char *name, const struct sockaddr *address, struct client *client_r)
{
	struct sockaddr_in inet;
	struct sockaddr_in6 inet6;

	*client_r = (struct client){.port = 0};
	/* Without reverse DNS the name is the address in brackets; Postfix's
	 * own log says "unknown". */
	if (name != NULL && *name == '[')
		name = "unknown";
	snprintf(client_r->name, sizeof(client_r->name), "%s",
	    name != NULL ? name : "");
	if (address != NULL && address->sa_family == AF_INET) {
		memcpy(&inet, address, sizeof(inet));
		describe_ipv4(&inet.sin_addr, client_r);
		client_r->port = ntohs(inet.sin_port);
	} else if (address != NULL && address->sa_family == AF_INET6) {
		memcpy(&inet6, address, sizeof(inet6));
		describe_ipv6(&inet6.sin6_addr, client_r);
		client_r->port = ntohs(inet6.sin6_port);
	}
	/* Postfix's cleanup(8) plays localhost without a port for mail that did
	 * not come by SMTP. */
	client_r->non_smtp = client_r->port == 0 &&
			     strcmp(client_r->name, "localhost") == 0 &&
			     is_loopback(client_r->address);
}

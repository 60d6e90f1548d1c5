/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prepares the place of the socket and has libmilter open it. Called once, by
 * main.c, before the program becomes its user.
 */
#include "milter/listener.h"

#include <grp.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/daemon.h"
#include "base/endpoint.h"
#include "base/log.h"
#include "base/reason.h"
#include "milter/callbacks.h"
#include "milter/settings.h"

#define CONNECTION_SIZE 256

/* The directory may belong to an unprivileged user while we are root: no link
 * put there in the meantime is followed. */
static int
give_to_group(const char *path, const char *name, struct reason *reason)
{
	const struct group *group = getgrnam(name);

	if (group == NULL)
		return reason_set(
		    reason, "socket_group: no group \"%s\"", name);
	if (lchown(path, (uid_t)-1, group->gr_gid) != 0)
		return reason_set_errno(
		    reason, "cannot give %s to %s", path, name);
	return 0;
}

static int
open_unix(const struct milter_settings *settings,
    const struct endpoint *endpoint, struct reason *reason)
{
	const struct sockaddr_un *address = (const void *)&endpoint->address;
	char connection[CONNECTION_SIZE];
	mode_t previous;
	int result;

	if (access(address->sun_path, F_OK) == 0 &&
	    !endpoint_is_stale(endpoint))
		return reason_set(reason,
		    "%s: another process listens there, or it is no socket",
		    address->sun_path);
	snprintf(connection, sizeof(connection), "unix:%s", address->sun_path);
	previous = umask(0777 & ~milter_socket_mode(settings));
	result = callbacks_open_socket(connection, reason);
	umask(previous);
	if (result == 0 && *settings->socket_group != '\0')
		result = give_to_group(
		    address->sun_path, settings->socket_group, reason);
	return result;
}

static int
open_inet(const struct endpoint *endpoint, struct reason *reason)
{
	char connection[CONNECTION_SIZE], host[NI_MAXHOST], port[NI_MAXSERV];

	if (getnameinfo((const struct sockaddr *)&endpoint->address,
		endpoint->size, host, sizeof(host), port, sizeof(port),
		NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return reason_set(reason, "cannot write the socket's address");
	snprintf(connection, sizeof(connection), "%s:%s@[%.100s]",
	    endpoint->address.ss_family == AF_INET6 ? "inet6" : "inet", port,
	    host);
	if (!endpoint_is_local(endpoint))
		log_warn("socket=%s reason=\"anybody who can connect may feed "
			 "the milter\"",
		    connection);
	return callbacks_open_socket(connection, reason);
}

int
listener_open(const struct milter_settings *settings, struct reason *reason)
{
	struct endpoint endpoint;
	int inherited = daemon_inherited_sockets();

	if (inherited > 1)
		return reason_set(reason,
		    "%d sockets handed over, libmilter takes one", inherited);
	if (inherited == 1)
		return callbacks_open_socket("fd:3", reason);
	if (endpoint_parse(settings->socket, &endpoint, reason) != 0)
		return -1;
	if (endpoint_is_unix(&endpoint))
		return open_unix(settings, &endpoint, reason);
	return open_inet(&endpoint, reason);
}

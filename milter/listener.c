/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prepares the place of the socket and has libmilter open it. Called once, by
 * main.c, before the program becomes its user.
 */
#include "milter/listener.h"

#include <grp.h>
#include <netdb.h>
#include <pwd.h>
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

/* Gives the socket to the configured user and group. Only root may; another
 * user's socket has what its directory gave it. */
static int
give_socket(const char *path, const struct milter_settings *settings,
    struct reason *reason)
{
	const struct passwd *user = NULL;
	const struct group *group = NULL;

	if (*settings->daemon.user != '\0' && geteuid() == 0)
		user = getpwnam(settings->daemon.user);
	if (*settings->socket_group != '\0') {
		group = getgrnam(settings->socket_group);
		if (group == NULL)
			return reason_set(reason,
			    "socket_group: no group \"%s\"",
			    settings->socket_group);
	}
	if (chown(path, user != NULL ? user->pw_uid : (uid_t)-1,
		group != NULL ? group->gr_gid : (gid_t)-1) != 0)
		return reason_set_errno(reason, "cannot give away %s", path);
	return 0;
}

static int
open_unix(const struct milter_settings *settings,
    const struct endpoint *endpoint, struct reason *reason)
{
	const struct sockaddr_un *address = (const void *)&endpoint->address;
	char connection[CONNECTION_SIZE];
	mode_t mode = milter_socket_mode(settings), previous;
	int result;

	if (access(address->sun_path, F_OK) == 0 &&
	    !endpoint_is_stale(endpoint))
		return reason_set(reason,
		    "%s: another process listens there, or it is no socket",
		    address->sun_path);
	snprintf(connection, sizeof(connection), "unix:%s", address->sun_path);
	/* Nobody may connect before the group is right. */
	previous = umask(0777);
	result = callbacks_open_socket(connection, reason);
	umask(previous);
	if (result != 0)
		return -1;
	if (give_socket(address->sun_path, settings, reason) != 0)
		return -1;
	if (chmod(address->sun_path, mode) != 0)
		return reason_set_errno(
		    reason, "cannot set the mode of %s", address->sun_path);
	return 0;
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

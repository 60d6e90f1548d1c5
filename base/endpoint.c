/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Socket addresses as text and as listening sockets. Called at start, before
 * threads; a host name is looked up and may take the resolver's time.
 */
#include "base/endpoint.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "base/reason.h"

#define PORT_MAXIMUM 65535

/* The two halves of "host:port" and "[address]:port". */
struct host_port {
	char host[256];
	const char *port;
	bool bracketed;
};

static int
parse_unix(const char *text, const char *path, struct endpoint *endpoint_r,
    struct reason *reason)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (path[0] != '/')
		return reason_set(reason,
		    "\"%s\": a socket's path begins with a slash", text);
	if (strlen(path) >= sizeof(address.sun_path))
		return reason_set(reason,
		    "\"%s\": a socket's path has at most %zu bytes", text,
		    sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, strlen(path));
	memset(endpoint_r, 0, sizeof(*endpoint_r));
	memcpy(&endpoint_r->address, &address, sizeof(address));
	endpoint_r->size = sizeof(address);
	return 0;
}

static int
split_host_port(const char *text, const char *rest, struct host_port *split_r,
    struct reason *reason)
{
	const char *colon = strrchr(rest, ':');
	const char *host = rest;
	size_t size;

	if (colon == NULL || colon == rest || colon[1] == '\0')
		return reason_set(reason,
		    "\"%s\" is not unix:/path, host:port or [address]:port",
		    text);
	size = (size_t)(colon - rest);
	split_r->bracketed = host[0] == '[' && host[size - 1] == ']';
	if (split_r->bracketed) {
		host++;
		size -= 2;
	} else if (memchr(host, ':', size) != NULL) {
		return reason_set(
		    reason, "\"%s\": an IPv6 address stands in brackets", text);
	}
	if (size == 0 || size >= sizeof(split_r->host))
		return reason_set(
		    reason, "\"%s\": the host is empty or too long", text);
	memcpy(split_r->host, host, size);
	split_r->host[size] = '\0';
	split_r->port = colon + 1;
	return 0;
}

static int
check_port(const char *text, const char *port, struct reason *reason)
{
	if (port[strspn(port, "0123456789")] == '\0' &&
	    (strlen(port) > 5 || atoi(port) > PORT_MAXIMUM))
		return reason_set(reason,
		    "\"%s\": the port is not within 0 to %d", text,
		    PORT_MAXIMUM);
	return 0;
}

static int
parse_inet(const char *text, const char *rest, struct endpoint *endpoint_r,
    struct reason *reason)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	struct host_port split;
	int error;

	if (split_host_port(text, rest, &split, reason) < 0 ||
	    check_port(text, split.port, reason) < 0)
		return -1;
	if (split.bracketed)
		hints.ai_flags = AI_NUMERICHOST;
	error = getaddrinfo(split.host, split.port, &hints, &found);
	if (error != 0)
		return reason_set(
		    reason, "\"%s\": %s", text, gai_strerror(error));
	memset(endpoint_r, 0, sizeof(*endpoint_r));
	memcpy(&endpoint_r->address, found->ai_addr, found->ai_addrlen);
	endpoint_r->size = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

int
endpoint_parse(
    const char *text, struct endpoint *endpoint_r, struct reason *reason)
{
	if (strncmp(text, "unix:", 5) == 0)
		return parse_unix(text, text + 5, endpoint_r, reason);
	if (strncmp(text, "inet:", 5) == 0)
		return parse_inet(text, text + 5, endpoint_r, reason);
	return parse_inet(text, text, endpoint_r, reason);
}

static const struct sockaddr_un *
as_unix(const struct endpoint *endpoint)
{
	return (const void *)&endpoint->address;
}

static const struct sockaddr_in *
as_inet(const struct endpoint *endpoint)
{
	return (const void *)&endpoint->address;
}

static const struct sockaddr_in6 *
as_inet6(const struct endpoint *endpoint)
{
	return (const void *)&endpoint->address;
}

void
endpoint_format(const struct endpoint *endpoint, char *text, size_t size)
{
	char host[INET6_ADDRSTRLEN] = "?";

	switch (endpoint->address.ss_family) {
	case AF_UNIX:
		snprintf(text, size, "unix:%s", as_unix(endpoint)->sun_path);
		break;
	case AF_INET:
		inet_ntop(
		    AF_INET, &as_inet(endpoint)->sin_addr, host, sizeof(host));
		snprintf(text, size, "inet:%s:%d", host,
		    ntohs(as_inet(endpoint)->sin_port));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &as_inet6(endpoint)->sin6_addr, host,
		    sizeof(host));
		snprintf(text, size, "inet:[%s]:%d", host,
		    ntohs(as_inet6(endpoint)->sin6_port));
		break;
	default:
		snprintf(text, size, "unknown");
	}
}

bool
endpoint_is_unix(const struct endpoint *endpoint)
{
	return endpoint->address.ss_family == AF_UNIX;
}

bool
endpoint_is_local(const struct endpoint *endpoint)
{
	const struct in6_addr *address6;

	switch (endpoint->address.ss_family) {
	case AF_UNIX:
		return true;
	case AF_INET:
		return ntohl(as_inet(endpoint)->sin_addr.s_addr) >> 24 ==
		       IN_LOOPBACKNET;
	case AF_INET6:
		address6 = &as_inet6(endpoint)->sin6_addr;
		return IN6_IS_ADDR_LOOPBACK(address6) ||
		       (IN6_IS_ADDR_V4MAPPED(address6) &&
			   address6->s6_addr[12] == IN_LOOPBACKNET);
	default:
		return false;
	}
}

static int
open_socket(const struct endpoint *endpoint)
{
	return socket(endpoint->address.ss_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static const struct sockaddr *
as_address(const struct endpoint *endpoint)
{
	return (const void *)&endpoint->address;
}

int
endpoint_connect(const struct endpoint *endpoint, unsigned patience_seconds,
    struct reason *reason)
{
	const struct timeval patience = {.tv_sec = patience_seconds};
	int fd =
	    socket(endpoint->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		sizeof(patience)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
		sizeof(patience)) == 0 &&
	    connect(fd, as_address(endpoint), endpoint->size) == 0)
		return fd;
	reason_set_errno(reason, "cannot connect");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Connecting to a socket whose listener has died is refused. A live listener
 * with a full queue gives EAGAIN. */
bool
endpoint_is_stale(const struct endpoint *endpoint)
{
	struct stat status;
	bool stale;
	int fd;

	if (lstat(as_unix(endpoint)->sun_path, &status) < 0 ||
	    !S_ISSOCK(status.st_mode))
		return false;
	fd = open_socket(endpoint);
	if (fd < 0)
		return false;
	stale = connect(fd, as_address(endpoint), endpoint->size) < 0 &&
		errno == ECONNREFUSED;
	close(fd);
	return stale;
}

int
endpoint_mode_parse(const char *text, mode_t *mode_r, struct reason *reason)
{
	unsigned long mode = strtoul(text, NULL, 8);

	if (*text == '\0' || strspn(text, "01234567") != strlen(text) ||
	    mode > 0777)
		return reason_set(
		    reason, "\"%s\" is no octal mode up to 0777", text);
	*mode_r = (mode_t)mode;
	return 0;
}

static int
bind_unix(int fd, const struct endpoint *endpoint)
{
	if (bind(fd, as_address(endpoint), endpoint->size) == 0)
		return 0;
	if (errno != EADDRINUSE)
		return -1;
	if (!endpoint_is_stale(endpoint)) {
		errno = EADDRINUSE;
		return -1;
	}
	if (unlink(as_unix(endpoint)->sun_path) < 0)
		return -1;
	return bind(fd, as_address(endpoint), endpoint->size);
}

static int
bind_inet(int fd, const struct endpoint *endpoint)
{
	int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* So that [::] and 0.0.0.0 may be listened on side by side. */
	if (endpoint->address.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	return bind(fd, as_address(endpoint), endpoint->size);
}

int
endpoint_listen(
    const struct endpoint *endpoint, mode_t mode, struct reason *reason)
{
	bool is_unix = endpoint_is_unix(endpoint);
	int fd = open_socket(endpoint);
	char text[160];
	int error;

	if (fd >= 0 &&
	    (is_unix ? bind_unix(fd, endpoint) : bind_inet(fd, endpoint)) ==
		0 &&
	    /* Nobody can connect before listen(2), whatever the mode. */
	    (!is_unix || chmod(as_unix(endpoint)->sun_path, mode) == 0) &&
	    listen(fd, SOMAXCONN) == 0)
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	endpoint_format(endpoint, text, sizeof(text));
	errno = error;
	return reason_set_errno(reason, "cannot listen on %s", text);
}

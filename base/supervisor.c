/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The datagram socket of NOTIFY_SOCKET and the descriptors of LISTEN_FDS.
 * Called by daemon.c at start and stop, and by programs that take their
 * listening sockets over; main thread only.
 */
#include "base/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/daemon.h"
#include "base/log.h"

#define FIRST_INHERITED 3
#define MOST_INHERITED 64

static int notify_fd = -1;

/* A leading @ stands for the NUL of an abstract address (unix(7)), whose size
 * counts; a path is used as it is. */
static int
notify_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t size = strlen(path);
	int fd;

	if ((path[0] != '/' && path[0] != '@') ||
	    size >= sizeof(address.sun_path)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(address.sun_path, path, size);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	size += offsetof(struct sockaddr_un, sun_path);
	if (connect(fd, (const void *)&address, (socklen_t)size) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void
supervisor_connect(void)
{
	const char *path = getenv("NOTIFY_SOCKET");

	if (path == NULL || notify_fd >= 0)
		return;
	notify_fd = notify_connect(path);
	if (notify_fd < 0)
		log_warn("notify_socket=%s reason=%s", path, strerror(errno));
}

void
supervisor_notify(const char *state)
{
	if (notify_fd >= 0 &&
	    send(notify_fd, state, strlen(state), MSG_NOSIGNAL) < 0)
		log_warn("notify=%s reason=%s", state, strerror(errno));
}

int
daemon_inherited_sockets(void)
{
	const char *pid = getenv("LISTEN_PID");
	const char *fds = getenv("LISTEN_FDS");
	long count;

	if (pid == NULL || fds == NULL || atol(pid) != (long)getpid())
		return 0;
	count = atol(fds);
	if (count < 0 || count > MOST_INHERITED)
		return 0;
	for (int i = 0; i < count; i++)
		fcntl(FIRST_INHERITED + i, F_SETFD, FD_CLOEXEC);
	return (int)count;
}

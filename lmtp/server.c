/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server: accepts, and stops in order. One thread, the main one.
 *
 * At max_connections nothing is accepted until one has closed. When the process
 * or the system has no descriptors left, clients are accepted on a spare one
 * and closed, so that Postfix goes on to its next nexthop at once.
 */
#include "lmtp/server.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/daemon.h"
#include "base/log.h"
#include "base/reason.h"

struct server {
	const struct server_settings *settings;
	struct event_base *base;
	struct connection_set connections;
	struct evconnlistener **listeners;
	size_t listener_count;
	struct event *signalled;
	struct event *drain_timer;
	int spare_fd;
	bool stopping;
};

static void
close_listeners(struct server *server)
{
	for (size_t i = 0; i < server->listener_count; i++)
		evconnlistener_free(server->listeners[i]);
	server->listener_count = 0;
}

static void
accept_more(struct server *server, bool more)
{
	for (size_t i = 0; i < server->listener_count; i++) {
		if (more)
			evconnlistener_enable(server->listeners[i]);
		else
			evconnlistener_disable(server->listeners[i]);
	}
}

static void
accepted(struct evconnlistener *listener, evutil_socket_t fd,
    struct sockaddr *address, int size, void *argument)
{
	struct server *server = argument;

	connection_open(&server->connections, fd);
	if (server->connections.count >= server->settings->max_connections)
		accept_more(server, false);
}

static void
connection_closed(void *argument)
{
	struct server *server = argument;

	if (server->connections.count + 1 == server->settings->max_connections)
		accept_more(server, true);
	if (server->stopping && server->connections.count == 0)
		event_base_loopexit(server->base, NULL);
}

static void
turn_away(struct server *server, int listening_fd)
{
	int fd;

	close(server->spare_fd);
	fd = accept(listening_fd, NULL, NULL);
	if (fd != -1)
		close(fd);
	server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void
accept_failed(struct evconnlistener *listener, void *argument)
{
	int error = EVUTIL_SOCKET_ERROR();

	log_warn("reason=cannot accept: %s", strerror(error));
	if (error == EMFILE || error == ENFILE)
		turn_away(argument, evconnlistener_get_fd(listener));
}

static void
stop(struct server *server)
{
	const int64_t wait_ns = server->settings->drain_timeout_ns;
	const struct timeval wait = {
	    .tv_sec = wait_ns / CLOCK_NS_PER_SECOND,
	    .tv_usec = wait_ns % CLOCK_NS_PER_SECOND / 1000,
	};

	if (server->stopping)
		return;
	server->stopping = true;
	close_listeners(server);
	connections_stop(&server->connections);
	log_info("connections=%llu reason=stopping",
	    (unsigned long long)server->connections.count);
	if (server->connections.count == 0)
		event_base_loopexit(server->base, NULL);
	else
		event_add(server->drain_timer, &wait);
}

static void
signalled(evutil_socket_t fd, short what, void *argument)
{
	switch (daemon_signal_read()) {
	case DAEMON_STOP:
		stop(argument);
		break;
	case DAEMON_RELOAD:
		daemon_reload();
		break;
	case DAEMON_NOTHING:
		break;
	}
}

static void
drain_timed_out(evutil_socket_t fd, short what, void *argument)
{
	struct server *server = argument;

	log_warn("connections=%llu reason=drain_timeout",
	    (unsigned long long)server->connections.count);
	connections_abandon(&server->connections);
}

static struct event_base *
new_base(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;

	if (config == NULL)
		return NULL;
	event_config_set_flag(
	    config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV);
	base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}

/* What the loop waits for besides connections. */
static int
prepare(struct server *server)
{
	struct event_base *base = server->base = new_base();

	if (base == NULL)
		return -1;
	server->signalled = event_new(
	    base, daemon_signal_fd(), EV_READ | EV_PERSIST, signalled, server);
	server->drain_timer = evtimer_new(base, drain_timed_out, server);
	server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (server->signalled == NULL || server->drain_timer == NULL)
		return -1;
	return event_add(server->signalled, NULL);
}

static int
listen_on(struct server *server, const int *fds, size_t count)
{
	server->listeners = calloc(count, sizeof(struct evconnlistener *));
	if (server->listeners == NULL)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct evconnlistener *listener = evconnlistener_new(
		    server->base, accepted, server,
		    LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, 0, fds[i]);

		if (listener == NULL)
			return -1;
		evconnlistener_set_error_cb(listener, accept_failed);
		server->listeners[server->listener_count++] = listener;
	}
	return 0;
}

struct server *
server_new(const struct server_settings *settings, const int *fds,
    size_t fd_count, struct reason *reason)
{
	struct server *server = calloc(1, sizeof(*server));

	if (server != NULL) {
		server->spare_fd = -1;
		server->settings = settings;
		server->connections.settings = &settings->connection;
		server->connections.closed = connection_closed;
		server->connections.context = server;
		if (prepare(server) == 0 &&
		    listen_on(server, fds, fd_count) == 0) {
			server->connections.base = server->base;
			return server;
		}
		server_free(&server);
	}
	reason_set_errno(reason, "cannot set up the event loop");
	return NULL;
}

int
server_run(struct server *server)
{
	return event_base_dispatch(server->base) == -1 ? -1 : 0;
}

void
server_free(struct server **server)
{
	if (*server == NULL)
		return;
	connections_abandon(&(*server)->connections);
	close_listeners(*server);
	free((*server)->listeners);
	if ((*server)->spare_fd >= 0)
		close((*server)->spare_fd);
	if ((*server)->signalled != NULL)
		event_free((*server)->signalled);
	if ((*server)->drain_timer != NULL)
		event_free((*server)->drain_timer);
	if ((*server)->base != NULL)
		event_base_free((*server)->base);
	free(*server);
	*server = NULL;
}

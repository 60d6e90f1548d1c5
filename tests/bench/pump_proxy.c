/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pump_proxy PORT BACKEND_PORT: the least a libevent proxy can do: it moves
 * bytes between two loopback connections, as libevent's own buffers do that,
 * and understands none of them. What postlag-lmtp costs is measured against it.
 */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <arpa/inet.h>

#define HIGH_WATER ((size_t)64 << 10)

struct pair {
	struct bufferevent *ends[2];
	bool closing;
};

static struct sockaddr_in backend;

static struct sockaddr_in
loopback(const char *port)
{
	return (struct sockaddr_in){
	    .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)atoi(port)),
	    .sin_addr = {htonl(INADDR_LOOPBACK)},
	};
}

static void
no_delay(struct bufferevent *end)
{
	int on = 1;

	setsockopt(
	    bufferevent_getfd(end), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static struct bufferevent *
other_end(struct pair *pair, struct bufferevent *end)
{
	return pair->ends[pair->ends[0] == end];
}

static void
on_read(struct bufferevent *end, void *argument)
{
	struct bufferevent *other = other_end(argument, end);
	struct evbuffer *output = bufferevent_get_output(other);

	bufferevent_write_buffer(other, bufferevent_get_input(end));
	if (evbuffer_get_length(output) >= HIGH_WATER)
		bufferevent_disable(end, EV_READ);
}

static void
free_pair(struct pair *pair)
{
	bufferevent_free(pair->ends[0]);
	bufferevent_free(pair->ends[1]);
	free(pair);
}

static void
on_written(struct bufferevent *end, void *argument)
{
	struct pair *pair = argument;

	if (pair->closing)
		free_pair(pair);
	else
		bufferevent_enable(other_end(pair, end), EV_READ);
}

static void
on_event(struct bufferevent *end, short what, void *argument)
{
	struct pair *pair = argument;
	struct bufferevent *other = other_end(pair, end);

	if (what & BEV_EVENT_CONNECTED) {
		no_delay(end);
		return;
	}
	pair->closing = true;
	if (what & BEV_EVENT_ERROR ||
	    evbuffer_get_length(bufferevent_get_output(other)) == 0)
		free_pair(pair);
}

static void
on_accept(struct evconnlistener *listener, evutil_socket_t fd,
    struct sockaddr *address, int size, void *argument)
{
	struct event_base *base = evconnlistener_get_base(listener);
	struct pair *pair = calloc(1, sizeof(*pair));

	pair->ends[0] = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
	pair->ends[1] = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	no_delay(pair->ends[0]);
	for (int i = 0; i < 2; i++) {
		bufferevent_setcb(
		    pair->ends[i], on_read, on_written, on_event, pair);
		bufferevent_enable(pair->ends[i], EV_READ | EV_WRITE);
	}
	bufferevent_socket_connect(
	    pair->ends[1], (struct sockaddr *)&backend, sizeof(backend));
}

int
main(int argc, char **argv)
{
	struct event_base *base = event_base_new();
	struct sockaddr_in own;

	if (argc != 3)
		return 1;
	own = loopback(argv[1]);
	backend = loopback(argv[2]);
	if (evconnlistener_new_bind(base, on_accept, NULL,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE, 128,
		(struct sockaddr *)&own, sizeof(own)) == NULL) {
		perror("pump_proxy");
		return 1;
	}
	return event_base_dispatch(base) != 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * connection: owns the sockets, their events and the dialogue; called by the
 * event loop only. Every callback ends in settle(), which writes, decides
 * what is waited for next, and may free the connection.
 *
 * Timers are lazy: progress moves a deadline in memory, and only a timer that
 * fires looks at it.
 */
#include "lmtp/connection.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/log.h"
#include "proto/producer_counter.h"

/* What was read last, by whichever connection. */
static char piece[DIALOGUE_PIECE_BYTES];

/* For a client that got its last reply to close its side. */
#define LINGER_NS (2 * CLOCK_NS_PER_SECOND)

static const char *const wait_names[] = {
    [DIALOGUE_WAITS_FOR_CLIENT] = "client",
    [DIALOGUE_WAITS_FOR_GREETING] = "greeting",
    [DIALOGUE_WAITS_FOR_REPLY] = "reply",
    [DIALOGUE_WAITS_FOR_FINAL_REPLY] = "final_reply",
};

struct side {
	int fd; /* -1: closed */
	struct event readable;
	struct event writable;
	bool connected;
	bool ended;   /* nothing more can be read */
	bool reading; /* the events are added */
	bool writing;
	int64_t progress_ns; /* monotonic; bytes were read or written */
};

struct connection {
	LIST_ENTRY(connection) entry;
	uint64_t session;
	struct connection_set *set;
	struct dialogue *dialogue;
	struct side sides[DIALOGUE_SIDES];
	bool lingering;
	enum dialogue_wait waits_for;
	int64_t waits_since_ns;
	struct event timer;
	int64_t timer_ns; /* when it fires; 0: not armed */
};

static void
close_side(struct side *side)
{
	if (side->fd == -1)
		return;
	event_del(&side->readable);
	event_del(&side->writable);
	close(side->fd);
	side->fd = -1;
}

static void
connection_free(struct connection *connection)
{
	struct connection_set *set = connection->set;

	for (int i = 0; i < DIALOGUE_SIDES; i++)
		close_side(&connection->sides[i]);
	event_del(&connection->timer);
	dialogue_free(&connection->dialogue);
	LIST_REMOVE(connection, entry);
	free(connection);
	set->count--;
	set->closed(set->context);
}

static void
watch(struct event *event, bool wanted, bool *watched)
{
	if (wanted == *watched)
		return;
	if (wanted)
		event_add(event, NULL);
	else
		event_del(event);
	*watched = wanted;
}

static int64_t
deadline_ns(const struct connection *connection)
{
	const struct side *side =
	    &connection
		 ->sides[connection->waits_for == DIALOGUE_WAITS_FOR_CLIENT
			     ? DIALOGUE_CLIENT
			     : DIALOGUE_BACKEND];
	int64_t from = connection->waits_since_ns;

	if (connection->lingering)
		return from + LINGER_NS;
	if (side->progress_ns > from)
		from = side->progress_ns;
	return from +
	       connection->set->settings->timeout_ns[connection->waits_for];
}

static void
arm_timer(struct connection *connection, int64_t now_ns)
{
	int64_t at = deadline_ns(connection);
	int64_t left = at > now_ns ? at - now_ns : 0;
	struct timeval interval = {
	    .tv_sec = left / CLOCK_NS_PER_SECOND,
	    .tv_usec = left % CLOCK_NS_PER_SECOND / 1000 + 1,
	};

	if (connection->timer_ns != 0 && connection->timer_ns <= at)
		return;
	event_add(&connection->timer, &interval);
	connection->timer_ns = at;
}

/* The backend may have said why before it closed. */
static void
backend_write_failed(struct connection *connection, struct stamp at)
{
	struct dialogue *dialogue = connection->dialogue;
	int fd = connection->sides[DIALOGUE_BACKEND].fd;
	ssize_t got = 1;

	while (got > 0 && dialogue_wants_input(dialogue, DIALOGUE_BACKEND)) {
		got = recv(fd, piece, sizeof(piece), 0);
		if (got > 0)
			dialogue_input(dialogue, DIALOGUE_BACKEND, piece,
			    (size_t)got, clock_stamp());
	}
	dialogue_lost(dialogue, DIALOGUE_BACKEND, at);
}

/* Puts on the wire what is there for a side. Returns whether anything went. */
static bool
flush(struct connection *connection, enum dialogue_side which, struct stamp at)
{
	struct buffer *output = dialogue_output(connection->dialogue, which);
	struct side *side = &connection->sides[which];
	ssize_t sent;

	if (output->size == 0 || side->fd == -1 || !side->connected)
		return false;
	sent = send(side->fd, output->data, output->size, MSG_NOSIGNAL);
	if (sent > 0) {
		side->progress_ns = at.monotonic_ns;
		buffer_consume(output, (size_t)sent);
		return true;
	}
	if (errno == EAGAIN || errno == EINTR)
		return false;
	if (which == DIALOGUE_BACKEND)
		backend_write_failed(connection, at);
	else
		dialogue_lost(connection->dialogue, which, at);
	return false;
}

static void
watch_side(struct connection *connection, enum dialogue_side which)
{
	struct side *side = &connection->sides[which];
	bool output = dialogue_output(connection->dialogue, which)->size > 0;

	if (side->fd == -1)
		return;
	watch(&side->readable,
	    side->connected &&
		dialogue_wants_input(connection->dialogue, which),
	    &side->reading);
	watch(&side->writable, output || !side->connected, &side->writing);
}

/* Returns false when there is nothing left to do for the client. */
static bool
close_gently(struct connection *connection, struct stamp at)
{
	struct side *client = &connection->sides[DIALOGUE_CLIENT];

	if (dialogue_output(connection->dialogue, DIALOGUE_CLIENT)->size > 0) {
		watch_side(connection, DIALOGUE_CLIENT);
		return true;
	}
	if (client->ended)
		return false;
	if (!connection->lingering) {
		/* Closed with unread input, TCP would take back replies that
		 * the client has not read yet. */
		shutdown(client->fd, SHUT_WR);
		connection->lingering = true;
		connection->waits_since_ns = at.monotonic_ns;
		connection->timer_ns = 0;
		watch(&client->writable, false, &client->writing);
		watch(&client->readable, true, &client->reading);
	}
	return true;
}

/* Writes, then waits for what the dialogue needs next. */
static void
settle(struct connection *connection, struct stamp at)
{
	struct dialogue *dialogue = connection->dialogue;
	enum dialogue_wait wait;
	bool moved;

	do {
		moved = flush(connection, DIALOGUE_CLIENT, at);
		moved |= flush(connection, DIALOGUE_BACKEND, at);
		if (moved)
			dialogue_resume(dialogue, at);
	} while (moved);

	if (dialogue_close(dialogue) != DIALOGUE_OPEN)
		close_side(&connection->sides[DIALOGUE_BACKEND]);
	if (dialogue_close(dialogue) == DIALOGUE_CLOSE_NOW ||
	    (dialogue_close(dialogue) == DIALOGUE_CLOSE_GENTLY &&
		!close_gently(connection, at))) {
		connection_free(connection);
		return;
	}
	if (dialogue_close(dialogue) == DIALOGUE_OPEN) {
		watch_side(connection, DIALOGUE_CLIENT);
		watch_side(connection, DIALOGUE_BACKEND);
		wait = dialogue_waits_for(dialogue);
		if (wait != connection->waits_for)
			connection->waits_since_ns = at.monotonic_ns;
		connection->waits_for = wait;
	}
	arm_timer(connection, at.monotonic_ns);
}

static void
discard(struct connection *connection)
{
	ssize_t got = recv(
	    connection->sides[DIALOGUE_CLIENT].fd, piece, sizeof(piece), 0);

	if (got == 0 || (got == -1 && errno != EAGAIN && errno != EINTR))
		connection_free(connection);
}

static void
read_side(struct connection *connection, enum dialogue_side which)
{
	struct side *side = &connection->sides[which];
	struct stamp at;
	ssize_t got;

	if (connection->lingering) {
		discard(connection);
		return;
	}
	got = recv(side->fd, piece, sizeof(piece), 0);
	if (got == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	/* Not before: what was sent while we came here is in the piece. */
	at = clock_stamp();
	side->progress_ns = at.monotonic_ns;
	side->ended = got <= 0;
	if (got > 0)
		dialogue_input(
		    connection->dialogue, which, piece, (size_t)got, at);
	else if (got == 0)
		dialogue_end_of_input(connection->dialogue, which, at);
	else
		dialogue_lost(connection->dialogue, which, at);
	settle(connection, at);
}

static void
client_readable(evutil_socket_t fd, short what, void *argument)
{
	read_side(argument, DIALOGUE_CLIENT);
}

static void
backend_readable(evutil_socket_t fd, short what, void *argument)
{
	read_side(argument, DIALOGUE_BACKEND);
}

static void
client_writable(evutil_socket_t fd, short what, void *argument)
{
	settle(argument, clock_stamp());
}

static void
backend_unreachable(struct connection *connection, int error, struct stamp at)
{
	log_warn("session=%llu backend=%s reason=%s",
	    (unsigned long long)connection->session,
	    connection->set->settings->dialogue.backend, strerror(error));
	dialogue_lost(connection->dialogue, DIALOGUE_BACKEND, at);
}

static void
backend_writable(evutil_socket_t fd, short what, void *argument)
{
	struct connection *connection = argument;
	struct side *side = &connection->sides[DIALOGUE_BACKEND];
	struct stamp at = clock_stamp();
	socklen_t size = sizeof(int);
	int error = 0;

	if (!side->connected) {
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == -1)
			error = errno;
		side->connected = error == 0;
		if (error != 0)
			backend_unreachable(connection, error, at);
	}
	settle(connection, at);
}

static void
timer_fired(evutil_socket_t fd, short what, void *argument)
{
	struct connection *connection = argument;
	struct stamp at = clock_stamp();

	connection->timer_ns = 0;
	if (at.monotonic_ns < deadline_ns(connection)) {
		arm_timer(connection, at.monotonic_ns);
		return;
	}
	if (dialogue_close(connection->dialogue) != DIALOGUE_OPEN) {
		connection_free(connection);
		return;
	}
	log_info("session=%llu waited_for=%s reason=timed out",
	    (unsigned long long)connection->session,
	    wait_names[connection->waits_for]);
	dialogue_timed_out(connection->dialogue, at);
	settle(connection, at);
}

static void
attach(struct connection *connection, enum dialogue_side which, int fd,
    event_callback_fn readable, event_callback_fn writable)
{
	struct side *side = &connection->sides[which];
	struct event_base *base = connection->set->base;
	int on = 1;

	side->fd = fd;
	event_assign(&side->readable, base, fd, EV_READ | EV_PERSIST, readable,
	    connection);
	event_assign(&side->writable, base, fd, EV_WRITE | EV_PERSIST, writable,
	    connection);
	/* Fails on unix sockets, which need it not. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void
connect_backend(struct connection *connection, struct stamp at)
{
	const struct endpoint *backend = &connection->set->settings->backend;
	struct side *side = &connection->sides[DIALOGUE_BACKEND];
	int fd = socket(backend->address.ss_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd == -1) {
		backend_unreachable(connection, errno, at);
		return;
	}
	attach(connection, DIALOGUE_BACKEND, fd, backend_readable,
	    backend_writable);
	if (connect(fd, (const struct sockaddr *)&backend->address,
		backend->size) == 0)
		side->connected = true;
	else if (errno != EINPROGRESS)
		backend_unreachable(connection, errno, at);
}

void
connection_open(struct connection_set *set, int fd)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	struct stamp at = clock_stamp();

	set->sessions++;
	producer_count(PRODUCER_SESSIONS, 1);
	if (connection != NULL)
		connection->dialogue =
		    dialogue_new(&set->settings->dialogue, set->sessions, at);
	if (connection == NULL || connection->dialogue == NULL) {
		free(connection);
		close(fd);
		return;
	}
	connection->set = set;
	connection->session = set->sessions;
	connection->waits_for = DIALOGUE_WAITS_FOR_GREETING;
	connection->waits_since_ns = at.monotonic_ns;
	connection->sides[DIALOGUE_BACKEND].fd = -1;
	connection->sides[DIALOGUE_CLIENT].connected = true;
	evtimer_assign(&connection->timer, set->base, timer_fired, connection);
	attach(
	    connection, DIALOGUE_CLIENT, fd, client_readable, client_writable);
	LIST_INSERT_HEAD(&set->list, connection, entry);
	set->count++;
	connect_backend(connection, at);
	settle(connection, at);
}

void
connections_stop(struct connection_set *set)
{
	struct stamp at = clock_stamp();
	struct connection *connection, *next;

	for (connection = LIST_FIRST(&set->list); connection != NULL;
	     connection = next) {
		next = LIST_NEXT(connection, entry);
		dialogue_stop(connection->dialogue, at);
		settle(connection, at);
	}
}

void
connections_abandon(struct connection_set *set)
{
	struct stamp at = clock_stamp();
	struct connection *connection;

	while ((connection = LIST_FIRST(&set->list)) != NULL) {
		dialogue_abandon(connection->dialogue, at);
		connection_free(connection);
	}
}

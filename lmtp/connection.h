/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * connection: the two sockets of one dialogue.
 *
 * Reads when the dialogue wants input, stamps right after the read, and writes
 * what came of it at once, one write a side. All on the event loop's thread.
 */
#ifndef LMTP_CONNECTION_H
#define LMTP_CONNECTION_H

#include "base/endpoint.h"
#include "lmtp/dialogue.h"

#include <stdint.h>
#include <sys/queue.h>

struct connection;
struct event_base;

struct connection_settings {
	struct dialogue_settings dialogue;
	struct endpoint backend;
	int64_t timeout_ns[DIALOGUE_WAITS];
};

LIST_HEAD(connection_list, connection);

/* All connections of a server. */
struct connection_set {
	struct event_base *base;
	const struct connection_settings *settings;
	struct connection_list list;
	uint64_t sessions;             /* so far */
	uint64_t count;                /* open now */
	void (*closed)(void *context); /* one has left the set */
	void *context;
};

/* Takes over `fd`, an accepted non-blocking socket, opens the backend's side
 * and adds both to the set, which frees them when they are done. Without memory
 * `fd` is closed, so that Postfix goes on to its next nexthop. */
void connection_open(struct connection_set *set, int fd);

/* See dialogue_stop() and dialogue_abandon(), for every connection. */
void connections_stop(struct connection_set *set);
void connections_abandon(struct connection_set *set);

#endif

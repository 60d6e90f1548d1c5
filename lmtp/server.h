/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server: the event loop: listening sockets, connections, signals, the end.
 */
#ifndef LMTP_SERVER_H
#define LMTP_SERVER_H

#include "lmtp/connection.h"

#include <stddef.h>
#include <stdint.h>

struct reason;
struct server;

struct server_settings {
	struct connection_settings connection;
	uint64_t max_connections;
	int64_t drain_timeout_ns;
};

/* The settings are kept. `fds` are listening sockets, non-blocking, and become
 * the server's. Returns NULL when there is no memory for it; some of the
 * descriptors may then be closed. */
struct server *server_new(const struct server_settings *settings,
    const int *fds, size_t fd_count, struct reason *reason);

/* Serves until a signal says to stop and the connections have drained or
 * drain_timeout is over. Returns 0, or -1 when the loop itself failed. */
int server_run(struct server *server);

void server_free(struct server **server);

#endif

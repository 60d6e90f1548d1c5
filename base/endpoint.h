/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * endpoint: where a socket is, written as Postfix writes it.
 *
 *     unix:/path      inet:host:port      inet:[::1]:port      host:port
 */
#ifndef BASE_ENDPOINT_H
#define BASE_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

struct reason;

struct endpoint {
	struct sockaddr_storage address;
	socklen_t size;
};

/* Reads the text; a host name is looked up (numbers are not), the first address
 * is taken. Returns 0, or -1 with a reason that quotes the text. */
int endpoint_parse(
    const char *text, struct endpoint *endpoint_r, struct reason *reason);

/* Writes it back in the form above. The text is cut to `size`. */
void endpoint_format(const struct endpoint *endpoint, char *text, size_t size);

bool endpoint_is_unix(const struct endpoint *endpoint);

/* Whether it can only be reached from this machine: unix or loopback. */
bool endpoint_is_local(const struct endpoint *endpoint);

/* Whether a unix socket lies there that nobody listens on any more. */
bool endpoint_is_stale(const struct endpoint *endpoint);

/* A connected, blocking socket, close-on-exec, on which nothing takes longer
 * than so many seconds. Returns the descriptor, or -1. */
int endpoint_connect(const struct endpoint *endpoint, unsigned patience_seconds,
    struct reason *reason);

/* Reads the mode of a unix socket, octal, at most 0777. Returns 0, or -1 with a
 * reason that quotes the text. */
int endpoint_mode_parse(
    const char *text, mode_t *mode_r, struct reason *reason);

/* Binds and listens, close-on-exec and non-blocking. For unix, a socket that
 * nobody listens on any more is replaced, a live one is not, and `mode` becomes
 * the mode of the file. Returns the descriptor, or -1. */
int endpoint_listen(
    const struct endpoint *endpoint, mode_t mode, struct reason *reason);

#endif

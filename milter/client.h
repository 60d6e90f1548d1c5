/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client: who is at the other end of an SMTP session, as Postfix tells it.
 */
#ifndef MILTER_CLIENT_H
#define MILTER_CLIENT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct client {
	char name[256];                 /* "unknown" without reverse DNS */
	char address[INET6_ADDRSTRLEN]; /* "" when Postfix does not know it */
	uint32_t port;                  /* 0: not known */
	bool non_smtp; /* sendmail(1) or QMQP: Postfix plays the client */
};

/* From the arguments of libmilter's connect callback; both may be NULL. An IPv4
 * address that arrived as ::ffff:a.b.c.d is written as IPv4, a name that is too
 * long is cut. */
void client_describe(
    const char *name, const struct sockaddr *address, struct client *client_r);

#endif

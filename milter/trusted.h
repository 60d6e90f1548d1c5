/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trusted: the clients whose incoming stamps are kept as a link.
 *
 * A content filter or a forward hands a message back with the stamp of its
 * first leg; only from these clients is the id in it believed to be that leg's.
 */
#ifndef MILTER_TRUSTED_H
#define MILTER_TRUSTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client;
struct reason;

#define TRUSTED_NETWORKS_MAX 64

struct trusted_network {
	uint8_t address[16]; /* IPv4 as ::ffff:a.b.c.d */
	unsigned prefix_bits;
};

struct trusted {
	struct trusted_network networks[TRUSTED_NETWORKS_MAX];
	size_t count;
	bool non_smtp;
};

/* Reads a list separated by spaces or commas: addresses and networks as
 * 192.0.2.0/24, 2001:db8::/32 or [2001:db8::]/32, and the word non-smtp for
 * mail by sendmail(1). Bits beyond the prefix must be 0. Returns 0, or -1 with
 * a reason that quotes the item. */
int trusted_parse(
    const char *text, struct trusted *trusted_r, struct reason *reason);

/* Mail by sendmail(1) is trusted by its word only, whatever address Postfix
 * gives it. */
bool trusted_contains(
    const struct trusted *trusted, const struct client *client);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * address: whether two sources mean the same mailbox.
 *
 * For the ingest thread.
 */
#ifndef EXPORTER_JOIN_ADDRESS_H
#define EXPORTER_JOIN_ADDRESS_H

enum likeness {
	LIKE_NOT,
	LIKE_FOLDED, /* but for the case of the local part */
	LIKE_EXACTLY /* but for the case of the domain */
};

struct pseudonym_key;

/* From now on an address and its pseudonyms by this key are the same mailbox.
 * The key is borrowed; NULL: there is none. */
void address_use_key(const struct pseudonym_key *key);

enum likeness address_likeness(const char *left, const char *right);

/* The domain, in the address; NULL: it has none. */
const char *address_domain(const char *address);

#endif

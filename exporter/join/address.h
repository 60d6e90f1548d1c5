/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * address: whether two sources mean the same mailbox.
 *
 * No state; any thread.
 */
#ifndef EXPORTER_JOIN_ADDRESS_H
#define EXPORTER_JOIN_ADDRESS_H

enum likeness {
	LIKE_NOT,
	LIKE_FOLDED, /* but for the case of the local part */
	LIKE_EXACTLY /* but for the case of the domain */
};

enum likeness address_likeness(const char *left, const char *right);

#endif

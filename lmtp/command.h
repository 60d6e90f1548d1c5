/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * command: what a command line of LMTP (RFC 2033) asks for.
 *
 * Only as much is understood as the hook needs: which verb it is, whose address
 * it names, and the queue id in Postfix's XFORWARD.
 */
#ifndef LMTP_COMMAND_H
#define LMTP_COMMAND_H

#include <stddef.h>

struct line;

enum command_verb {
	COMMAND_OTHER, /* passed on, whatever it is */
	COMMAND_LHLO,  /* and EHLO, HELO: they begin the session anew */
	COMMAND_MAIL,
	COMMAND_RCPT,
	COMMAND_DATA,
	COMMAND_RSET,
	COMMAND_QUIT,
	COMMAND_XFORWARD,
	/* Never passed on: it would change what the bytes behind it mean, or
	 * who the backend takes the client for. Not announced either. */
	COMMAND_REFUSED
};

/* The verb, in either case, as far as the first blank. */
enum command_verb command_verb(const struct line *line);

/* The address in MAIL FROM:<...> or RCPT TO:<...>, without the angle brackets,
 * pointing into the line; quoted local parts may hold `>`. Returns 0, or -1 and
 * an empty address when there is none. */
int command_address(
    const struct line *line, const char **address_r, size_t *size_r);

#define COMMAND_IDENT_SIZE 65

/* The decoded (xtext, RFC 3461) IDENT of an XFORWARD command. Returns 1; 0 when
 * it has none or says [UNAVAILABLE]; -1 when the command is malformed. A longer
 * one is cut; bytes that are not printable ASCII become '?'. */
int command_xforward_ident(
    const struct line *line, char ident_r[COMMAND_IDENT_SIZE]);

#endif

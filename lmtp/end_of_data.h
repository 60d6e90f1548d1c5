/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * end_of_data: find the end of a message's content, CRLF . CRLF.
 *
 * The content comes in pieces cut anywhere. Nothing else ends it: no bare LF
 * and no bare CR, as Postfix's lmtp client sends it.
 */
#ifndef LMTP_END_OF_DATA_H
#define LMTP_END_OF_DATA_H

#include <stdbool.h>
#include <stddef.h>

/* The terminator's own bytes, of which the CRLF before it is not one. */
#define END_OF_DATA_BYTES 3

struct end_of_data {
	unsigned matched; /* bytes of CRLF . CRLF seen last */
};

/* Before the first byte of content. The dot may come at once. */
void end_of_data_begin(struct end_of_data *state);

/* How many of the bytes are content, terminator included; all of them unless
 * *found_r says that the last one of these ends it. */
size_t end_of_data_scan(
    struct end_of_data *state, const void *data, size_t size, bool *found_r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capabilities: what the hook announces in the reply to LHLO.
 *
 * The backend's own list, in its order and spelling, less what would change the
 * meaning of the bytes that pass (CHUNKING, STARTTLS, AUTH, ...) or of the
 * transaction (DSN: Postfix would leave reporting success to the backend), plus
 * XFORWARD with the one attribute that the hook reads. So 8BITMIME, SIZE,
 * SMTPUTF8 and PIPELINING are there if and only if the backend has them.
 */
#ifndef LMTP_CAPABILITIES_H
#define LMTP_CAPABILITIES_H

#include <stdbool.h>

struct buffer;
struct reply;

/* Appends the rewritten positive reply to `out`. Lines that are no reply lines
 * stay as they are. *pipelining_r tells whether the backend has PIPELINING. */
void capabilities_rewrite(
    const struct reply *reply, struct buffer *out, bool *pipelining_r);

#endif

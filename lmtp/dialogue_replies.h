/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dialogue_replies: what comes from the backend.
 */
#ifndef LMTP_DIALOGUE_REPLIES_H
#define LMTP_DIALOGUE_REPLIES_H

#include <stddef.h>

struct dialogue;

/* Takes as much off the front of the bytes as can be taken now; returns how
 * many. The rest is to be given again, with more behind it. */
size_t dialogue_take_replies(
    struct dialogue *dialogue, const char *data, size_t size);

#endif

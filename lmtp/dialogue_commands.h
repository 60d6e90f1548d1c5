/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dialogue_commands: what comes from the client: commands and content.
 */
#ifndef LMTP_DIALOGUE_COMMANDS_H
#define LMTP_DIALOGUE_COMMANDS_H

#include <stddef.h>

struct dialogue;

/* Takes as much off the front of the bytes as can be taken now; returns how
 * many. The rest is to be given again, with more behind it. */
size_t dialogue_take_commands(
    struct dialogue *dialogue, const char *data, size_t size);

#endif

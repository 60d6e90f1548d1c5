/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ack_choice: which messages an operator may acknowledge, and why not others.
 *
 * Only what is lost or unknown: of everything else somebody knows better.
 */
#ifndef CLI_ACK_CHOICE_H
#define CLI_ACK_CHOICE_H

#include "store/query_open.h"

#include <stdbool.h>

struct arena;
struct buffer;
struct text_page;

/* Whether something of the message is lost or unknown. */
bool ack_choice_fits(const struct message_record *record);

/* Adds it to what is chosen, with counts, unless it is there. Returns 0, or -1
 * when the arena is full. */
int ack_choice_add(struct open_answer *chosen,
    const struct message_record *record, struct arena *arena);

/* Why a message that does not fit cannot be acknowledged. To be freed. */
char *ack_choice_refusal(const struct message_record *record);

#endif

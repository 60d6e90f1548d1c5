/* SPDX-License-Identifier: BSD-2-Clause */
/* fate_text: what became of a recipient, and why, in words. Pure. */
#ifndef CLI_FATE_TEXT_H
#define CLI_FATE_TEXT_H

#include "store/record.h"

struct text_page;

/* The state's name in the colour that says how good it is. */
void fate_text_state(struct text_page *page, enum recipient_state state);

/* What stands above recipients in this state that no LMTP reply decided. */
const char *fate_text_heading(enum recipient_state state);

/* Why, where the state's name does not say it; "" where it does. */
const char *fate_text_reason(const struct recipient_record *recipient);

#endif

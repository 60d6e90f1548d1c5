/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recipient_text: what became of a message's recipients.
 *
 * Recipients whose phases up to the reply are the same stand together under
 * these phases; many of them with the same verdict share a line. Pure.
 */
#ifndef CLI_RECIPIENT_TEXT_H
#define CLI_RECIPIENT_TEXT_H

struct delivery_reply;
struct message_record;
struct text_page;
struct timeline;
struct timeline_recipient;

/* "2 delivered, 1 in flight" in the line where the page stands. */
void recipient_text_summary(
    struct text_page *page, const struct message_record *record);

void recipient_text_groups(
    struct text_page *page, const struct timeline *timeline);

/* Why a recipient is in its state, or the last that is known of it: the words
 * of whoever refused, answered or logged it; "" when the state says it all. To
 * be freed with free(3). */
char *recipient_text_why(const struct timeline *timeline,
    const struct timeline_recipient *recipient);

/* "250 2.0.0 Saved", to be freed with free(3). */
char *recipient_text_reply(const struct delivery_reply *reply);

#endif

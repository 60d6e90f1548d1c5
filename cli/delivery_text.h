/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * delivery_text: the LMTP transactions that decided no recipient: attempts that
 * were put off or broken off, and mail that does not belong. Pure.
 */
#ifndef CLI_DELIVERY_TEXT_H
#define CLI_DELIVERY_TEXT_H

struct message_record;
struct text_page;
struct timeline;

/* The line "delivery at +1.20 s to inet:127.0.0.1:24" of the record's `leg`,
 * and one that says how it belongs to the message, unless by its stamp. */
void delivery_text_heading(
    struct text_page *page, const struct message_record *record, int leg);

void delivery_text_others(
    struct text_page *page, const struct timeline *timeline);

#endif

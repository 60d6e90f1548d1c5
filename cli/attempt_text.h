/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attempt_text: what Postfix's log says of the attempts to deliver to a
 * recipient. Pure.
 */
#ifndef CLI_ATTEMPT_TEXT_H
#define CLI_ATTEMPT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct attempt_record;
struct text_page;
struct timeline;
struct timeline_recipient;

/* When it was, by the wall clock: the log may have whole seconds only, and then
 * seem to tell of an attempt up to a second before MAIL FROM. */
int64_t attempt_text_wall_ns(
    const struct timeline *timeline, const struct attempt_record *attempt);

/* "host.example[192.0.2.1]:25: 4.2.0 mailbox full", to be freed with free(3).
 */
char *attempt_text_words(const struct attempt_record *attempt);

/* Whether the log says the same of both, but for the words of success. */
bool attempt_text_same(const struct timeline_recipient *left,
    const struct timeline_recipient *right);

/* The recipient's last attempts: when, by which agent, how it ended, where and
 * why. */
void attempt_text_table(struct text_page *page, const struct timeline *timeline,
    const struct timeline_recipient *recipient);

#endif

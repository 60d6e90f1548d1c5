/* SPDX-License-Identifier: BSD-2-Clause */
/* filing_text: what Dovecot did with a recipient's mail, in words. Pure. */
#ifndef CLI_FILING_TEXT_H
#define CLI_FILING_TEXT_H

#include "store/record.h"

#include <stdbool.h>

/* As "stored in Junk Mail, forwarded to a@example.org"; "" where nothing is
 * known. To be freed. */
char *filing_text_words(const struct recipient_record *recipient);

bool filing_text_same(
    const struct recipient_record *left, const struct recipient_record *right);

#endif

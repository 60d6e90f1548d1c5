/* SPDX-License-Identifier: BSD-2-Clause */
/* json_text: text as a JSON string. No state, any thread. */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

struct buffer;

/* Appends the string with its quotes, only harmless characters left in it
 * (text_sanitize()); null for NULL. */
void json_text(struct buffer *out, const char *text);

#endif

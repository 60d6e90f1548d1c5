/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config_value: the syntax of each type of option, both ways.
 *
 * Knows one value at a time; the file around it is config.c's. Used at start
 * and reload.
 */
#ifndef BASE_CONFIG_VALUE_H
#define BASE_CONFIG_VALUE_H

#include <stddef.h>

struct buffer;
struct config_item;
struct reason;

/* Reads `text` into the item's member of `settings`, freeing the string that
 * was there. Returns 0, or -1 with what is wrong with the text, the member then
 * being as before. */
int config_value_read(const struct config_item *item, const char *text,
    void *settings, struct reason *reason);

/* Appends the member's value in the syntax that config_value_read() takes. */
void config_value_write(const struct config_item *item, const void *settings,
    struct buffer *buffer);

/* Appends what the type and the bounds allow as a sentence with a space in
 * front, or nothing. */
void config_value_describe(
    const struct config_item *item, struct buffer *buffer);

/* How many bytes at the front of the text look like an option's name before its
 * `=`, or like a section. Such text may not begin a continued line. */
size_t config_value_misread(const char *text);

#endif

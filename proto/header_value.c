/* SPDX-License-Identifier: BSD-2-Clause */
/* Unfolds header values. Pure; called by both producers for each message. */
#include "proto/header_value.h"

#include <stdbool.h>

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

size_t
header_value_unfold(
    const char *value, size_t size, char *text_r, size_t text_size)
{
	size_t length = 0;
	bool gap = false;

	for (size_t i = 0; i < size; i++) {
		if (is_space(value[i])) {
			gap = length > 0;
			continue;
		}
		if (length + gap + 1 >= text_size)
			break;
		if (gap)
			text_r[length++] = ' ';
		gap = false;
		text_r[length++] = value[i] != '\0' ? value[i] : '?';
	}
	text_r[length] = '\0';
	return length;
}

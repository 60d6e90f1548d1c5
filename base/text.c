/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UTF-8 and control characters. Called by the log and by whoever stores or
 * shows text that a stranger sent.
 */
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

/* RFC 3629 section 4: which lead bytes open a sequence of which size, and the
 * range of the second byte, which is where overlong forms, surrogates and
 * characters beyond U+10FFFF are told apart. */
static const struct {
	unsigned char first, last;
	unsigned char size;
	unsigned char second_first, second_last;
} sequences[] = {
    {0xc2, 0xdf, 2, 0x80, 0xbf},
    {0xe0, 0xe0, 3, 0xa0, 0xbf},
    {0xe1, 0xec, 3, 0x80, 0xbf},
    {0xed, 0xed, 3, 0x80, 0x9f},
    {0xee, 0xef, 3, 0x80, 0xbf},
    {0xf0, 0xf0, 4, 0x90, 0xbf},
    {0xf1, 0xf3, 4, 0x80, 0xbf},
    {0xf4, 0xf4, 4, 0x80, 0x8f},
};

static bool
is_continuation(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

size_t
text_character(const char *text, size_t size)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t row = 0, rows = sizeof(sequences) / sizeof(sequences[0]);

	if (size == 0)
		return 0;
	if (bytes[0] < 0x80)
		return 1;
	while (row < rows && bytes[0] > sequences[row].last)
		row++;
	if (row == rows || bytes[0] < sequences[row].first ||
	    size < sequences[row].size)
		return 0;
	if (bytes[1] < sequences[row].second_first ||
	    bytes[1] > sequences[row].second_last)
		return 0;
	for (size_t i = 2; i < sequences[row].size; i++) {
		if (!is_continuation(bytes[i]))
			return 0;
	}
	return sequences[row].size;
}

static bool
is_control(const char *text, size_t size)
{
	unsigned char first = (unsigned char)text[0];

	if (size == 1)
		return first < 0x20 || first == 0x7f;
	return size == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0;
}

bool
text_is_utf8(const char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t character = text_character(text + at, size - at);

		if (character == 0 || text[at] == '\0')
			return false;
		at += character;
	}
	return true;
}

void
text_sanitize(char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t character = text_character(text + at, size - at);

		if (character == 0)
			text[at++] = '?';
		else if (is_control(text + at, character))
			memset(text + at, '?', character);
		at += character;
	}
}

size_t
text_cut(const char *text, size_t size, size_t limit)
{
	if (size <= limit)
		return size;
	while (limit > 0 && is_continuation((unsigned char)text[limit]))
		limit--;
	return limit;
}

int
text_hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text made harmless: then it is UTF-8 without controls as far as it goes, and
 * stays so, also when cut anywhere.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const char *text, size_t size)
{
	for (size_t at = 0; at < size;) {
		size_t character = text_character(text + at, size - at);

		assert(character > 0);
		assert((unsigned char)text[at] >= 0x20 && text[at] != 0x7f);
		at += character;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *again = malloc(size + 1);

	assert(text != NULL && again != NULL);
	memcpy(text, data, size);
	text_sanitize(text, size);
	check(text, size);
	memcpy(again, text, size);
	text_sanitize(again, size);
	assert(memcmp(text, again, size) == 0);
	for (size_t limit = 0; limit < size && limit < 100; limit++)
		check(text, text_cut(text, size, limit));
	free(text);
	free(again);
	return 0;
}

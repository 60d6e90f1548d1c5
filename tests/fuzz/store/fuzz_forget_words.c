/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of any bytes only those that say a name are overwritten, each by a *. An
 * input is a name, a line end, then the bytes.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/forget_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
try_bytes(const struct forget_words *words, const char *bytes, size_t size,
    bool is_text)
{
	char *copy = malloc(size > 0 ? size : 1);
	bool differs;

	if (size > 0)
		memcpy(copy, bytes, size);
	differs = forget_words_in(words, copy, size, is_text);
	for (size_t i = 0; i < size; i++)
		assert(copy[i] == bytes[i] || (copy[i] == '*' && differs));
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct forget_words words = {.domain = "x.example", .domain_size = 9};
	const char *text = (const char *)data;
	const char *end = size > 0 ? memchr(text, '\n', size) : NULL;

	if (end == NULL)
		return 0;
	words.local = text;
	words.local_size = (size_t)(end - text);
	memcpy(words.long_mark, "~abcdefghijklmnop", sizeof(words.long_mark));
	memcpy(words.short_mark, "*abcdefgh", sizeof(words.short_mark));
	size -= words.local_size + 1;
	try_bytes(&words, end + 1, size, true);
	try_bytes(&words, end + 1, size, false);
	return 0;
}

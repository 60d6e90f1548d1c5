/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Splits and joins replies for leg_row and message_row. Without it, each reply
 * of a server that names its session would be a dictionary entry of its own.
 */
#include "store/reply_words.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "store/packed.h"

/* REPLY_WORDS_MARKS */
#define WORD_MARK '\1'
#define ADDRESS_MARK '\2'
#define WORD_ENDS " \n"

/* Shorter words without a digit are taken for language. */
#define LANGUAGE_BYTES_MAX 15

static bool
is_variable(const char *word, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (word[i] >= '0' && word[i] <= '9')
			return true;
	}
	return size > LANGUAGE_BYTES_MAX;
}

static bool
is_address(const char *word, size_t size, const char *address)
{
	size_t wanted = address != NULL ? strlen(address) : 0;

	return address != NULL && size == wanted + 2 && word[0] == '<' &&
	       word[size - 1] == '>' && memcmp(word + 1, address, wanted) == 0;
}

static void
split_word(const char *word, size_t size, const char *address,
    struct buffer *sentence, struct buffer *words)
{
	struct packed_writer writer = {.out = words};

	if (is_address(word, size, address)) {
		buffer_append(sentence, &(char){ADDRESS_MARK}, 1);
	} else if (is_variable(word, size)) {
		buffer_append(sentence, &(char){WORD_MARK}, 1);
		packed_put_bytes(&writer, word, size);
	} else {
		buffer_append(sentence, word, size);
	}
}

void
reply_words_split(const char *text, const char *address,
    struct buffer *sentence, struct buffer *words)
{
	while (*text != '\0') {
		size_t size = strcspn(text, WORD_ENDS);
		size_t gap = strspn(text + size, WORD_ENDS);

		split_word(text, size, address, sentence, words);
		buffer_append(sentence, text + size, gap);
		text += size + gap;
	}
}

static void
join_mark(char mark, const char *address, struct packed_reader *words,
    struct buffer *text)
{
	size_t size = 1;
	const void *word = &mark;

	if (mark == ADDRESS_MARK) {
		buffer_append_string(text, "<");
		buffer_append_string(text, address != NULL ? address : "");
		word = ">";
	} else if (mark == WORD_MARK) {
		word = packed_bytes(words, &size);
	}
	if (size > 0)
		buffer_append(text, word, size);
}

char *
reply_words_join(const char *sentence, const char *address,
    struct packed_reader *words, struct arena *arena)
{
	struct buffer text = {0};
	char *joined = NULL;

	for (; *sentence != '\0'; sentence++)
		join_mark(*sentence, address, words, &text);
	if (!text.failed && !words->failed)
		joined = arena_string_sized(
		    arena, text.size > 0 ? (void *)text.data : "", text.size);
	buffer_free(&text);
	return joined;
}

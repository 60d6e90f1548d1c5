/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reply_words: a server's reply as a sentence that comes back often, and the
 * words in it that never do.
 *
 *     <jo@example.com> KqcXBmR/4mgh Saved
 *
 * becomes the sentence "\2 \1 Saved" and the word KqcXBmR/4mgh: \2 stands for
 * the recipient in <>, \1 for the next word. Exactly invertible. Pure; any
 * thread.
 */
#ifndef STORE_REPLY_WORDS_H
#define STORE_REPLY_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;
struct packed_reader;

#define REPLY_WORDS_MARKS "\1\2"

/* Appends the sentence to `sentence` and the words, each packed as bytes, to
 * `words`. The text must not hold a mark itself. */
void reply_words_split(const char *text, const char *address,
    struct buffer *sentence, struct buffer *words);

/* The text again, in `arena`, with the words read from `words`. NULL when the
 * arena is full or the words run out (words->failed). */
char *reply_words_join(const char *sentence, const char *address,
    struct packed_reader *words, struct arena *arena);

#endif

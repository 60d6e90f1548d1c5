/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search_match: whether a message is one that is searched for.
 *
 * The meaning of a search: whatever the indexes say, what is found are the
 * messages for which this is true. No state; any thread.
 */
#ifndef STORE_SEARCH_MATCH_H
#define STORE_SEARCH_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message_record;
struct search;

/* Whether all terms are true of the message and one of its recipients. Which
 * recipients these are is told in `meant_r`, which has an element for each
 * (NULL: nobody asks). Of a message without recipients, terms about one are
 * false. */
bool search_matches(const struct search *search,
    const struct message_record *record, bool *meant_r);

/* How long a recipient took, from MAIL FROM: to the reply that decided, else to
 * what the log told last, or while it is in the queue up to `now_wall_ns`.
 * Returns -1 where there is nothing to measure to. */
int64_t search_recipient_took_ns(
    const struct message_record *record, size_t number, int64_t now_wall_ns);

typedef bool search_word_test(const char *word, const char *text);

/* Whether `text` is what a word of a search means, the case of ASCII letters
 * aside; `*` in the word is any text. */
bool search_word_is(const char *word, const char *text);

/* The same for an address. A word without `*` may also be part of one: with @
 * in front, or with a dot and no @, its domain; with neither, its domain or
 * what is before it. */
bool search_word_is_address(const char *word, const char *address);

/* The same for a bare word, which is an address, or without `*` any part of
 * one. */
bool search_word_is_in_address(const char *word, const char *address);

/* The same for "name[address]:port" as Postfix writes it: the whole, the name,
 * or the address. */
bool search_word_is_host(const char *word, const char *host);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pseudonym: words that stand for others, by a key that is kept beside the
 * store.
 *
 * The same word always has the same pseudonym. Two words that differ in the
 * case of their letters only have pseudonyms of which that is true, too; one
 * without upper case has one without. Who has not the key can neither undo this
 * nor test a guess. Keys may be shared by threads.
 */
#ifndef STORE_PSEUDONYM_H
#define STORE_PSEUDONYM_H

#include <stdbool.h>
#include <stddef.h>

struct pseudonym_key;
struct reason;

/* Pseudonyms that a search finds, and shorter ones: the mark in front, and how
 * many letters follow. Of the same word, the shorter has the longer's first
 * ones. */
#define PSEUDONYM_MARK '~'
#define PSEUDONYM_LETTERS 16
#define PSEUDONYM_SHORT_MARK '*'
#define PSEUDONYM_SHORT_LETTERS 8

enum pseudonym_form { PSEUDONYM_NONE, PSEUDONYM_LONG, PSEUDONYM_SHORT };

/* Which of them a word looks like. */
enum pseudonym_form pseudonym_form(const char *word, size_t size);

/* The key of a store's directory, readable for who writes the store only. One
 * that is not there is made if `create`. Returns 1; 0 when there is none; -1
 * with a reason, and errno of the failure, 0 for a file that is no key. */
int pseudonym_key_open(const char *directory, bool create,
    struct pseudonym_key **key_r, struct reason *reason);

/* NULL is nothing. */
void pseudonym_key_free(struct pseudonym_key **key);

/* The pseudonym of a word: `count` letters, at most PSEUDONYM_LETTERS. */
void pseudonym(const struct pseudonym_key *key, const char *word, size_t size,
    char *letters_r, size_t count);

#endif

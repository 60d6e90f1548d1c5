/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search: what people type to find messages, taken apart.
 *
 *     to:outlook.com status:deferred since:2h -from:*@lists.example
 *
 * Terms are separated by blanks, and all must hold. A term is KEY:WORD or a
 * bare word; KEY:A,B holds for A or B; - or ! in front turns it round. Double
 * quotes keep blanks and commas in a word, in which \" and \\ stand for " and
 * \. What `to`, `status`, `relay`, `slower` and `faster` say must be true of
 * one and the same recipient. `*` stands for any text. No state; any thread.
 */
#ifndef STORE_SEARCH_H
#define STORE_SEARCH_H

#include "base/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum search_key {
	SEARCH_ANY,  /* a bare word: an address, or a part of one; an id */
	SEARCH_TO,   /* also the address before aliases */
	SEARCH_FROM, /* of the envelope */
	SEARCH_STATUS,
	SEARCH_QUEUE,
	SEARCH_MSGID,
	SEARCH_CLIENT, /* name, address or HELO */
	SEARCH_RELAY,
	SEARCH_HOST, /* the instance that accepted it */
	SEARCH_RUN,
	SEARCH_SLOWER,
	SEARCH_FASTER,
	SEARCH_SINCE,
	SEARCH_UNTIL,
	SEARCH_KEYS
};

const char *search_key_name(enum search_key key);

struct search_term {
	enum search_key key;
	bool is_negated;
	/* Any of these, without quotes; NULL where a number follows instead. */
	const char **words;
	size_t word_count;
	uint32_t states; /* SEARCH_STATUS: bit n is state n */
	int64_t ns;      /* of SLOWER and FASTER: longer, not longer than this;
			  * of SINCE and UNTIL: MAIL FROM not before, before */
};

struct search {
	struct search_term *terms;
	size_t term_count;
	int64_t now_wall_ns; /* what ages are measured from */
};

/* What is wrong, and with which bytes of the text. */
struct search_error {
	size_t at, size;
	struct reason reason;
};

#define SEARCH_TEXT_MAX 1000

/* Reads `text`; ages in it are measured back from `now_wall_ns`. The search
 * lives in `arena`. No text, or only blanks, is a search that finds everything.
 * Returns 0, or -1 with *error_r. */
int search_parse(const char *text, int64_t now_wall_ns, struct arena *arena,
    struct search *search_r, struct search_error *error_r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_text: messages that are not done, as an administrator reads them: how
 * many, then each with its age, sender, and those of its recipients that it is
 * about, with the last that is known of them. Pure.
 */
#ifndef CLI_LIST_TEXT_H
#define CLI_LIST_TEXT_H

#include "store/query_open.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buffer;
struct drain;
struct text_style;

struct list {
	enum open_kind kind;
	const struct open_answer *answer;
	int64_t now_wall_ns;       /* ages count back from here */
	bool with_hint;            /* say what to do about a loss */
	const struct drain *drain; /* NULL: not to be told */
};

/* Appends the text. `arena` is used meanwhile. Returns 0, or -1 when it is
 * full. */
int list_text(const struct list *list, const struct text_style *style,
    struct arena *arena, struct buffer *out);

/* The same as a JSON object: totals, then each message as timeline_json() has
 * it. */
int list_json(const struct list *list, struct arena *arena, struct buffer *out);

#endif

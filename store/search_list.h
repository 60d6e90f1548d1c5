/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search_list: the rows of one file that have what the terms of a search name,
 * where indexes tell.
 *
 * A list holds all that match, and may hold others. Failures stick to the
 * connection.
 */
#ifndef STORE_SEARCH_LIST_H
#define STORE_SEARCH_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct day_tables;
struct search;

struct row_list {
	int64_t *rows; /* the newest first, each once */
	size_t count;
	bool is_known; /* else no index tells: it may be any row */
};

struct list_question {
	struct day_tables *tables;
	const struct search *search;
	struct arena *arena;
	/* Only rows from low on, below high, matter; others may be listed. */
	int64_t low, high;
};

/* Restricts *list, which begins as zero, to messages that are meant. */
void search_list_messages(
    const struct list_question *question, struct row_list *list);

/* The same for legs without a message. */
void search_list_legs(
    const struct list_question *question, struct row_list *list);

#endif

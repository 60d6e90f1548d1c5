/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forget_list: the addresses that are still to be forgotten, as a note in
 * control.db.
 *
 * If control.db is lost, the operator's journal is read again, which asks for
 * them again. Ingest thread only.
 */
#ifndef STORE_FORGET_LIST_H
#define STORE_FORGET_LIST_H

#include "proto/segment.h"

#include <stddef.h>

struct reason;
struct store;

struct forget_list {
	char **addresses;
	size_t count;
	struct journal_position position; /* of the last one added */
};

/* Reads the note into an empty list. */
void forget_list_read(struct forget_list *list, const struct store *store);

/* Both also write the note. Return 0, or -1 without effect. */
int forget_list_add(struct forget_list *list, struct store *store,
    const char *address, struct journal_position position,
    struct reason *reason);
int forget_list_remove_first(
    struct forget_list *list, struct store *store, struct reason *reason);

void forget_list_clear(struct forget_list *list);

#endif

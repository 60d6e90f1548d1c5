/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The note has the position in its first line, then an address a line. Called
 * by store_forget.c.
 */
#include "store/forget_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/store.h"

#define NOTE "forget"

static void
append(struct forget_list *list, char *address)
{
	list->addresses = memory_resize(
	    list->addresses, list->count + 1, sizeof(*list->addresses));
	list->addresses[list->count++] = address;
}

void
forget_list_clear(struct forget_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->addresses[i]);
	free(list->addresses);
	memset(list, 0, sizeof(*list));
}

static void
parse(struct forget_list *list, char *text)
{
	char *rest = NULL;
	char *line = strtok_r(text, "\n", &rest);

	if (line == NULL ||
	    sscanf(line, "%" SCNu64 " %" SCNu64, &list->position.segment,
		&list->position.offset) != 2)
		return;
	while ((line = strtok_r(NULL, "\n", &rest)) != NULL)
		append(list, memory_string(line));
}

void
forget_list_read(struct forget_list *list, const struct store *store)
{
	struct buffer note = {.data = NULL};
	bool found = store_note_read(store, NOTE, &note);

	buffer_append(&note, "", 1);
	if (found)
		parse(list, (char *)note.data);
	buffer_free(&note);
}

static int
write_note(
    const struct forget_list *list, struct store *store, struct reason *reason)
{
	struct buffer note = {.data = NULL};
	int result;

	buffer_append_format(&note, "%" PRIu64 " %" PRIu64 "\n",
	    list->position.segment, list->position.offset);
	for (size_t i = 0; i < list->count; i++)
		buffer_append_format(&note, "%s\n", list->addresses[i]);
	result = store_note_write(store, NOTE, &note, reason);
	buffer_free(&note);
	return result;
}

int
forget_list_add(struct forget_list *list, struct store *store,
    const char *address, struct journal_position position,
    struct reason *reason)
{
	struct journal_position before = list->position;

	if (strchr(address, '\n') != NULL ||
	    journal_position_compare(position, list->position) <= 0)
		return 0;
	append(list, memory_string(address));
	list->position = position;
	if (write_note(list, store, reason) == 0)
		return 0;
	free(list->addresses[--list->count]);
	list->position = before;
	return -1;
}

int
forget_list_remove_first(
    struct forget_list *list, struct store *store, struct reason *reason)
{
	struct forget_list rest = *list;

	rest.addresses++;
	rest.count--;
	if (write_note(&rest, store, reason) != 0)
		return -1;
	free(list->addresses[0]);
	list->count--;
	memmove(list->addresses, list->addresses + 1,
	    list->count * sizeof(*list->addresses));
	return 0;
}

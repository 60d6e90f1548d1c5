/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads lists of `instance=value`. Called at start, on the main thread. */
#include "exporter/maillog/instance_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reason.h"
#include "proto/journal_settings.h"

static const char blanks[] = " \t\r\n";

static char *
trim(char *text)
{
	size_t size;

	text += strspn(text, blanks);
	size = strlen(text);
	while (size > 0 && strchr(blanks, text[size - 1]) != NULL)
		size--;
	text[size] = '\0';
	return text;
}

static int
add(struct instance_map *map, const char *option, char *text,
    struct reason *reason)
{
	char *separator = strchr(text, '=');
	const char *instance = journal_default_instance();
	const char *value = trim(separator != NULL ? separator + 1 : text);
	struct instance_entry *entry;

	if (separator != NULL) {
		*separator = '\0';
		instance = trim(text);
	}
	if (*instance == '\0' || *value == '\0')
		return reason_set(
		    reason, "%s: an instance or value is empty", option);
	if (instance_map_find(map, instance) != NULL)
		return reason_set(
		    reason, "%s: instance %s is named twice", option, instance);
	map->entries =
	    memory_resize(map->entries, map->count + 1, sizeof(*map->entries));
	entry = &map->entries[map->count++];
	entry->instance = memory_string(instance);
	entry->value = memory_string(value);
	return 0;
}

int
instance_map_parse(const char *option, const char *text,
    struct instance_map *map_r, struct reason *reason)
{
	char *copy = memory_string(text), *rest = copy, *part;
	int result = 0;

	*map_r = (struct instance_map){.entries = NULL};
	if (*trim(copy) != '\0')
		while (result == 0 && (part = strsep(&rest, ",")) != NULL)
			result = add(map_r, option, part, reason);
	free(copy);
	if (result != 0)
		instance_map_clear(map_r);
	return result;
}

const char *
instance_map_find(const struct instance_map *map, const char *instance)
{
	for (size_t i = 0; i < map->count; i++)
		if (strcmp(map->entries[i].instance, instance) == 0)
			return map->entries[i].value;
	return NULL;
}

void
instance_map_clear(struct instance_map *map)
{
	for (size_t i = 0; i < map->count; i++) {
		free(map->entries[i].instance);
		free(map->entries[i].value);
	}
	free(map->entries);
	*map = (struct instance_map){.entries = NULL};
}

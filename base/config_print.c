/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes settings and their tables out for people: the effective values as a
 * file, and the reference. Called for -p and -R only.
 */
#include "base/config.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/config_value.h"

/* Where long values are broken, so that a line stays within what the INI
 * library takes (see config.c). */
#define LINE_BYTES 76

/* Whether a line may be broken at this space: the reader puts one space between
 * continued lines, and drops those around their ends. */
static bool
is_single(const char *space)
{
	return space[0] == ' ' && strchr(" \t", space[-1]) == NULL &&
	       strchr(" \t", space[1]) == NULL;
}

/* What then looks like an option's name needs a line of its own. */
static bool
may_break(const char *space)
{
	size_t name = config_value_misread(space + 1);
	const char *behind = space + 1 + name;

	return is_single(space) &&
	       (name == 0 || (is_single(behind) && behind[1] == '='));
}

/* The size of the text's first part: up to the last break within `room`, else
 * to the first one behind. */
static size_t
first_part(const char *text, size_t size, size_t room)
{
	size_t end = size;

	if (size <= room)
		return size;
	for (size_t i = 1; i + 1 < size && (i <= room || end == size); i++) {
		if (may_break(text + i))
			end = i;
	}
	return end;
}

/* A part that cannot be broken came from one line, and fits one again only if
 * nothing is put in that need not be. */
static void
print_value(FILE *out, const char *name, const char *text, size_t size)
{
	size_t room = LINE_BYTES - strlen(name);
	size_t part = first_part(text, size, room);

	if (part > room)
		fprintf(out, "%s=%.*s\n", name, (int)part, text);
	else
		fprintf(out, "%s =%s%.*s\n", name, part > 0 ? " " : "",
		    (int)part, text);
	while (part < size) {
		text += part + 1;
		size -= part + 1;
		part = config_value_misread(text);
		if (part == 0)
			part = first_part(text, size, LINE_BYTES);
		fprintf(out, "\t%.*s\n", (int)part, text);
	}
}

void
config_print(FILE *out, const struct config_section *sections, size_t count)
{
	struct buffer value = {.limit = 0};

	for (size_t i = 0; i < count; i++) {
		const struct config_section *section = &sections[i];

		fprintf(out, "%s[%s]\n", i > 0 ? "\n" : "", section->name);
		for (size_t j = 0; j < section->item_count; j++) {
			buffer_clear(&value);
			config_value_write(
			    &section->items[j], section->settings, &value);
			buffer_append(&value, "", 1);
			print_value(out, section->items[j].name,
			    (const char *)value.data, value.size - 1);
		}
	}
	buffer_free(&value);
}

void
config_print_reference(FILE *out, const struct config_section *section)
{
	struct buffer text = {.limit = 0};

	fprintf(out, "| `[%s]` | Default | Meaning |\n|---|---|---|\n",
	    section->name);
	for (size_t i = 0; i < section->item_count; i++) {
		const struct config_item *item = &section->items[i];

		buffer_clear(&text);
		buffer_append_format(&text, "| `%s` | ", item->name);
		if (item->default_value[0] == '\0')
			buffer_append_string(&text, "empty");
		else
			buffer_append_format(
			    &text, "`%s`", item->default_value);
		buffer_append_format(&text, " | %s", item->help);
		config_value_describe(item, &text);
		buffer_append_string(&text, " |\n");
		fwrite(text.data, 1, text.size, out);
	}
	buffer_free(&text);
}

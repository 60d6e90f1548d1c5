/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes settings and their tables out for people: the effective values as a
 * file, and the reference. Called for -p and -R only.
 */
#include "base/config.h"

#include <string.h>

#include "base/buffer.h"
#include "base/config_value.h"

/* Where long values are broken, so that a line stays within what the INI
 * library takes (see config.c). */
#define LINE_BYTES 76

/* The size of the first part of the text that fits `room`, ended by a single
 * space, which is what the reader puts between continued lines. */
static size_t
first_part(const char *text, size_t size, size_t room)
{
	size_t end = size;

	for (size_t i = 1; size > room && i + 1 < size; i++) {
		if (text[i] != ' ' || text[i - 1] == ' ' || text[i + 1] == ' ')
			continue;
		if (i > room && end < size)
			break;
		end = i;
	}
	return end;
}

static void
print_value(FILE *out, const char *name, const char *text, size_t size)
{
	size_t room = LINE_BYTES - strlen(name);

	fprintf(out, "%s =%s", name, size > 0 ? " " : "");
	while (size > 0) {
		size_t part = first_part(text, size, room);

		fwrite(text, 1, part, out);
		text += part;
		size -= part;
		if (size == 0)
			break;
		fputs("\n    ", out);
		text++;
		size--;
		room = LINE_BYTES;
	}
	fputc('\n', out);
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
			print_value(out, section->items[j].name,
			    (const char *)value.data, value.size);
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

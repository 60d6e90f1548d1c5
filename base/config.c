/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the configuration file through inih into settings. Called at start and
 * reload, on one thread.
 *
 * inih finds sections, names and values; what it would do silently is refused
 * here, line by line, before it sees the line: lines longer than its buffer
 * (which it cuts), text behind a section's bracket or behind a comment sign
 * (which it drops), control characters. Indented lines continue the value
 * before, as in Postfix's files; inih hands each of them over as one more value
 * of that name.
 */
#include "base/config.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/config_value.h"
#include "base/reason.h"

#define FILE_LIMIT_BYTES (1024 * 1024)
#define BLANKS " \t\r"

const char *const config_sections[] = {
    "milter",
    "lmtp",
    "exporter",
    "store",
    "operator",
    NULL,
};

struct parse {
	const char *name;
	const char *next, *end;
	size_t line; /* number of the line that inih was given last */
	bool indented;
	const struct config_section *sections;
	size_t section_count;
	size_t *seen_lines; /* per item of all sections; 0: not given */
	bool continues;     /* an indented line now continues a value */
	const struct config_item *item; /* the one given last */
	struct reason *reason;
	bool failed;
};

/* Keeps the first error and ends the parse. Returns what makes inih see it. */
static int __attribute__((format(printf, 2, 3)))
parse_fail(struct parse *parse, const char *format, ...)
{
	char text[sizeof(parse->reason->text)];
	va_list arguments;

	if (parse->failed)
		return 0;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	reason_set(parse->reason, "%s:%zu: %s", parse->name, parse->line, text);
	parse->failed = true;
	return 0;
}

static bool
is_known_section(const char *name, size_t size)
{
	for (size_t i = 0; config_sections[i] != NULL; i++) {
		if (strlen(config_sections[i]) == size &&
		    memcmp(config_sections[i], name, size) == 0)
			return true;
	}
	return false;
}

size_t
config_value_misread(const char *text)
{
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (size > 0)
		return text[size + strspn(text + size, BLANKS)] == '=' ? size
								       : 0;
	size = text[0] == '[' ? strcspn(text, "]") : 0;
	return size > 0 && text[size] == ']' &&
		       is_known_section(text + 1, size - 1)
		   ? size + 1
		   : 0;
}

static void
check_section_line(struct parse *parse, const char *line)
{
	size_t size = strcspn(line + 1, "]");
	const char *behind = line + 1 + size;

	if (*behind != ']')
		parse_fail(parse, "a section's name ends with a bracket");
	else if (behind[1 + strspn(behind + 1, BLANKS)] != '\0')
		parse_fail(parse, "text behind the name of a section");
	else if (!is_known_section(line + 1, size))
		parse_fail(
		    parse, "unknown section [%.*s]", (int)size, line + 1);
	parse->continues = false;
}

/* A continuation that looks like an option or section was meant as one. */
static void
check_continuation(struct parse *parse, const char *text)
{
	size_t size = config_value_misread(text);

	if (size > 0)
		parse_fail(parse,
		    "%.*s is indented, which continues the line before",
		    (int)size, text);
}

/* What inih would drop or misread, in a line without its newline. */
static void
check_line(struct parse *parse, const char *line)
{
	const char *text = line + strspn(line, BLANKS);

	parse->indented = text > line;
	if (*text == '\0' || *text == ';' || *text == '#')
		return;
	if (parse->indented && parse->continues) {
		check_continuation(parse, text);
	} else if (*text == '[') {
		check_section_line(parse, text);
		return;
	}
	for (const char *at = text; *at != '\0'; at++) {
		if ((*at == ';' || *at == '#') && at > text &&
		    strchr(BLANKS "=:", at[-1]) != NULL) {
			parse_fail(
			    parse, "a comment stands on a line of its own");
			return;
		}
	}
}

/* Other than tabs, and the carriage return of another system's editor. */
static bool
has_control_character(const char *text, size_t size)
{
	if (size > 0 && text[size - 1] == '\r')
		size--;
	for (size_t i = 0; i < size; i++) {
		if ((text[i] & 0xe0) == 0 && text[i] != '\t')
			return true;
	}
	return false;
}

/* inih's fgets(): the next line into `line`, NULL at the end or after an error.
 */
static char *
next_line(char *line, int room, void *cookie)
{
	struct parse *parse = cookie;
	const char *newline;
	size_t size;

	if (parse->failed || parse->next == parse->end)
		return NULL;
	parse->line++;
	newline = memchr(parse->next, '\n', (size_t)(parse->end - parse->next));
	size = (size_t)((newline != NULL ? newline : parse->end) - parse->next);
	if (size >= (size_t)room - 1)
		parse_fail(parse,
		    "the line is longer than %d bytes; indented lines continue "
		    "a value",
		    room - 2);
	else if (has_control_character(parse->next, size))
		parse_fail(parse, "the line contains a control character");
	if (parse->failed)
		return NULL;
	memcpy(line, parse->next, size);
	line[size] = '\0';
	parse->next += size + (newline != NULL);
	check_line(parse, line);
	return parse->failed ? NULL : line;
}

static const struct config_section *
find_section(const struct parse *parse, const char *name)
{
	for (size_t i = 0; i < parse->section_count; i++) {
		if (strcmp(parse->sections[i].name, name) == 0)
			return &parse->sections[i];
	}
	return NULL;
}

static const struct config_item *
find_item(const struct config_section *section, const char *name)
{
	for (size_t i = 0; i < section->item_count; i++) {
		if (strcmp(section->items[i].name, name) == 0)
			return &section->items[i];
	}
	return NULL;
}

static size_t *
seen_line(const struct parse *parse, const struct config_section *section,
    const struct config_item *item)
{
	size_t index = (size_t)(item - section->items);

	while (section > parse->sections)
		index += (--section)->item_count;
	return &parse->seen_lines[index];
}

static int
set_value(struct parse *parse, const struct config_section *section,
    const struct config_item *item, const char *value)
{
	struct reason reason;

	if (config_value_read(item, value, section->settings, &reason) == 0)
		return 1;
	return parse_fail(parse, "%s in [%s]: \"%s\" %s", item->name,
	    section->name, value, reason.text);
}

static int
continue_value(struct parse *parse, const struct config_section *section,
    const char *value)
{
	const struct config_item *item = parse->item;
	struct buffer text = {.limit = FILE_LIMIT_BYTES};
	int ok = 0;

	if (item->type != CONFIG_STRING)
		return parse_fail(parse,
		    "%s in [%s] does not continue over lines", item->name,
		    section->name);
	config_value_write(item, section->settings, &text);
	buffer_append_string(&text, text.size > 0 ? " " : "");
	buffer_append(&text, value, strlen(value) + 1);
	if (text.failed)
		parse_fail(parse, "out of memory");
	else
		ok = set_value(parse, section, item, (char *)text.data);
	buffer_free(&text);
	return ok;
}

/* inih's handler: one `name = value`. Returns 1, or 0 for an error. */
static int
take_value(
    void *cookie, const char *section_name, const char *name, const char *value)
{
	struct parse *parse = cookie;
	const struct config_section *section;
	const struct config_item *item;
	size_t *seen;

	if (section_name[0] == '\0')
		return parse_fail(
		    parse, "%s stands before any [section]", name);
	section = find_section(parse, section_name);
	if (section == NULL) {
		parse->continues = true;
		return 1;
	}
	if (parse->indented && parse->continues)
		return continue_value(parse, section, value);
	item = find_item(section, name);
	if (item == NULL)
		return parse_fail(
		    parse, "unknown option %s in [%s]", name, section_name);
	seen = seen_line(parse, section, item);
	if (*seen != 0)
		return parse_fail(parse,
		    "%s in [%s] is already given in line %zu", name,
		    section_name, *seen);
	*seen = parse->line;
	parse->item = item;
	parse->continues = true;
	return set_value(parse, section, item, value);
}

static int
set_defaults(struct parse *parse)
{
	struct reason reason;
	size_t total = 0;

	for (size_t i = 0; i < parse->section_count; i++) {
		const struct config_section *section = &parse->sections[i];

		total += section->item_count;
		for (size_t j = 0; j < section->item_count; j++) {
			const struct config_item *item = &section->items[j];

			if (config_value_read(item, item->default_value,
				section->settings, &reason) < 0)
				return reason_set(parse->reason,
				    "default of %s in [%s] %s", item->name,
				    section->name, reason.text);
		}
	}
	parse->seen_lines = calloc(total + 1, sizeof(*parse->seen_lines));
	if (parse->seen_lines == NULL)
		return reason_set(parse->reason, "out of memory");
	return 0;
}

static int
parse_bytes(struct parse *parse, const char *text, size_t size)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	int bad_line;

	if (set_defaults(parse) < 0)
		return -1;
	if (size >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
		text += 3;
		size -= 3;
	}
	parse->next = text;
	parse->end = text + size;
	bad_line = ini_parse_stream(next_line, parse, take_value, parse);
	free(parse->seen_lines);
	/* A line that inih itself could not read may come before ours. */
	if (bad_line > 0 && (!parse->failed || (size_t)bad_line < parse->line))
		return reason_set(parse->reason,
		    "%s:%d: neither [section] nor name = value", parse->name,
		    bad_line);
	if (bad_line < 0)
		return reason_set(parse->reason, "out of memory");
	return parse->failed ? -1 : 0;
}

int
config_parse(const char *name, const char *text,
    const struct config_section *sections, size_t count, struct reason *reason)
{
	struct parse parse = {
	    .name = name,
	    .sections = sections,
	    .section_count = count,
	    .reason = reason,
	};

	return parse_bytes(&parse, text, strlen(text));
}

static int
read_file(const char *path, struct buffer *text, struct reason *reason)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size;
	char chunk[4096];

	if (fd < 0)
		return reason_set_errno(reason, "%s", path);
	do {
		size = read(fd, chunk, sizeof(chunk));
		if (size > 0)
			buffer_append(text, chunk, (size_t)size);
	} while ((size > 0 && !text->failed) || (size < 0 && errno == EINTR));
	if (size < 0)
		reason_set_errno(reason, "%s", path);
	else if (text->failed)
		reason_set(
		    reason, "%s: larger than %d bytes", path, FILE_LIMIT_BYTES);
	close(fd);
	return size < 0 || text->failed ? -1 : 0;
}

int
config_load(const char *path, const struct config_section *sections,
    size_t count, struct reason *reason)
{
	struct parse parse = {
	    .name = path,
	    .sections = sections,
	    .section_count = count,
	    .reason = reason,
	};
	struct buffer text = {.limit = FILE_LIMIT_BYTES};
	int result = read_file(path, &text, reason);

	if (result == 0)
		result = parse_bytes(&parse,
		    text.size > 0 ? (const char *)text.data : "", text.size);
	buffer_free(&text);
	return result;
}

void
config_free(const struct config_section *sections, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < sections[i].item_count; j++) {
			const struct config_item *item = &sections[i].items[j];
			char **member = (void *)((char *)sections[i].settings +
						 item->offset);

			if (item->type != CONFIG_STRING)
				continue;
			free(*member);
			*member = NULL;
		}
	}
}

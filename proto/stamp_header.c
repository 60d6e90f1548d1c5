/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text of the stamp header, both ways. The milter formats on whatever thread
 * runs the callback; milter, hook and tests parse. No state.
 */
#include "proto/stamp_header.h"

#include "base/clock.h"
#include "base/reason.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TIME_BYTES (CLOCK_TEXT_SIZE - 1)
#define UUID_TEXT_BYTES (UUID_TEXT_SIZE - 1)

/* RFC 5322, 3.6.8: printable characters but the colon. */
int
stamp_header_name_check(const char *name, struct reason *reason)
{
	size_t size = strlen(name);

	if (size == 0 || size > STAMP_HEADER_NAME_MAX)
		return reason_set(reason,
		    "a header's name has 1 to %d characters",
		    STAMP_HEADER_NAME_MAX);
	for (; *name != '\0'; name++)
		if (*name <= ' ' || *name > '~' || *name == ':')
			return reason_set(reason,
			    "a header's name has neither blanks nor a colon");
	return 0;
}

/* Not isalnum(3): that knows locales, Postfix's queue ids do not. */
static bool
is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z');
}

static bool
is_queue_id(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!is_alphanumeric(text[i]))
			return false;
	return size > 0 && size <= STAMP_QUEUE_ID_MAX;
}

void
stamp_header_format(
    const struct stamp_header *stamp, char value_r[STAMP_HEADER_VALUE_SIZE])
{
	size_t queue_id_size =
	    strnlen(stamp->queue_id, sizeof(stamp->queue_id));
	bool has_queue_id = is_queue_id(stamp->queue_id, queue_id_size);
	char time[CLOCK_TEXT_SIZE], id[UUID_TEXT_SIZE];

	clock_format(stamp->mail_wall_ns, time);
	uuid_format(&stamp->id, id);
	snprintf(value_r, STAMP_HEADER_VALUE_SIZE, "%s;\n\tid=%s%s%.*s", time,
	    id, has_queue_id ? "; q=" : "",
	    has_queue_id ? (int)queue_id_size : 0, stamp->queue_id);
}

/* What is left to be read of a value. */
struct rest {
	const char *text;
	size_t size;
};

static void
skip(struct rest *rest, size_t size)
{
	rest->text += size;
	rest->size -= size;
}

/* Returns how many white space characters were skipped. */
static size_t
skip_white_space(struct rest *rest)
{
	size_t count = 0;

	while (count < rest->size &&
	       memchr(" \t\r\n", rest->text[count], 4) != NULL)
		count++;
	skip(rest, count);
	return count;
}

static bool
skip_word(struct rest *rest, const char *word)
{
	size_t size = strlen(word);

	if (rest->size < size || memcmp(rest->text, word, size) != 0)
		return false;
	skip(rest, size);
	return true;
}

static bool
read_time(struct rest *rest, int64_t *wall_ns_r)
{
	if (rest->size < TIME_BYTES ||
	    clock_parse(rest->text, TIME_BYTES, wall_ns_r) != 0)
		return false;
	skip(rest, TIME_BYTES);
	return true;
}

static bool
read_id(struct rest *rest, struct uuid *id_r)
{
	if (!skip_word(rest, ";") || skip_white_space(rest) == 0 ||
	    !skip_word(rest, "id="))
		return false;
	if (rest->size < UUID_TEXT_BYTES ||
	    uuid_parse(rest->text, UUID_TEXT_BYTES, id_r) != 0)
		return false;
	skip(rest, UUID_TEXT_BYTES);
	return true;
}

/* The last part, which may be missing. */
static bool
read_queue_id(struct rest *rest, char queue_id_r[STAMP_QUEUE_ID_MAX + 1])
{
	size_t size = 0;

	queue_id_r[0] = '\0';
	if (!skip_word(rest, ";"))
		return true;
	if (skip_white_space(rest) == 0 || !skip_word(rest, "q="))
		return false;
	while (size < rest->size && is_alphanumeric(rest->text[size]))
		size++;
	if (!is_queue_id(rest->text, size))
		return false;
	memcpy(queue_id_r, rest->text, size);
	queue_id_r[size] = '\0';
	skip(rest, size);
	return true;
}

int
stamp_header_parse(const char *value, size_t size, struct stamp_header *stamp_r)
{
	struct rest rest = {value, size};

	*stamp_r = (struct stamp_header){0};
	skip_white_space(&rest);
	if (!read_time(&rest, &stamp_r->mail_wall_ns) ||
	    !read_id(&rest, &stamp_r->id) ||
	    !read_queue_id(&rest, stamp_r->queue_id))
		return -1;
	skip_white_space(&rest);
	return rest.size == 0 ? 0 : -1;
}

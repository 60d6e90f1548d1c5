/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * command: the table of verbs and two small grammars. Pure; called by the
 * dialogue on the event loop's thread.
 */
#include "lmtp/command.h"

#include "lmtp/line.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name;
	enum command_verb verb;
} verbs[] = {
    {"MAIL", COMMAND_MAIL},
    {"RCPT", COMMAND_RCPT},
    {"DATA", COMMAND_DATA},
    {"RSET", COMMAND_RSET},
    {"QUIT", COMMAND_QUIT},
    {"LHLO", COMMAND_LHLO},
    {"EHLO", COMMAND_LHLO},
    {"HELO", COMMAND_LHLO},
    {"XFORWARD", COMMAND_XFORWARD},
    {"BDAT", COMMAND_REFUSED},
    {"BURL", COMMAND_REFUSED},
    {"AUTH", COMMAND_REFUSED},
    {"STARTTLS", COMMAND_REFUSED},
    {"XCLIENT", COMMAND_REFUSED},
};

/* A part of a line that is still to be read. */
struct rest {
	const char *text;
	size_t size;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void
skip(struct rest *rest, size_t size)
{
	rest->text += size;
	rest->size -= size;
}

static void
skip_blanks(struct rest *rest)
{
	while (rest->size > 0 && is_blank(rest->text[0]))
		skip(rest, 1);
}

static size_t
word_size(const struct rest *rest)
{
	size_t size = 0;

	while (size < rest->size && !is_blank(rest->text[size]))
		size++;
	return size;
}

enum command_verb
command_verb(const struct line *line)
{
	struct rest rest = {line->text, line->size};
	size_t size = word_size(&rest);
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strlen(verbs[i].name) == size &&
		    strncasecmp(verbs[i].name, line->text, size) == 0)
			return verbs[i].verb;
	return COMMAND_OTHER;
}

/* The size of what stands before the closing `>`. */
static size_t
bracketed_size(const struct rest *rest)
{
	bool quoted = false;
	size_t i;

	for (i = 0; i < rest->size; i++) {
		if (quoted && rest->text[i] == '\\')
			i++;
		else if (rest->text[i] == '"')
			quoted = !quoted;
		else if (!quoted && rest->text[i] == '>')
			break;
	}
	return i < rest->size ? i : rest->size;
}

int
command_address(const struct line *line, const char **address_r, size_t *size_r)
{
	struct rest rest = {line->text, line->size};
	const char *colon;

	*address_r = "";
	*size_r = 0;
	skip(&rest, word_size(&rest));
	skip_blanks(&rest);
	if (rest.size == 0)
		return -1;
	colon = memchr(rest.text, ':', rest.size);
	if (colon == NULL)
		return -1;
	skip(&rest, (size_t)(colon - rest.text) + 1);
	skip_blanks(&rest);
	*address_r = rest.text;
	if (rest.size > 0 && rest.text[0] == '<') {
		skip(&rest, 1);
		*address_r = rest.text;
		*size_r = bracketed_size(&rest);
	} else
		*size_r = word_size(&rest);
	return 0;
}

static int
hexadecimal(char c)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *digit = c == '\0' ? NULL : strchr(digits, c);

	return digit == NULL ? -1 : (int)(digit - digits);
}

/* Decodes `+XX` and copies the rest. Returns -1 when it is no xtext. */
static int
xtext_decode(const char *text, size_t size, char *out, size_t out_size)
{
	size_t used = 0;
	size_t i;

	for (i = 0; i < size; i++) {
		int c = (unsigned char)text[i];

		if (c == '+') {
			int high = i + 2 < size ? hexadecimal(text[i + 1]) : -1;
			int low = i + 2 < size ? hexadecimal(text[i + 2]) : -1;

			if (high < 0 || low < 0)
				return -1;
			c = high << 4 | low;
			i += 2;
		}
		if (used + 1 < out_size)
			out[used++] = c > ' ' && c < 0x7f ? (char)c : '?';
	}
	out[used] = '\0';
	return 0;
}

int
command_xforward_ident(
    const struct line *line, char ident_r[COMMAND_IDENT_SIZE])
{
	static const char name[] = "IDENT=";
	const size_t name_size = sizeof(name) - 1;
	struct rest rest = {line->text, line->size};
	int found = 0;

	ident_r[0] = '\0';
	skip(&rest, word_size(&rest));
	skip_blanks(&rest);
	if (rest.size == 0)
		return -1;
	for (; rest.size > 0; skip_blanks(&rest)) {
		size_t size = word_size(&rest);

		if (memchr(rest.text, '=', size) == NULL)
			return -1;
		if (size > name_size &&
		    strncasecmp(rest.text, name, name_size) == 0) {
			if (xtext_decode(rest.text + name_size,
				size - name_size, ident_r,
				COMMAND_IDENT_SIZE) == -1)
				return -1;
			found = strcasecmp(ident_r, "[UNAVAILABLE]") != 0;
		}
		skip(&rest, size);
	}
	if (!found)
		ident_r[0] = '\0';
	return found;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds addresses and puts marks in their place. Called for events and lines
 * by privacy_event.c and privacy_line.c.
 *
 * A text is anybody's: an address in it is whatever stands before an @, also
 * one that a URL writes as %40, up to a byte that can be in no local part.
 */
#include "exporter/privacy/privacy.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "store/pseudonym.h"

/* Of a byte: equal where two are the same but for their case. */
#define FOLDED 0x5f

static void
put_mark(const struct privacy *privacy, enum privacy_role role,
    struct maillog_view local, struct buffer *out)
{
	char mark[1 + PSEUDONYM_LETTERS] = {PSEUDONYM_SHORT_MARK};
	size_t letters =
	    role == PRIVACY_RECIPIENT ? PSEUDONYM_SHORT_LETTERS : 0;

	if (privacy->mode == PRIVACY_HASH) {
		mark[0] = PSEUDONYM_MARK;
		letters = PSEUDONYM_LETTERS;
	}
	if (letters > 0)
		pseudonym(
		    privacy->key, local.at, local.size, mark + 1, letters);
	buffer_append(out, mark, 1 + letters);
}

static void
put(struct maillog_view view, struct buffer *out)
{
	if (view.size > 0)
		buffer_append(out, view.at, view.size);
}

/* What is before the last @, or all. */
static struct maillog_view
local_part(struct maillog_view address)
{
	const char *at =
	    address.size > 0 ? memrchr(address.at, '@', address.size) : NULL;

	if (at != NULL)
		address.size = (size_t)(at - address.at);
	return address;
}

void
privacy_address(const struct privacy *privacy, enum privacy_role role,
    struct maillog_view address, struct buffer *out)
{
	struct maillog_view local = local_part(address);

	if (privacy->mode == PRIVACY_FULL || local.size == 0) {
		put(address, out);
		return;
	}
	put_mark(privacy, role, local, out);
	put(maillog_view_behind(address, local.size), out);
}

static bool
is_same(struct maillog_view left, struct maillog_view right)
{
	return left.size == right.size &&
	       strncasecmp(left.at, right.at, left.size) == 0;
}

static bool
is_name(const struct privacy_names *names, struct maillog_view local)
{
	for (size_t i = 0; i < 2; i++)
		if (is_same(local_part(names->addresses[i]), local))
			return true;
	return false;
}

/* Words by which Postfix and Dovecot tell what they have done: they are
 * nobody's. */
static bool
is_meaningful(struct maillog_view word)
{
	static const struct maillog_view words[] = {
	    MAILLOG_LITERAL("as"),
	    MAILLOG_LITERAL("command"),
	    MAILLOG_LITERAL("delivered"),
	    MAILLOG_LITERAL("dev"),
	    MAILLOG_LITERAL("discarded"),
	    MAILLOG_LITERAL("file"),
	    MAILLOG_LITERAL("forwarded"),
	    MAILLOG_LITERAL("inbox"),
	    MAILLOG_LITERAL("message"),
	    MAILLOG_LITERAL("notification"),
	    MAILLOG_LITERAL("null"),
	    MAILLOG_LITERAL("postmaster"),
	    MAILLOG_LITERAL("queue"),
	    MAILLOG_LITERAL("queued"),
	    MAILLOG_LITERAL("rejected"),
	    MAILLOG_LITERAL("sender"),
	    MAILLOG_LITERAL("size"),
	    MAILLOG_LITERAL("to"),
	    MAILLOG_LITERAL("undeliverable"),
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is_same(words[i], word))
			return true;
	return false;
}

static bool
is_number(struct maillog_view word)
{
	int64_t number;

	/* Reply codes have as many digits. */
	return word.size <= 3 && maillog_view_number(word, &number) == 0;
}

static bool
is_word_byte(char byte)
{
	return isalnum((unsigned char)byte) || (unsigned char)byte >= 0x80;
}

/* Whether `name` stands at `at`, as a whole. */
static bool
stands_at(struct maillog_view text, size_t at, struct maillog_view name)
{
	const struct maillog_view place = {text.at + at, name.size};
	size_t end = at + name.size;

	return name.size > 0 && end <= text.size &&
	       (*name.at & FOLDED) == (*place.at & FOLDED) &&
	       is_same(place, name) &&
	       (at == 0 || !is_word_byte(text.at[at - 1])) &&
	       (end == text.size || !is_word_byte(text.at[end]));
}

/* The local parts of `names` as a text may name them. */
struct locals {
	struct maillog_view items[2];
};

static struct locals
locals_of(const struct privacy_names *names)
{
	struct locals locals = {{{NULL, 0}, {NULL, 0}}};

	for (size_t i = 0; i < 2; i++) {
		struct maillog_view name = local_part(names->addresses[i]);

		if (!is_meaningful(name) && !is_number(name))
			locals.items[i] = name;
	}
	return locals;
}

/* A name's size where one stands; 0: none does. */
static size_t
name_at(struct maillog_view text, size_t at, const struct locals *locals)
{
	for (size_t i = 0; i < 2; i++)
		if (stands_at(text, at, locals->items[i]))
			return locals->items[i].size;
	return 0;
}

/* A text without addresses, in which there may be names. */
static void
put_words(const struct privacy *privacy, struct maillog_view text,
    const struct privacy_names *names, struct buffer *out)
{
	const struct locals locals = locals_of(names);
	size_t done = 0;

	for (size_t at = 0; at < text.size;) {
		size_t size = name_at(text, at, &locals);

		if (size == 0) {
			at++;
			continue;
		}
		put((struct maillog_view){text.at + done, at - done}, out);
		put_mark(privacy, PRIVACY_RECIPIENT,
		    (struct maillog_view){text.at + at, size}, out);
		done = at += size;
	}
	put(maillog_view_behind(text, done), out);
}

/* Where the next @ is; SIZE_MAX: nowhere. */
static size_t
find_at(struct maillog_view text, size_t from, size_t *size_r)
{
	static const struct maillog_view in_url = MAILLOG_LITERAL("%40");

	for (size_t at = from; at < text.size; at++) {
		*size_r = 1;
		if (text.at[at] == '@')
			return at;
		*size_r = in_url.size;
		if (maillog_view_begins(maillog_view_behind(text, at), in_url))
			return at;
	}
	return SIZE_MAX;
}

static bool
is_local_byte(char byte)
{
	return is_word_byte(byte) ||
	       (byte != '\0' && strchr("!#$%&'*+-/=?^_`{|}~.\\", byte) != NULL);
}

/* Where the local part of the @ at `at` begins, not before `from`. */
static size_t
local_start(struct maillog_view text, size_t from, size_t at)
{
	size_t start = at;

	if (at > from + 1 && text.at[at - 1] == '"') {
		for (start = at - 1; start > from; start--)
			if (text.at[start - 1] == '"')
				return start - 1;
		return from;
	}
	while (start > from && is_local_byte(text.at[start - 1]))
		start--;
	return start;
}

static void
put_local(const struct privacy *privacy, struct maillog_view local,
    const struct privacy_names *names, struct buffer *out)
{
	if (local.size > 0)
		put_mark(privacy,
		    is_name(names, local) ? PRIVACY_RECIPIENT : PRIVACY_OTHERS,
		    local, out);
}

/* Postfix cuts long texts, perhaps in the middle of an address. */
static void
put_end(const struct privacy *privacy, struct maillog_view text,
    const struct privacy_names *names, struct buffer *out)
{
	const char *open =
	    text.size > 0 ? memrchr(text.at, '<', text.size) : NULL;
	size_t size = open != NULL ? (size_t)(open - text.at) + 1 : text.size;
	const struct maillog_view rest = maillog_view_behind(text, size);

	if (memchr(text.at + size, '>', rest.size) != NULL)
		size = text.size;
	put_words(privacy, (struct maillog_view){text.at, size}, names, out);
	if (size < text.size)
		put_mark(privacy, PRIVACY_OTHERS, rest, out);
}

void
privacy_text(const struct privacy *privacy, struct maillog_view text,
    const struct privacy_names *names, struct buffer *out)
{
	size_t done = 0, at, size;

	if (privacy->mode == PRIVACY_FULL || text.size == 0) {
		put(text, out);
		return;
	}
	while ((at = find_at(text, done, &size)) != SIZE_MAX) {
		size_t start = local_start(text, done, at);

		put_words(privacy,
		    (struct maillog_view){text.at + done, start - done}, names,
		    out);
		put_local(privacy,
		    (struct maillog_view){text.at + start, at - start}, names,
		    out);
		put((struct maillog_view){text.at + at, size}, out);
		done = at + size;
	}
	put_end(privacy, maillog_view_behind(text, done), names, out);
}

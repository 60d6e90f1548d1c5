/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The readers of sessions and of what was decided about a message or a
 * recipient. Pure; named by the tables of shapes.
 */
#include "exporter/maillog/maillog_shape.h"

static const struct maillog_view colon = MAILLOG_LITERAL(": ");
static const struct maillog_view from = MAILLOG_LITERAL(" from ");

/* Takes NAME[ADDRESS] or NAME[ADDRESS]:PORT off the front. */
static struct maillog_view
take_peer(struct maillog_view *text)
{
	const char *bracket =
	    text->size > 0 ? memchr(text->at, ']', text->size) : NULL;
	size_t size = bracket != NULL ? (size_t)(bracket - text->at) + 1 : 0;
	struct maillog_view peer = *text;

	if (size + 1 < text->size && text->at[size] == ':' &&
	    text->at[size + 1] != ' ')
		size++;
	while (size < text->size && memchr(" :;,", text->at[size], 4) == NULL)
		size++;
	peer.size = size;
	*text = maillog_view_behind(*text, size);
	return peer;
}

/* Reads "550 5.7.1 ", either of the two, from the front of a reply. */
static void
read_codes(struct maillog_view text, struct maillog_record *record)
{
	int64_t number;
	size_t size = maillog_view_digits(text, &number);

	if (size == 3 && text.size > 3 && text.at[3] == ' ') {
		record->fields[MAILLOG_CODE] =
		    (struct maillog_view){text.at, 3};
		text = maillog_view_behind(text, 4);
		size = maillog_view_digits(text, &number);
	}
	if (size != 1 || text.size < 5 || text.at[1] != '.')
		return;
	while (size < text.size &&
	       ((text.at[size] >= '0' && text.at[size] <= '9') ||
		   text.at[size] == '.'))
		size++;
	record->fields[MAILLOG_DSN] = (struct maillog_view){text.at, size};
}

/* WHERE from CLIENT[: TEXT][; from=<> to=<> proto= helo=<>] */
static bool
read_situation(struct maillog_view text, struct maillog_record *record)
{
	static const struct maillog_view pairs[] = {MAILLOG_LITERAL("; from=<"),
	    MAILLOG_LITERAL("; to=<"), MAILLOG_LITERAL("; proto="),
	    MAILLOG_LITERAL("; helo=<")};
	size_t at = maillog_view_find(text, from), end;

	if (at == SIZE_MAX)
		return false;
	record->fields[MAILLOG_WHERE] = (struct maillog_view){text.at, at};
	text = maillog_view_behind(text, at + from.size);
	record->fields[MAILLOG_CLIENT_PEER] = take_peer(&text);
	end = text.size;
	for (size_t i = 0;
	     i < sizeof(pairs) / sizeof(pairs[0]) && end == text.size; i++) {
		at = maillog_view_find(text, pairs[i]);
		if (at == SIZE_MAX)
			continue;
		maillog_pairs_read(
		    maillog_view_behind(text, at + 2), ' ', record);
		end = at;
	}
	text.size = end;
	if (text.size > 0 && text.at[text.size - 1] == ';')
		text.size--;
	if (maillog_view_skip(&text, colon)) {
		record->fields[MAILLOG_TEXT] = text;
		read_codes(text, record);
	}
	return true;
}

/* Takes "ACTION: " off the front; returns the word. */
static struct maillog_view
take_word(struct maillog_view *text)
{
	struct maillog_view word = *text;
	size_t at = maillog_view_find(*text, colon);

	if (at == SIZE_MAX)
		return (struct maillog_view){0};
	word.size = at;
	*text = maillog_view_behind(*text, at + colon.size);
	return word;
}

bool
maillog_read_restriction(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	record->action = maillog_action_find(take_word(&text));
	return record->action != MAILLOG_NO_ACTION &&
	       read_situation(text, record);
}

/* Behind what is the message's own: ; from=<> to=<> proto= helo=<>: CODES */
static void
read_content_end(struct maillog_view text, struct maillog_record *record)
{
	static const struct maillog_view pairs = MAILLOG_LITERAL("; from=<");
	size_t at = maillog_view_find_last(text, pairs);
	struct maillog_record end = {.kind = record->kind};

	if (at == SIZE_MAX)
		return;
	text = maillog_pairs_read(maillog_view_behind(text, at + 2), ' ', &end);
	record->fields[MAILLOG_PROTO] = end.fields[MAILLOG_PROTO];
	if (maillog_view_skip(&text, colon))
		read_codes(text, record);
}

/* PART TEXT: what follows is the message's own and not read. */
static void
read_part(struct maillog_view text, struct maillog_record *record)
{
	const char *blank =
	    text.size > 0 ? memchr(text.at, ' ', text.size) : NULL;
	struct maillog_view part = text;

	if (blank != NULL) {
		part.size = (size_t)(blank - text.at);
		record->fields[MAILLOG_TEXT] =
		    maillog_view_behind(text, part.size + 1);
	}
	record->fields[MAILLOG_PART] = part;
}

bool
maillog_read_content(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	record->action = maillog_action_find(take_word(&text));
	read_part(text, record);
	read_content_end(text, record);
	return record->action != MAILLOG_NO_ACTION;
}

/* milter-ACTION: as a restriction; milter-PART-ACTION: as a content check. */
bool
maillog_read_milter(const struct maillog_shape *shape, struct maillog_view text,
    struct maillog_record *record)
{
	struct maillog_view word, part;
	const char *dash;

	text = maillog_view_behind(text, shape->prefix.size);
	word = take_word(&text);
	dash = word.size > 0 ? memrchr(word.at, '-', word.size) : NULL;
	if (dash == NULL) {
		record->action = maillog_action_find(word);
		return record->action != MAILLOG_NO_ACTION &&
		       read_situation(text, record);
	}
	part = (struct maillog_view){word.at, (size_t)(dash - word.at)};
	record->kind = MAILLOG_MILTER_CONTENT;
	record->action =
	    maillog_action_find(maillog_view_behind(word, part.size + 1));
	record->fields[MAILLOG_PART] = part;
	record->fields[MAILLOG_TEXT] = text;
	read_content_end(text, record);
	return record->action != MAILLOG_NO_ACTION;
}

/* proxy-(accept|reject): WHERE: REPLY; from=<> to=<> ... */
bool
maillog_read_proxy(const struct maillog_shape *shape, struct maillog_view text,
    struct maillog_record *record)
{
	static const struct maillog_view pairs = MAILLOG_LITERAL("; from=<");
	size_t at;

	record->action = (enum maillog_action)shape->argument;
	text = maillog_view_behind(text, shape->prefix.size);
	record->fields[MAILLOG_WHERE] = take_word(&text);
	at = maillog_view_find(text, pairs);
	if (at != SIZE_MAX) {
		maillog_pairs_read(
		    maillog_view_behind(text, at + 2), ' ', record);
		text.size = at;
	}
	record->fields[MAILLOG_TEXT] = text;
	read_codes(text, record);
	return record->fields[MAILLOG_WHERE].size > 0;
}

/* (connect|disconnect) from CLIENT[ COMMANDS] */
bool
maillog_read_session(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	text = maillog_view_behind(text, shape->prefix.size);
	record->fields[MAILLOG_CLIENT_PEER] = take_peer(&text);
	if (text.size > 0 && *text.at == ' ')
		record->fields[MAILLOG_COMMANDS] = maillog_view_behind(text, 1);
	return true;
}

/* REASON after WHERE[ (N bytes)] from CLIENT */
bool
maillog_read_broken(const struct maillog_shape *shape, struct maillog_view text,
    struct maillog_record *record)
{
	static const struct maillog_view after = MAILLOG_LITERAL(" after ");
	static const struct maillog_view parenthesis = MAILLOG_LITERAL(" (");
	struct maillog_view where;
	size_t at = maillog_view_find(text, after), detail;

	if (at == SIZE_MAX)
		return false;
	record->fields[MAILLOG_TEXT] = (struct maillog_view){text.at, at};
	text = maillog_view_behind(text, at + after.size);
	at = maillog_view_find(text, from);
	if (at == SIZE_MAX)
		return false;
	where = (struct maillog_view){text.at, at};
	detail = maillog_view_find(where, parenthesis);
	if (detail != SIZE_MAX)
		where.size = detail;
	record->fields[MAILLOG_WHERE] = where;
	text = maillog_view_behind(text, at + from.size);
	record->fields[MAILLOG_CLIENT_PEER] = take_peer(&text);
	return true;
}

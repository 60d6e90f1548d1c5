/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The envelope of log lines, in one pass from the left. Pure; called by the
 * followers on the ingest thread.
 */
#include "exporter/maillog/maillog_line.h"

static const struct maillog_view byte_order_mark =
    MAILLOG_LITERAL("\xef\xbb\xbf");

void
maillog_line_set_tag(struct maillog_line *line, struct maillog_view tag)
{
	const char *slash =
	    tag.size > 0 ? memrchr(tag.at, '/', tag.size) : NULL;
	size_t size = slash != NULL ? (size_t)(slash - tag.at) : 0;

	line->tag = tag;
	line->syslog_name = (struct maillog_view){tag.at, size};
	line->program =
	    slash != NULL ? maillog_view_behind(tag, size + 1) : tag;
}

/* Takes a token and the blank behind it off the front. */
static struct maillog_view
take_token(struct maillog_view *rest)
{
	const char *blank =
	    rest->size > 0 ? memchr(rest->at, ' ', rest->size) : NULL;
	struct maillog_view token = *rest;

	if (blank == NULL) {
		*rest = maillog_view_behind(*rest, rest->size);
		return token;
	}
	token.size = (size_t)(blank - rest->at);
	*rest = maillog_view_behind(*rest, token.size + 1);
	return token;
}

/* Dovecot's own tag, with a user in it who may have blanks:
 * "lmtp(a user)<123><session>:". Returns its size with the colon; 0 when it is
 * none. */
static size_t
dovecot_tag_size(struct maillog_view rest)
{
	static const struct maillog_view ends[] = {
	    MAILLOG_LITERAL(">: "), MAILLOG_LITERAL("): ")};
	size_t word = maillog_view_word(rest), first = SIZE_MAX;

	while (word < rest.size && rest.at[word] == '-')
		word +=
		    1 + maillog_view_word(maillog_view_behind(rest, word + 1));
	if (word == 0 || word == rest.size || rest.at[word] != '(')
		return 0;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t found = maillog_view_find(rest, ends[i]);

		if (found < first)
			first = found;
	}
	return first != SIZE_MAX ? first + 2 : 0;
}

/* Takes "[123]" off the end of a tag. */
static void
take_pid(struct maillog_view *tag, int64_t *pid_r)
{
	const char *open;
	struct maillog_view digits;

	if (tag->size < 3 || tag->at[tag->size - 1] != ']')
		return;
	open = memrchr(tag->at, '[', tag->size - 1);
	if (open == NULL)
		return;
	digits.at = open + 1;
	digits.size = tag->size - 2 - (size_t)(open - tag->at);
	if (maillog_view_number(digits, pid_r) == 0)
		tag->size = (size_t)(open - tag->at);
}

/* Without a tag ("last message repeated 3 times") all is text. */
static void
parse_tag(struct maillog_view rest, struct maillog_line *line)
{
	struct maillog_view all = rest, tag;
	size_t dovecot = dovecot_tag_size(rest);

	if (dovecot > 0) {
		tag = (struct maillog_view){rest.at, dovecot};
		rest = maillog_view_behind(rest, dovecot + 1);
	} else {
		tag = take_token(&rest);
	}
	if (tag.size < 2 || tag.at[tag.size - 1] != ':') {
		line->text = all;
		return;
	}
	tag.size--;
	take_pid(&tag, &line->pid);
	maillog_line_set_tag(line, tag);
	/* Users and sessions have slashes, too. */
	if (dovecot > 0) {
		line->syslog_name.size = 0;
		line->program = tag;
	}
	line->text = rest;
}

/* What follows time and a blank: host and tag, or a tag alone. */
static void
parse_host(struct maillog_view rest, struct maillog_line *line)
{
	struct maillog_view behind = rest, host;

	while (rest.size > 0 && *rest.at == ' ')
		rest = behind = maillog_view_behind(rest, 1);
	host = take_token(&behind);
	if ((host.size > 0 && host.at[host.size - 1] == ':') ||
	    dovecot_tag_size(rest) > 0) {
		parse_tag(rest, line);
		return;
	}
	line->host = host;
	parse_tag(behind, line);
}

/* Takes RFC 5424's structured data off the front: "-", or elements in brackets
 * with quoted values in which a backslash escapes. */
static void
skip_structured_data(struct maillog_view *rest)
{
	bool quoted = false, inside = false;
	size_t at = 0;

	if (rest->size > 0 && *rest->at == '-') {
		at = 1;
	} else {
		for (; at < rest->size; at++) {
			char character = rest->at[at];

			if (character == '\\' && quoted)
				at++;
			else if (character == '"' && inside)
				quoted = !quoted;
			else if (character == '[' && !quoted)
				inside = true;
			else if (character == ']' && !quoted)
				inside = false;
			else if (!inside)
				break;
		}
	}
	if (at > rest->size)
		at = rest->size;
	if (at < rest->size && rest->at[at] == ' ')
		at++;
	*rest = maillog_view_behind(*rest, at);
}

static struct maillog_view
take_header(struct maillog_view *rest)
{
	struct maillog_view token = take_token(rest);

	/* "-" stands for nothing. */
	if (token.size == 1 && *token.at == '-')
		token.size = 0;
	return token;
}

/* RFC 5424 behind its version: TIMESTAMP HOSTNAME APP-NAME PROCID MSGID. */
static void
parse_rfc5424(struct maillog_view rest, struct maillog_line *line)
{
	struct maillog_view stamp = take_header(&rest);

	if (maillog_time_parse(stamp.at, stamp.size, &line->time) == 0 &&
	    stamp.size > 0)
		return;
	line->host = take_header(&rest);
	maillog_line_set_tag(line, take_header(&rest));
	if (maillog_view_number(take_header(&rest), &line->pid) != 0)
		line->pid = 0;
	take_header(&rest);
	skip_structured_data(&rest);
	maillog_view_skip(&rest, byte_order_mark);
	line->text = rest;
}

/* Takes "<22>" off the front. */
static void
skip_priority(struct maillog_view *rest)
{
	size_t at = 1;

	if (rest->size < 3 || *rest->at != '<')
		return;
	while (at < rest->size && at < 4 && rest->at[at] >= '0' &&
	       rest->at[at] <= '9')
		at++;
	if (at > 1 && at < rest->size && rest->at[at] == '>')
		*rest = maillog_view_behind(*rest, at + 1);
}

void
maillog_line_parse(const char *data, size_t size, struct maillog_line *line_r)
{
	struct maillog_view rest = {data, size};
	size_t time_size;

	*line_r = (struct maillog_line){.text = rest};
	skip_priority(&rest);
	if (rest.size > 2 && rest.at[0] == '1' && rest.at[1] == ' ') {
		parse_rfc5424(maillog_view_behind(rest, 2), line_r);
		return;
	}
	time_size = maillog_time_parse(rest.at, rest.size, &line_r->time);
	if (time_size > 0 && time_size < rest.size && rest.at[time_size] == ' ')
		parse_host(maillog_view_behind(rest, time_size + 1), line_r);
	else
		line_r->time = (struct maillog_time){0};
}

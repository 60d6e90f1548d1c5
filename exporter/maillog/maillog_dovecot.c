/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Dovecot's lmtp (and lda) logs about one recipient of one message, with
 * and without Pigeonhole's Sieve. Pure; called by the parser.
 *
 *     lmtp(USER)<PID><SESSION>: [Info: ][sieve: ]msgid=ID: [NAME action: ]TEXT
 *
 * SESSION is what lmtp answers Postfix with, in front of " Saved".
 */
#include "exporter/maillog/maillog_shape.h"

#define TEXT MAILLOG_LITERAL

static maillog_reader read_mailbox, read_address, read_skipped;

static const struct maillog_shape shapes[] = {
    {TEXT("stored mail into mailbox "), MAILLOG_STORED, read_mailbox, 0},
    {TEXT("saved mail to "), MAILLOG_STORED, maillog_read_rest,
	MAILLOG_MAILBOX},
    {TEXT("left message in mailbox "), MAILLOG_STORED, read_mailbox, 0},
    {TEXT("failed to store into mailbox "), MAILLOG_NOT_STORED, read_mailbox,
	0},
    {TEXT("store into mailbox "), MAILLOG_NOT_STORED, read_skipped, 0},
    {TEXT("save failed to open mailbox "), MAILLOG_NOT_STORED, read_mailbox, 0},
    {TEXT("save failed to "), MAILLOG_NOT_STORED, read_mailbox, 0},
    {TEXT("Marked message to be discarded"), MAILLOG_SIEVE_DISCARDED,
	maillog_read_text, 0},
    {TEXT("discarded duplicate forward to <"), MAILLOG_SIEVE_NOT_FORWARDED,
	read_address, 0},
    {TEXT("not forwarding message to <"), MAILLOG_SIEVE_NOT_FORWARDED,
	read_address, 0},
    {TEXT("failed to redirect message to <"), MAILLOG_SIEVE_NOT_FORWARDED,
	read_address, 0},
    {TEXT("forwarded to <"), MAILLOG_SIEVE_FORWARDED, read_address, 0},
    {TEXT("sent vacation response to <"), MAILLOG_SIEVE_ANSWERED, read_address,
	0},
    {TEXT("discarded vacation re"), MAILLOG_SIEVE_NOT_ANSWERED,
	maillog_read_text, 0},
    {TEXT("discarded duplicate vacation re"), MAILLOG_SIEVE_NOT_ANSWERED,
	maillog_read_text, 0},
    {TEXT("discarding vacation re"), MAILLOG_SIEVE_NOT_ANSWERED,
	maillog_read_text, 0},
    {TEXT("not sending vacation re"), MAILLOG_SIEVE_NOT_ANSWERED,
	maillog_read_text, 0},
    {TEXT("failed to send vacation response to "), MAILLOG_SIEVE_NOT_ANSWERED,
	maillog_read_text, 0},
    {TEXT("rejected message from <"), MAILLOG_SIEVE_REJECTED, read_address, 0},
    {TEXT("Rejected: "), MAILLOG_SIEVE_REJECTED, maillog_read_text, 0},
    {TEXT("piped message to program "), MAILLOG_SIEVE_OTHER, maillog_read_text,
	0},
    {TEXT("sent mail notification to "), MAILLOG_SIEVE_OTHER, maillog_read_text,
	0},
    MAILLOG_SHAPES_END};

static struct maillog_view
behind_prefix(const struct maillog_shape *shape, struct maillog_view text)
{
	return maillog_view_behind(text, shape->prefix.size);
}

/* 'NAME' or NAME, and behind it ": TEXT". */
static bool
read_mailbox(const struct maillog_shape *shape, struct maillog_view text,
    struct maillog_record *record)
{
	static const struct maillog_view quote = TEXT("'"), colon = TEXT(": ");
	struct maillog_view name = behind_prefix(shape, text), rest = {0};
	size_t end;

	if (maillog_view_skip(&name, quote)) {
		end = maillog_view_find(name, (struct maillog_view)TEXT("': "));
		if (end == SIZE_MAX)
			end = maillog_view_find_last(name, quote);
	} else {
		end = maillog_view_find(name, colon);
	}
	if (end < name.size) {
		rest = maillog_view_behind(name, end);
		name.size = end;
	}
	record->fields[MAILLOG_MAILBOX] = name;
	maillog_view_skip(&rest, quote);
	if (maillog_view_skip(&rest, colon))
		record->fields[MAILLOG_TEXT] = rest;
	return true;
}

/* NAME (skipped|aborted) */
static bool
read_skipped(const struct maillog_shape *shape, struct maillog_view text,
    struct maillog_record *record)
{
	struct maillog_view rest = behind_prefix(shape, text);
	const char *blank =
	    rest.size > 0 ? memrchr(rest.at, ' ', rest.size) : NULL;

	if (blank == NULL)
		return false;
	record->fields[MAILLOG_TEXT] =
	    maillog_view_behind(rest, (size_t)(blank - rest.at) + 1);
	rest.size = (size_t)(blank - rest.at);
	if (rest.size >= 2 && *rest.at == '\'')
		rest = (struct maillog_view){rest.at + 1, rest.size - 2};
	record->fields[MAILLOG_MAILBOX] = rest;
	return true;
}

/* <ADDRESS> or <ADDRESS>: TEXT or <ADDRESS> (TEXT) */
static bool
read_address(const struct maillog_shape *shape, struct maillog_view text,
    struct maillog_record *record)
{
	struct maillog_view rest =
	    maillog_view_behind(text, shape->prefix.size - 1);

	record->fields[MAILLOG_TO] = maillog_address_take(&rest);
	while (rest.size > 0 && (*rest.at == ':' || *rest.at == ' '))
		rest = maillog_view_behind(rest, 1);
	if (rest.size > 0)
		record->fields[MAILLOG_TEXT] = rest;
	return true;
}

/* USER and SESSION of "lmtp(USER)<PID><SESSION>". */
static void
read_head(struct maillog_view head, struct maillog_record *record)
{
	static const struct maillog_view open = TEXT("("), close = TEXT(")<");
	size_t at = maillog_view_find(head, open);
	size_t end = maillog_view_find_last(head, close);
	const char *angle;

	if (at == SIZE_MAX || end == SIZE_MAX || end < at ||
	    head.at[head.size - 1] != '>')
		return;
	record->fields[MAILLOG_USER] =
	    (struct maillog_view){head.at + at + 1, end - at - 1};
	angle = memrchr(head.at, '<', head.size);
	record->fields[MAILLOG_SESSION] = maillog_view_between(
	    maillog_view_behind(head, (size_t)(angle - head.at)),
	    (struct maillog_view)TEXT("<"), (struct maillog_view)TEXT(">"));
}

static void
take_severity(struct maillog_view *text, struct maillog_record *record)
{
	static const struct {
		struct maillog_view word;
		enum maillog_severity severity;
	} words[] = {{TEXT("Info: "), MAILLOG_INFO},
	    {TEXT("Warning: "), MAILLOG_SEVERITY_WARNING},
	    {TEXT("Error: "), MAILLOG_SEVERITY_ERROR},
	    {TEXT("Fatal: "), MAILLOG_SEVERITY_FATAL},
	    {TEXT("Panic: "), MAILLOG_SEVERITY_PANIC}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (maillog_view_skip(text, words[i].word))
			record->severity = words[i].severity;
}

/* Takes ": fileinto action" off the end. */
static void
drop_action(struct maillog_view *id)
{
	static const struct maillog_view action = TEXT(" action");
	static const struct maillog_view colon = TEXT(": ");
	size_t word = maillog_view_find_last(*id, colon);
	struct maillog_view name;

	if (word == SIZE_MAX)
		return;
	name = maillog_view_behind(*id, word + colon.size);
	if (maillog_view_equal(
		maillog_view_behind(name, maillog_view_word(name)), action))
		id->size = word;
}

/* Reads "msgid=ID: TEXT". A Message-ID is the sender's and may look like ID and
 * text, so that ID ends as late as it can. */
static bool
read_message(struct maillog_view text, struct maillog_record *record)
{
	static const struct maillog_view colon = TEXT(": ");
	struct maillog_view id = text;
	size_t end;

	if (!maillog_view_skip(&id, (struct maillog_view)TEXT("msgid=")))
		return false;
	for (text = id; (end = maillog_view_find_last(id, colon)) != SIZE_MAX;
	     id.size = end) {
		struct maillog_view rest =
		    maillog_view_behind(text, end + colon.size);

		if (!maillog_shapes_read(shapes, rest, record))
			continue;
		id.size = end;
		drop_action(&id);
		record->fields[MAILLOG_MESSAGE_ID_TEXT] = id;
		return true;
	}
	return false;
}

void
maillog_dovecot_read(
    const struct maillog_line *line, struct maillog_record *record)
{
	struct maillog_view head = line->tag, text = line->text;

	if (maillog_view_equal(head, (struct maillog_view)TEXT("dovecot"))) {
		size_t end =
		    maillog_view_find(text, (struct maillog_view)TEXT(">: "));

		if (end != SIZE_MAX) {
			head = (struct maillog_view){text.at, end + 1};
			text = maillog_view_behind(text, end + 3);
		}
	}
	read_head(head, record);
	take_severity(&text, record);
	maillog_view_skip(&text, (struct maillog_view)TEXT("sieve: "));
	if (read_message(text, record))
		return;
	record->kind = MAILLOG_OTHER;
	record->fields[MAILLOG_TEXT] = text;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The readers of messages and deliveries. Pure; named by the tables of shapes.
 */
#include "exporter/maillog/maillog_shape.h"

static const struct maillog_view forwarded_as =
    MAILLOG_LITERAL("forwarded as ");
static const struct maillog_view queued_as = MAILLOG_LITERAL("queued as ");
static const struct maillog_view saved = MAILLOG_LITERAL(" Saved");

static struct maillog_view
behind_prefix(const struct maillog_shape *shape, struct maillog_view text)
{
	return maillog_view_behind(text, shape->prefix.size);
}

bool
maillog_read_nothing(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	return text.size == shape->prefix.size;
}

bool
maillog_read_rest(const struct maillog_shape *shape, struct maillog_view text,
    struct maillog_record *record)
{
	record->fields[shape->argument] = behind_prefix(shape, text);
	return true;
}

bool
maillog_read_text(const struct maillog_shape *shape, struct maillog_view text,
    struct maillog_record *record)
{
	record->fields[MAILLOG_TEXT] = text;
	return true;
}

bool
maillog_read_comma_pairs(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	maillog_pairs_read(text, ',', record);
	return true;
}

bool
maillog_read_blank_pairs(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	maillog_pairs_read(text, ' ', record);
	return true;
}

struct maillog_view
maillog_reply_session(struct maillog_view reply)
{
	const struct maillog_view nothing = {0};
	struct maillog_view left = reply;
	const char *blank;

	if (reply.size <= saved.size ||
	    !maillog_view_equal(
		maillog_view_behind(reply, reply.size - saved.size), saved))
		return nothing;
	left.size -= saved.size;
	blank = memrchr(left.at, ' ', left.size);
	if (blank == NULL || blank == left.at || blank[-1] != '>')
		return nothing;
	return maillog_view_behind(left, (size_t)(blank - left.at) + 1);
}

/* What is known by the words of the reply. The queue id of a copy is a claim of
 * whoever wrote the reply, the LMTP session id Dovecot's. */
static void
read_reply(struct maillog_view text, struct maillog_record *record)
{
	struct maillog_view *fields = record->fields;
	struct maillog_view id = text;
	size_t at;

	if (record->status != MAILLOG_SENT)
		return;
	if (!maillog_view_skip(&id, forwarded_as)) {
		at = maillog_view_find_last(text, queued_as);
		id = at == SIZE_MAX
			 ? (struct maillog_view){0}
			 : maillog_view_behind(text, at + queued_as.size);
	}
	id.size = maillog_view_word(id);
	fields[MAILLOG_NEW_QUEUE_ID] = id;
	fields[MAILLOG_SESSION] = maillog_reply_session(text);
}

bool
maillog_read_delivery(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	struct maillog_view reply = maillog_pairs_read(text, ',', record);

	record->status = maillog_status_find(record->fields[MAILLOG_STATUS]);
	if (maillog_view_skip(
		&reply, (struct maillog_view)MAILLOG_LITERAL(" ("))) {
		if (reply.size > 0 && reply.at[reply.size - 1] == ')')
			reply.size--;
		record->fields[MAILLOG_TEXT] = reply;
		read_reply(reply, record);
	}
	return true;
}

bool
maillog_read_sender(const struct maillog_shape *shape, struct maillog_view text,
    struct maillog_record *record)
{
	maillog_pairs_read(text, ',', record);
	record->status = maillog_status_find(record->fields[MAILLOG_STATUS]);
	if (record->fields[MAILLOG_STATUS].size > 0)
		record->kind = MAILLOG_EXPIRED;
	return record->fields[MAILLOG_STATUS].size > 0 ||
	       record->fields[MAILLOG_NRCPT].size > 0;
}

/* passing <R> to transport=T */
bool
maillog_read_passing(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	static const struct maillog_view to_transport =
	    MAILLOG_LITERAL(" to transport=");

	text = maillog_view_behind(text, shape->prefix.size - 1);
	record->fields[MAILLOG_TO] = maillog_address_take(&text);
	if (!maillog_view_skip(&text, to_transport))
		return false;
	record->fields[MAILLOG_TRANSPORT] = text;
	return true;
}

/* (sender|postmaster) REPORT notification: NEWQID */
bool
maillog_read_notification(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	static const struct maillog_view notification =
	    MAILLOG_LITERAL(" notification: ");
	struct maillog_view rest = behind_prefix(shape, text);
	size_t at = maillog_view_find(rest, notification);
	struct maillog_view id;

	if (at == SIZE_MAX)
		return false;
	id = maillog_view_behind(rest, at + notification.size);
	record->fields[MAILLOG_WHOM] =
	    (struct maillog_view){text.at, shape->prefix.size - 1};
	record->fields[MAILLOG_REPORT] = (struct maillog_view){rest.at, at};
	record->fields[MAILLOG_NEW_QUEUE_ID] = id;
	return id.size > 0 && maillog_view_word(id) == id.size;
}

/* Deleted: 3 messages */
bool
maillog_read_summary(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	struct maillog_view rest = behind_prefix(shape, text);
	int64_t count;

	record->action = (enum maillog_action)shape->argument;
	record->fields[MAILLOG_COUNT] =
	    (struct maillog_view){rest.at, maillog_view_digits(rest, &count)};
	return record->fields[MAILLOG_COUNT].size > 0;
}

/* saving corrupt file "QID" from queue ... */
bool
maillog_read_quoted_id(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	struct maillog_view id = behind_prefix(shape, text);

	id.size = maillog_view_word(id);
	record->queue_id = id;
	record->fields[MAILLOG_TEXT] = text;
	return id.size > 0;
}

/* [WHO: ](remove|rename) QID from QUEUE...: TEXT; [WHO: ]QID: rename from
 * QUEUE...; open QUEUE QID: TEXT. The function's name in front differs between
 * versions. */
bool
maillog_read_lost_file(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	static const struct maillog_view no_file =
	    MAILLOG_LITERAL(": No such file or directory");

	if (text.size < no_file.size ||
	    !maillog_view_begins(
		maillog_view_behind(text, text.size - no_file.size), no_file))
		return false;
	for (size_t at = 0; at < text.size; at++) {
		struct maillog_view id = maillog_view_behind(text, at);

		if (at > 0 && text.at[at - 1] != ' ')
			continue;
		id.size = maillog_view_word(id);
		if (maillog_queue_id_size(id) != id.size || id.size == 0)
			continue;
		record->queue_id = id;
		record->fields[MAILLOG_TEXT] = text;
		return true;
	}
	return false;
}

/* ... -- message not accepted, try again later */
bool
maillog_read_not_accepted(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record)
{
	record->fields[MAILLOG_TEXT] = text;
	return maillog_view_find(text, (struct maillog_view)MAILLOG_LITERAL(
					   "message not accepted")) != SIZE_MAX;
}

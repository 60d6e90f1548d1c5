/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What syslog daemons say of the log itself: lines folded, lines dropped, files
 * reopened. Pure; called by the parser.
 */
#include "exporter/maillog/maillog_shape.h"

/* rsyslogd folds "message repeated N times: [%.800s]". */
#define FOLDED_MAX 800

struct phrase {
	struct maillog_view text; /* anywhere in the line */
	enum maillog_kind kind;
};

static const struct phrase phrases[] = {
    {MAILLOG_LITERAL("lost due to rate-limiting"), MAILLOG_LOST},
    {MAILLOG_LITERAL("due to rate-limiting"), MAILLOG_LOST},
    {MAILLOG_LITERAL("Suppressed "), MAILLOG_LOST},
    {MAILLOG_LITERAL("Forwarding to syslog missed "), MAILLOG_LOST},
    {MAILLOG_LITERAL("[origin software=\"rsyslogd\""), MAILLOG_LOGGER},
};

/* The number in front of " messages"; empty when there is none. */
static struct maillog_view
count_of_messages(struct maillog_view text)
{
	size_t end = maillog_view_find(
	    text, (struct maillog_view)MAILLOG_LITERAL(" messages"));
	size_t begin = end;

	if (end == SIZE_MAX)
		return (struct maillog_view){0};
	while (
	    begin > 0 && text.at[begin - 1] >= '0' && text.at[begin - 1] <= '9')
		begin--;
	return (struct maillog_view){text.at + begin, end - begin};
}

void
maillog_notice_read(struct maillog_view text, struct maillog_record *record)
{
	record->fields[MAILLOG_TEXT] = text;
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		if (maillog_view_find(text, phrases[i].text) == SIZE_MAX)
			continue;
		record->kind = phrases[i].kind;
		if (record->kind == MAILLOG_LOST)
			record->fields[MAILLOG_COUNT] = count_of_messages(text);
		return;
	}
}

/* Takes "N times" off the front. */
static bool
take_times(struct maillog_view *text, struct maillog_record *record)
{
	int64_t count;
	size_t size = maillog_view_digits(*text, &count);
	struct maillog_view rest = maillog_view_behind(*text, size);

	if (size == 0 || count > UINT32_MAX ||
	    !maillog_view_skip(
		&rest, (struct maillog_view)MAILLOG_LITERAL(" times")))
		return false;
	record->repeats = (unsigned)count;
	*text = rest;
	return true;
}

bool
maillog_notice_repeated(struct maillog_view text, struct maillog_record *record)
{
	if (!maillog_view_skip(&text,
		(struct maillog_view)MAILLOG_LITERAL("last message repeated ")))
		return false;
	if (!take_times(&text, record))
		return false;
	record->kind = MAILLOG_REPEATED;
	return true;
}

void
maillog_notice_unfold(struct maillog_view *text, struct maillog_record *record)
{
	struct maillog_view rest = *text;

	if (!maillog_view_skip(&rest,
		(struct maillog_view)MAILLOG_LITERAL("message repeated ")) ||
	    !take_times(&rest, record) ||
	    !maillog_view_skip(
		&rest, (struct maillog_view)MAILLOG_LITERAL(": [")))
		return;
	if (rest.size > 0 && rest.at[rest.size - 1] == ']')
		rest.size--;
	if (rest.size >= FOLDED_MAX)
		record->is_cut = true;
	maillog_view_skip(&rest, (struct maillog_view)MAILLOG_LITERAL(" "));
	*text = rest;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the text of a line to its record: severity, queue id, then the tables.
 * Pure; called by whoever follows a log, on the ingest thread.
 */
#include "exporter/maillog/maillog_record.h"

#include "exporter/maillog/maillog_shape.h"

#define SHORT_ID_MIN 6
#define LONG_ID_SECONDS 10 /* of seconds and microseconds before the 'z' */

enum id_class { ID_NONE = 0, ID_SHORT = 1, ID_LONG = 2 };

/* Short queue ids are upper-case hexadecimal, long ones digits and consonants.
 */
static unsigned
id_class(char character)
{
	unsigned letter = ((unsigned char)character | 0x20u) - 'a';
	unsigned vowels = 1u << ('a' - 'a') | 1u << ('e' - 'a') |
			  1u << ('i' - 'a') | 1u << ('o' - 'a') |
			  1u << ('u' - 'a');

	if (character >= '0' && character <= '9')
		return ID_SHORT | ID_LONG;
	if (letter >= 26 || (unsigned char)character >= 0x80)
		return ID_NONE;
	return (character >= 'A' && character <= 'F' ? ID_SHORT : ID_NONE) |
	       ((vowels >> letter & 1) == 0 ? ID_LONG : ID_NONE);
}

size_t
maillog_queue_id_size(struct maillog_view text)
{
	unsigned classes = ID_SHORT | ID_LONG;
	size_t size = 0;

	for (; size < text.size; size++) {
		unsigned both = classes & id_class(text.at[size]);

		if (both == ID_NONE)
			break;
		classes = both;
	}
	if (size < SHORT_ID_MIN ||
	    maillog_view_word(maillog_view_behind(text, size)) > 0)
		return 0;
	if ((classes & ID_SHORT) != 0)
		return size;
	if ((classes & ID_LONG) != 0 && size > LONG_ID_SECONDS &&
	    memchr(text.at + LONG_ID_SECONDS, 'z', size - LONG_ID_SECONDS))
		return size;
	return 0;
}

/* Takes "QID: " or "NOQUEUE: " off the front. */
static void
take_queue_id(struct maillog_view *text, struct maillog_record *record)
{
	static const struct maillog_view noqueue = MAILLOG_LITERAL("NOQUEUE: ");
	size_t size = maillog_queue_id_size(*text);

	if (size > 0) {
		if (size + 2 > text->size || text->at[size] != ':' ||
		    text->at[size + 1] != ' ')
			return;
		record->queue_id = (struct maillog_view){text->at, size};
		*text = maillog_view_behind(*text, size + 2);
	} else {
		record->noqueue = maillog_view_skip(text, noqueue);
	}
}

static void
take_severity(struct maillog_view *text, struct maillog_record *record)
{
	static const struct maillog_view words[] = {
	    [MAILLOG_SEVERITY_WARNING] = MAILLOG_LITERAL("warning: "),
	    [MAILLOG_SEVERITY_ERROR] = MAILLOG_LITERAL("error: "),
	    [MAILLOG_SEVERITY_FATAL] = MAILLOG_LITERAL("fatal: "),
	    [MAILLOG_SEVERITY_PANIC] = MAILLOG_LITERAL("panic: ")};

	for (int i = MAILLOG_SEVERITY_WARNING; i < MAILLOG_SEVERITIES; i++)
		if (maillog_view_skip(text, words[i])) {
			record->severity = (enum maillog_severity)i;
			return;
		}
}

static void
read_postfix(const struct maillog_speaker *speaker, struct maillog_view text,
    struct maillog_record *record)
{
	const struct maillog_shape *shapes;
	bool has_id, is_warning;

	if (text.size > 0 && *text.at >= 'a' && *text.at <= 'z')
		take_severity(&text, record);
	if (text.size >= MAILLOG_TEXT_MAX)
		record->is_cut = true;
	take_queue_id(&text, record);
	has_id = record->queue_id.size > 0 || record->noqueue;
	is_warning = record->severity != MAILLOG_INFO;
	if (is_warning)
		shapes = has_id ? maillog_warnings_with_id
				: maillog_warnings_without_id;
	else
		shapes = has_id ? speaker->with_id : speaker->without_id;
	if (maillog_shapes_read(shapes, text, record))
		return;
	record->kind = is_warning ? MAILLOG_WARNING : MAILLOG_OTHER;
	/* A reader may have begun before it found that it does not fit. */
	record->action = MAILLOG_NO_ACTION;
	memset(record->fields, 0, sizeof(record->fields));
	record->fields[MAILLOG_TEXT] = text;
}

void
maillog_record_parse(
    const struct maillog_line *line, struct maillog_record *record_r)
{
	const struct maillog_speaker *speaker = maillog_speaker(line);
	struct maillog_view text = line->text;

	*record_r =
	    (struct maillog_record){.program = speaker->program, .repeats = 1};
	if (maillog_notice_repeated(text, record_r))
		return;
	maillog_notice_unfold(&text, record_r);
	switch (speaker->program) {
	case MAILLOG_PROGRAM_DOVECOT:
		maillog_dovecot_read(line, record_r);
		break;
	case MAILLOG_PROGRAM_RSYSLOGD:
	case MAILLOG_PROGRAM_JOURNALD:
		maillog_notice_read(text, record_r);
		break;
	case MAILLOG_PROGRAM_UNKNOWN:
		record_r->fields[MAILLOG_TEXT] = text;
		break;
	default:
		read_postfix(speaker, text, record_r);
		break;
	}
}

void
maillog_peer_split(struct maillog_view peer, struct maillog_view *name_r,
    struct maillog_view *address_r)
{
	const char *open =
	    peer.size > 0 ? memchr(peer.at, '[', peer.size) : NULL;
	const char *close =
	    peer.size > 0 ? memrchr(peer.at, ']', peer.size) : NULL;

	*name_r = peer;
	*address_r = (struct maillog_view){0};
	if (open == NULL || close == NULL || close < open)
		return;
	name_r->size = (size_t)(open - peer.at);
	*address_r =
	    (struct maillog_view){open + 1, (size_t)(close - open) - 1};
}

int
maillog_delays_parse(struct maillog_view delays, int64_t delays_ns_r[4])
{
	for (int i = 0; i < 4; i++) {
		const char *slash = delays.size > 0
					? memchr(delays.at, '/', delays.size)
					: NULL;
		struct maillog_view one = delays;

		if ((slash == NULL) != (i == 3))
			return -1;
		if (slash != NULL)
			one.size = (size_t)(slash - delays.at);
		if (maillog_view_seconds(one, &delays_ns_r[i]) != 0)
			return -1;
		if (slash != NULL)
			delays = maillog_view_behind(delays, one.size + 1);
	}
	return 0;
}

bool
maillog_command_count(struct maillog_view commands, const char *name,
    int64_t *accepted_r, int64_t *given_r)
{
	const struct maillog_view wanted = {name, strlen(name)};

	while (commands.size > 0) {
		const char *blank = memchr(commands.at, ' ', commands.size);
		struct maillog_view one = commands;

		if (blank != NULL)
			one.size = (size_t)(blank - commands.at);
		commands =
		    maillog_view_behind(commands, one.size + (blank != NULL));
		if (one.size <= wanted.size || one.at[wanted.size] != '=' ||
		    !maillog_view_skip(&one, wanted))
			continue;
		one = maillog_view_behind(one, 1);
		one = maillog_view_behind(
		    one, maillog_view_digits(one, accepted_r));
		*given_r = *accepted_r;
		if (one.size > 1 && *one.at == '/')
			maillog_view_digits(
			    maillog_view_behind(one, 1), given_r);
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Refusals: by the milter's verdicts and by lines of the log. Called by the
 * join on its thread.
 */
#include "exporter/join/refusal.h"

#include <string.h>

#include "exporter/join/fate.h"
#include "exporter/join/join_log_state.h"
#include "exporter/metrics/effect.h"
#include "store/store.h"

/* One of METRIC_SMTP_REJECTS' label sets. */
static unsigned
label_set(enum metric_reject_phase phase, enum metric_reject_class class)
{
	return (unsigned)phase * REJECTS + (unsigned)class;
}

void
refusal_of_recipient(const struct join *join, struct day_file *file,
    const struct message_recipient *recipient)
{
	const char *dsn = recipient->reject_dsn;
	bool is_temporary = dsn != NULL && *dsn == '4';

	if (recipient->rcpt_at.wall_ns >= join->counted_by_log_wall_ns)
		return;
	effect_count(file, METRIC_SMTP_REJECTS,
	    label_set(REJECT_RCPT,
		is_temporary ? REJECT_TEMPORARY : REJECT_PERMANENT),
	    1);
}

struct place {
	struct maillog_view where;
	enum metric_reject_phase phase;
};

/* As smtpd(8) names where it is in a session. */
static enum metric_reject_phase
phase_of(struct maillog_view where)
{
	static const struct place places[] = {
	    {MAILLOG_LITERAL("RCPT"), REJECT_RCPT},
	    {MAILLOG_LITERAL("CONNECT"), REJECT_CONNECT},
	    {MAILLOG_LITERAL("HELO"), REJECT_HELO},
	    {MAILLOG_LITERAL("EHLO"), REJECT_HELO},
	    {MAILLOG_LITERAL("MAIL"), REJECT_MAIL},
	    {MAILLOG_LITERAL("DATA"), REJECT_DATA},
	    {MAILLOG_LITERAL("BDAT"), REJECT_DATA},
	    {MAILLOG_LITERAL("END-OF-MESSAGE"), REJECT_EOM},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (maillog_view_equal(places[i].where, where))
			return places[i].phase;
	return REJECT_OTHER;
}

/* The first digit of the reply; content is refused for good unless told
 * otherwise, a session that ends without a reply of its own is not. */
static enum metric_reject_class
class_of(const struct maillog_record *record, bool is_content)
{
	struct maillog_view code = record->fields[MAILLOG_CODE];

	if (code.size == 0)
		code = record->fields[MAILLOG_DSN];
	if (code.size == 0)
		return is_content ? REJECT_PERMANENT : REJECT_TEMPORARY;
	return *code.at == '4' ? REJECT_TEMPORARY : REJECT_PERMANENT;
}

/* cleanup(8) also refuses what came otherwise. */
static bool
is_smtp(const struct maillog_record *record)
{
	static const struct maillog_view word = MAILLOG_LITERAL("SMTP");

	return record->program != MAILLOG_PROGRAM_CLEANUP ||
	       maillog_view_find(record->fields[MAILLOG_PROTO], word) !=
		   SIZE_MAX;
}

/* The queue file is too large, or something is wrong with it: smtpd(8) or
 * cleanup(8) finds it, or both. */
static bool
is_first_trouble(struct join *join, const struct log_input *input)
{
	const struct maillog_record *record = &input->record->record;
	const struct log_context *context = log_contexts_find(
	    join->contexts, input->instance, record->queue_id);

	return (record->program == MAILLOG_PROGRAM_CLEANUP ||
		   record->program == MAILLOG_PROGRAM_SMTPD) &&
	       context != NULL && context->origin == LOG_ORIGIN_CLIENT &&
	       (context->evidence & MESSAGE_REFUSED) == 0;
}

/* A full disk passes; what is too large or came round too often does not. */
static enum metric_reject_class
class_of_trouble(const struct maillog_record *record)
{
	static const struct maillog_view too_large =
	    MAILLOG_LITERAL("queue file size limit exceeded");
	static const struct maillog_view refused =
	    MAILLOG_LITERAL("message rejected: ");
	struct maillog_view text = record->fields[MAILLOG_TEXT];

	return maillog_view_begins(text, too_large) ||
		       maillog_view_begins(text, refused)
		   ? REJECT_PERMANENT
		   : REJECT_TEMPORARY;
}

/* The label set of a line; -1: it is no refusal. */
static int
set_of(struct join *join, const struct log_input *input)
{
	const struct maillog_record *record = &input->record->record;
	bool is_refused = record->action == MAILLOG_REJECT && is_smtp(record);

	switch (record->kind) {
	case MAILLOG_RESTRICTION:
	case MAILLOG_MILTER:
	case MAILLOG_PROXY:
		return is_refused ? (int)label_set(
					phase_of(record->fields[MAILLOG_WHERE]),
					class_of(record, false))
				  : -1;
	case MAILLOG_CONTENT:
	case MAILLOG_MILTER_CONTENT:
		return is_refused ? (int)label_set(
					REJECT_CONTENT, class_of(record, true))
				  : -1;
	case MAILLOG_REFUSED:
		return is_first_trouble(join, input)
			   ? (int)label_set(
				 REJECT_EOM, class_of_trouble(record))
			   : -1;
	default:
		return -1;
	}
}

int
refusal_in_line(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	int set = set_of(join, input);
	struct day_file *file;

	if (set < 0 || ((unsigned)set / REJECTS == REJECT_RCPT &&
			   input->wall_ns < join->counted_by_log_wall_ns))
		return 0;
	file = store_file(join->store, input->wall_ns, reason);
	if (file == NULL)
		return -1;
	if (!day_file_has(file, input->source, input->position))
		effect_count(file, METRIC_SMTP_REJECTS, (unsigned)set,
		    input->record->record.repeats);
	return 0;
}

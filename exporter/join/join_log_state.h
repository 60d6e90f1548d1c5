/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join_log_state: what the parts of the join that read Postfix's log share.
 * Included by join_log*.c only.
 */
#ifndef EXPORTER_JOIN_JOIN_LOG_STATE_H
#define EXPORTER_JOIN_JOIN_LOG_STATE_H

#include "exporter/join/evidence.h"
#include "exporter/join/join_state.h"
#include "exporter/join/log_context.h"
#include "exporter/read/log_record.h"

/* What Postfix generates itself, or gets from this machine, may be told only
 * later to continue another message: by the line "queued as NEW" or "forwarded
 * as NEW" of the one that it was before, which smtp(8) logs when the content
 * filter has answered it. A filter answers after Postfix has taken the mail
 * from it, as late as it likes: it may have a log or a database to write to
 * first. Taken for a message of its own too early, the mail counts twice, and
 * what it was before ends as handed off. A decision of an smtpd (DISCARD) waits
 * likewise from the end of its session on for what the milter tells of it.
 * Hence seconds, by the log's own time, which may have whole ones. When no
 * lines come it goes by the clock, and longer: loggers may keep lines back for
 * a second. So what waits shows after 5 s on a quiet log; all other mail at
 * once, because a milter or another host brought it. */
#define LINK_WAIT_NS (3 * SECOND_NS)
#define IDLE_WAIT_NS (5 * SECOND_NS)

/* A line to apply. */
struct log_input {
	const char *source;
	const char *instance;
	const struct log_record *record; /* NULL: only time has passed */
	int64_t wall_ns;                 /* of the line; precision likewise */
	int64_t precision_ns;
	/* Of the line that is read now, which is a later one when `record` had
	 * to wait: effects belong to this position. Zero: to none. */
	struct journal_position position;
	int64_t now_ns;
	/* It was applied before, to what is told anew. */
	bool is_retold;
};

/* Finds the message of a line about a queue id that has no context. Returns 1,
 * 0, or -1. */
int join_log_find(struct join *join, const struct log_input *input,
    struct maillog_view queue_id, struct tracked **message_r,
    struct reason *reason);

/* Finds the message that a context is about, by its queue id or by the one
 * that it had before. Returns 1, 0, or -1. */
int join_log_resolve(struct join *join, const struct log_input *input,
    struct log_context *context, struct tracked **message_r,
    struct reason *reason);

/* For a context that begins with what cleanup(8) says: if the line was read
 * before a crash, looks for the message of which it is not the first. Returns
 * 0, or -1. */
int join_log_resume(struct join *join, const struct log_input *input,
    struct log_context *context, struct reason *reason);

/* Only by its queue id and in memory; NULL: there is none. */
struct tracked *join_log_known(
    struct join *join, const struct log_context *context);

/* Adds a message for a context of which nobody else knows. `previous` is that
 * of which it tells, NULL: none. */
int join_log_create(struct join *join, const struct log_context *context,
    const struct uuid *previous, struct tracked **message_r,
    struct reason *reason);

/* Applies what a context has to its message and removes it. */
int join_log_bind(struct join *join, const struct log_input *input,
    struct log_context *context, struct tracked *message,
    struct reason *reason);

/* Resolves or creates a context's message, if there is reason to, and binds
 * it; otherwise the context waits for a line. */
int join_log_flush(struct join *join, const struct log_input *input,
    struct log_context *context, struct reason *reason);

/* Makes a context's queue id a further one of `message`. */
int join_log_continue(struct join *join, const struct log_context *context,
    struct tracked *message, struct reason *reason);

/* Applies a line about a message in the queue. */
int join_log_line(struct join *join, const struct log_input *input,
    struct tracked *message, struct reason *reason);
int join_log_delivery(struct join *join, const struct log_input *input,
    struct tracked *message, struct reason *reason);

/* Whether the message's file has what is applied now. */
bool join_log_is_applied(
    const struct log_input *input, const struct tracked *message);

/* One of its queue ids is gone: `how` is evidence once all of them are. */
int join_log_removed(struct join *join, struct tracked *message,
    const char *queue_id, uint32_t how, struct reason *reason);

/* Sets or takes back evidence of a message. */
int join_log_evidence(struct join *join, struct tracked *message, uint32_t set,
    uint32_t clear, struct reason *reason);

/* A message was removed: how many postsuper names. */
void join_log_note_removed(struct join *join, const struct log_input *input);

/* postsuper's summary: if it did more than it named, anybody may be meant. */
int join_log_summary(
    struct join *join, const struct log_input *input, struct reason *reason);

/* Lines are missing: whoever is open may have been in them. */
int join_log_lost(
    struct join *join, const struct log_input *input, struct reason *reason);

/* The same told by the follower. */
int join_log_gap(
    struct join *join, const struct log_input *input, struct reason *reason);

/* A bit for the queue id of a message that is the `number`th: 0 is the one that
 * it began with. */
#define JOIN_LOG_GONE_BITS (2u * MESSAGE_GONE_LAST - MESSAGE_GONE_FIRST)
uint32_t join_log_gone_bit(unsigned number);

/* Strings of a line, in the scratch arena. */
const char *join_log_string(struct join *join, struct maillog_view view);

#endif

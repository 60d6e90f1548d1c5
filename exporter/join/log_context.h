/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_context: what the log said of a queue id before it was known which
 * message that is.
 *
 * A generation of a queue id begins with `client=`, `uid=` or `message-id=`;
 * what these and others say is kept here until a line comes that is about a
 * message in the queue. Also decisions of an smtpd that has no queue id yet,
 * by its process id. Bounded in number; nothing is kept on disk: the log must
 * be read again from log_contexts_start(). Not thread-safe.
 */
#ifndef EXPORTER_JOIN_LOG_CONTEXT_H
#define EXPORTER_JOIN_LOG_CONTEXT_H

#include "exporter/read/log_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_contexts;

/* How the mail came in. */
enum log_origin {
	LOG_ORIGIN_INTERNAL, /* nothing says: a bounce, a forward, a probe */
	LOG_ORIGIN_CLIENT,   /* smtpd, qmqpd */
	LOG_ORIGIN_PICKUP    /* sendmail(1), postsuper -r */
};

/* A line that waits for its message. */
struct log_pending {
	char *tag;
	char *text;
	int64_t pid;
	bool is_cut;
	int64_t wall_ns;
	int64_t precision_ns;
	struct journal_position position;
	struct journal_position start;
};

struct log_context {
	const char *source;   /* of the first line; the source's string */
	const char *instance; /* log_instances' string */
	char *queue_id;
	struct journal_position start; /* before the first line */
	int64_t begin_wall_ns;
	int64_t precision_ns;
	enum log_origin origin;
	/* When the message began of which the first line, read again, is not
	 * the first; 0: it is the first. */
	int64_t resumed_since_wall_ns;
	int64_t pid;     /* of the smtpd; 0: of none */
	bool is_requeue; /* orig_queue_id is of postsuper -r */
	bool is_local;   /* the client is this machine */
	bool has_message_id;
	bool is_probe;
	bool is_busy;        /* its message is being looked for, or told */
	bool is_store_asked; /* whether it knows the message: it does not */
	char *orig_queue_id;
	char *client_name;
	char *client_address;
	char *sasl_method;
	char *sasl_user;
	char *message_id;
	char *sender;
	char *decided_for; /* the recipient of a decision; NULL: all */
	uint32_t evidence; /* of the message; see fate.h */
	struct log_pending *pending;
	size_t pending_count;
	/* Until then it may wait, by the log's time and by the clock; 0: it
	 * waits for a line. */
	int64_t due_wall_ns;
	int64_t due_ns;
};

struct log_contexts *log_contexts_new(void);
void log_contexts_clear(struct log_contexts *contexts);
void log_contexts_free(struct log_contexts **contexts);

/* NULL: there is none. */
struct log_context *log_contexts_find(struct log_contexts *contexts,
    const char *instance, struct maillog_view queue_id);

/* A new, empty one that begins with `record`; there must be none. */
struct log_context *log_contexts_begin(struct log_contexts *contexts,
    const char *source, const char *instance, struct maillog_view queue_id,
    const struct log_record *record);

/* Gives a context another queue id, which must be free. */
void log_contexts_rename(struct log_contexts *contexts,
    struct log_context *context, struct maillog_view queue_id);

/* Sets *text_r, a member of a context, to a copy; empty: leaves it. */
void log_context_set(char **text_r, struct maillog_view view);

/* Sets the sender, who may be the empty one. */
void log_context_set_sender(
    struct log_context *context, struct maillog_view sender);

/* Adds evidence to a context. */
void log_contexts_decide(struct log_contexts *contexts,
    struct log_context *context, uint32_t evidence);

/* Keeps a line for later. */
void log_context_keep(
    struct log_context *context, const struct log_record *record);

/* What was kept, as it was but for the line's host and time. */
void log_context_read(
    const struct log_pending *pending, struct log_record *record_r);

/* From now on it is due at the given times. */
void log_contexts_set_due(struct log_contexts *contexts,
    struct log_context *context, int64_t due_wall_ns, int64_t due_ns);

/* Likewise those that this smtpd has decided on. */
void log_contexts_set_decided_due(struct log_contexts *contexts,
    const char *instance, int64_t pid, int64_t due_wall_ns, int64_t due_ns);

/* The context that is due first; NULL: none is. */
struct log_context *log_contexts_first_due(struct log_contexts *contexts);

/* The one that began first; NULL: there is none. */
struct log_context *log_contexts_oldest(struct log_contexts *contexts);

size_t log_contexts_count(const struct log_contexts *contexts);

void log_contexts_remove(
    struct log_contexts *contexts, struct log_context *context);

/* Where a source must be read again to have its contexts again: the start of
 * the oldest one, or `position`, up to which it was read. */
struct journal_position log_contexts_start(struct log_contexts *contexts,
    const char *source, struct journal_position position);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Postfix's log, line by line: what comes before a message is committed is
 * kept as the context of its queue id, the rest is about a message. Called by
 * ingest, on its thread.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "exporter/join/join_log_state.h"
#include "exporter/join/lmtp_sessions.h"
#include "exporter/join/log_verdict.h"
#include "exporter/join/open_messages.h"
#include "exporter/join/refusal.h"
#include "exporter/maillog/log_instances.h"
#include "exporter/metrics/effect.h"
#include "exporter/read/log_trust_record.h"

/* Nothing has followed for so long, by the log's time: it is forgotten. */
#define CONTEXT_MAX_NS (3600 * SECOND_NS)
/* Beyond this many the oldest is forgotten. */
#define CONTEXTS_MAX 100000

/* An smtpd without a queue id is known by its process id. */
struct process_name {
	char text[32];
};

static struct maillog_view
process_name(const struct log_record *record, struct process_name *name)
{
	int size = snprintf(name->text, sizeof(name->text), "#%lld",
	    (long long)record->line.pid);

	return (struct maillog_view){name->text, (size_t)size};
}

static struct log_context *
find_context(struct join *join, const struct log_input *input)
{
	return log_contexts_find(
	    join->contexts, input->instance, input->record->record.queue_id);
}

static struct log_context *
begin_context(struct join *join, const struct log_input *input,
    struct maillog_view queue_id)
{
	return log_contexts_begin(join->contexts, input->source,
	    input->instance, queue_id, input->record);
}

static void
set_due(struct join *join, const struct log_input *input,
    struct log_context *context)
{
	if (context->due_ns == 0)
		log_contexts_set_due(join->contexts, context,
		    input->wall_ns + LINK_WAIT_NS,
		    input->now_ns + IDLE_WAIT_NS);
}

/* What was decided on is often not heard of again. While its SMTP session goes
 * on, the milter may still have to tell of it. */
static int
decision_may_be_due(struct join *join, const struct log_input *input,
    struct log_context *context, struct reason *reason)
{
	struct tracked *message;
	int found = 0;

	if (context->evidence == 0 || *context->queue_id == '#')
		return 0;
	if (context->origin != LOG_ORIGIN_PICKUP)
		found =
		    join_log_resolve(join, input, context, &message, reason);
	if (found < 0)
		return -1;
	context->is_store_asked = false;
	if (found == 1)
		open_messages_settle(join->messages, message);
	if (found == 1 || context->origin == LOG_ORIGIN_PICKUP)
		set_due(join, input, context);
	return 0;
}

/* An earlier generation's context ends where a later one begins. */
static int
end_context(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	struct log_context *context = find_context(join, input);

	if (context == NULL)
		return 0;
	if (join_log_flush(join, input, context, reason) != 0)
		return -1;
	context = find_context(join, input);
	if (context != NULL)
		log_contexts_remove(join->contexts, context);
	return 0;
}

/* What the smtpd decided before it had a queue id is about this one. */
static struct log_context *
take_process_context(struct join *join, const struct log_input *input)
{
	struct process_name name;
	struct log_context *context = log_contexts_find(join->contexts,
	    input->instance, process_name(input->record, &name));

	if (context == NULL)
		return NULL;
	log_contexts_rename(
	    join->contexts, context, input->record->record.queue_id);
	context->begin_wall_ns = input->wall_ns;
	context->precision_ns = input->precision_ns;
	return context;
}

static int
begin_client(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	const struct maillog_record *record = &input->record->record;
	const struct maillog_view *fields = record->fields;
	struct maillog_view name, address;
	struct log_context *context;

	if (record->queue_id.size == 0)
		return 0;
	if (end_context(join, input, reason) != 0)
		return -1;
	context = take_process_context(join, input);
	if (context == NULL)
		context = begin_context(join, input, record->queue_id);
	context->origin = LOG_ORIGIN_CLIENT;
	context->pid = input->record->line.pid;
	context->is_local =
	    log_verdict_is_loopback(fields[MAILLOG_CLIENT_PEER]);
	maillog_peer_split(fields[MAILLOG_CLIENT_PEER], &name, &address);
	log_context_set(&context->client_name, name);
	log_context_set(&context->client_address, address);
	log_context_set(&context->sasl_method, fields[MAILLOG_SASL_METHOD]);
	log_context_set(&context->sasl_user, fields[MAILLOG_SASL_USERNAME]);
	log_context_set(&context->orig_queue_id, fields[MAILLOG_ORIG_QUEUE_ID]);
	return decision_may_be_due(join, input, context, reason);
}

static int
begin_pickup(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	const struct maillog_record *record = &input->record->record;
	struct log_context *context;

	if (end_context(join, input, reason) != 0)
		return -1;
	context = begin_context(join, input, record->queue_id);
	context->origin = LOG_ORIGIN_PICKUP;
	log_context_set(&context->sender, record->fields[MAILLOG_FROM]);
	log_context_set(
	    &context->orig_queue_id, record->fields[MAILLOG_ORIG_ID]);
	context->is_requeue = context->orig_queue_id != NULL;
	return 0;
}

static int
note_message_id(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	const struct maillog_record *record = &input->record->record;
	struct log_context *context = find_context(join, input);

	if (context == NULL) {
		context = begin_context(join, input, record->queue_id);
		if (join_log_resume(join, input, context, reason) != 0)
			return -1;
	}
	log_context_set(
	    &context->message_id, record->fields[MAILLOG_MESSAGE_ID_TEXT]);
	context->has_message_id = true;
	return decision_may_be_due(join, input, context, reason);
}

/* Restrictions, checks, milters. Without a queue id the decision is on what the
 * same smtpd receives next. */
static int
note_decision(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	const struct maillog_record *record = &input->record->record;
	uint32_t evidence = log_verdict_decision(record);
	struct maillog_view name = record->queue_id;
	struct process_name process;
	struct log_context *context;

	if (evidence == 0)
		return 0;
	if (name.size == 0)
		name = process_name(input->record, &process);
	context = log_contexts_find(join->contexts, input->instance, name);
	if (context == NULL)
		context = begin_context(join, input, name);
	log_contexts_decide(join->contexts, context, evidence);
	log_context_set(&context->decided_for, record->fields[MAILLOG_TO]);
	return decision_may_be_due(join, input, context, reason);
}

/* An SMTP session begins or ends: what it decided without a queue id came to
 * nothing, the rest is due soon. */
static int
forget_process(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	struct process_name name;
	struct log_context *context = log_contexts_find(join->contexts,
	    input->instance, process_name(input->record, &name));

	if (context != NULL)
		log_contexts_remove(join->contexts, context);
	log_contexts_set_decided_due(join->contexts, input->instance,
	    input->record->line.pid, input->wall_ns + LINK_WAIT_NS,
	    input->now_ns + IDLE_WAIT_NS);
	return 0;
}

/* Whether a context whose message is not known should wait for more. */
static bool
should_wait(const struct log_input *input, const struct log_context *context)
{
	const struct maillog_record *record = &input->record->record;
	bool may_continue =
	    context->orig_queue_id == NULL &&
	    (context->origin == LOG_ORIGIN_INTERNAL || context->is_local);

	if (record->kind != MAILLOG_DELIVERY)
		return true;
	return context->is_probe ||
	       (may_continue &&
		   input->wall_ns < context->begin_wall_ns + LINK_WAIT_NS);
}

/* Nobody knows the message yet. */
static int
about_unknown(struct join *join, const struct log_input *input,
    struct log_context *context, struct reason *reason)
{
	const struct maillog_record *record = &input->record->record;
	bool should_keep;

	if (record->kind == MAILLOG_ACTIVE)
		log_context_set_sender(context, record->fields[MAILLOG_FROM]);
	if (record->kind == MAILLOG_DELIVERY &&
	    log_verdict_delivery(record).is_probe)
		context->is_probe = true;
	should_keep = should_wait(input, context);
	log_context_keep(context, input->record);
	set_due(join, input, context);
	return should_keep ? 0 : join_log_flush(join, input, context, reason);
}

static int
about_context(struct join *join, const struct log_input *input,
    struct log_context *context, struct reason *reason)
{
	struct tracked *message;
	int found = join_log_resolve(join, input, context, &message, reason);

	if (found < 0)
		return -1;
	if (found == 0)
		return about_unknown(join, input, context, reason);
	log_context_keep(context, input->record);
	if (join_log_bind(join, input, context, message, reason) != 0)
		return -1;
	open_messages_settle(join->messages, message);
	return 0;
}

static int
about_message(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	const struct maillog_record *record = &input->record->record;
	struct log_context *context = find_context(join, input);
	struct tracked *message;
	int found, result = 0;

	if (context != NULL)
		return about_context(join, input, context, reason);
	found = join_log_find(join, input, record->queue_id, &message, reason);
	if (found == 0 && (record->kind == MAILLOG_ACTIVE ||
			      record->kind == MAILLOG_DELIVERY))
		return about_unknown(join, input,
		    begin_context(join, input, record->queue_id), reason);
	if (found <= 0)
		return found;
	if (!join_log_is_applied(input, message))
		result = join_log_line(join, input, message, reason);
	open_messages_settle(join->messages, message);
	return result;
}

static int
note_removed(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	join_log_note_removed(join, input);
	return about_message(join, input, reason);
}

typedef int handler(
    struct join *join, const struct log_input *input, struct reason *reason);

static handler *const handlers[MAILLOG_KINDS] = {
    [MAILLOG_CLIENT] = begin_client,
    [MAILLOG_PICKUP] = begin_pickup,
    [MAILLOG_MESSAGE_ID] = note_message_id,
    [MAILLOG_RESTRICTION] = note_decision,
    [MAILLOG_CONTENT] = note_decision,
    [MAILLOG_MILTER] = note_decision,
    [MAILLOG_MILTER_CONTENT] = note_decision,
    [MAILLOG_REFUSED] = note_decision,
    [MAILLOG_CONNECT] = forget_process,
    [MAILLOG_DISCONNECT] = forget_process,
    [MAILLOG_ACTIVE] = about_message,
    [MAILLOG_DELIVERY] = about_message,
    [MAILLOG_EXPIRED] = about_message,
    [MAILLOG_REMOVED] = note_removed,
    [MAILLOG_CORRUPT] = about_message,
    [MAILLOG_HELD] = about_message,
    [MAILLOG_RELEASED] = about_message,
    [MAILLOG_NOTIFICATION] = about_message,
    [MAILLOG_SUMMARY] = join_log_summary,
    [MAILLOG_LOST] = join_log_lost,
};

/* Nothing has followed. */
static int
forget_oldest(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	struct log_context *context = log_contexts_oldest(join->contexts);

	if (context->queue_id[0] != '#' &&
	    join_log_flush(join, input, context, reason) != 0)
		return -1;
	if (log_contexts_oldest(join->contexts) == context)
		log_contexts_remove(join->contexts, context);
	return 0;
}

/* Lets what has waited long enough be what it seems, and forgets what nothing
 * has followed. */
static int
flush_due(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	struct log_context *context;

	while ((context = log_contexts_first_due(join->contexts)) != NULL &&
	       (input->record != NULL ? context->due_wall_ns < input->wall_ns
				      : context->due_ns <= input->now_ns))
		if (join_log_flush(join, input, context, reason) != 0)
			return -1;
	while ((context = log_contexts_oldest(join->contexts)) != NULL &&
	       (context->begin_wall_ns + CONTEXT_MAX_NS < input->wall_ns ||
		   log_contexts_count(join->contexts) > CONTEXTS_MAX))
		if (forget_oldest(join, input, reason) != 0)
			return -1;
	return 0;
}

static int
apply_line(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	handler *handle = handlers[input->record->record.kind];
	int result = flush_due(join, input, reason);

	if (result == 0 &&
	    input->record->record.program == MAILLOG_PROGRAM_DOVECOT)
		return join_dovecot_line(
		    join, input->source, input->record, input->now_ns, reason);
	if (result == 0 && handle != NULL)
		result = handle(join, input, reason);
	return result;
}

int
join_apply_log(struct join *join, const char *source,
    const struct log_record *record, int64_t now_ns, struct reason *reason)
{
	const struct log_input input = {
	    .source = source,
	    .instance =
		log_instances_find(join->instances, record->line.syslog_name),
	    .record = record,
	    .wall_ns = record->wall_ns,
	    .precision_ns = record->precision_ns,
	    .position = record->position,
	    .now_ns = now_ns,
	};
	int result;

	if (record->wall_ns > join->log_wall_ns)
		join->log_wall_ns = record->wall_ns;
	if (join->trust != NULL)
		log_trust_record(join->trust, input.instance, record);
	if (record->gap != LOG_GAP_NONE)
		result = join_log_gap(join, &input, reason);
	else
		result = refusal_in_line(join, &input, reason) != 0
			     ? -1
			     : apply_line(join, &input, reason);
	arena_reset(join->scratch);
	return result;
}

int
join_log_expire(struct join *join, int64_t now_ns, struct reason *reason)
{
	struct log_input input = {
	    .source = "",
	    .wall_ns = join->log_wall_ns,
	    .now_ns = now_ns,
	};

	if (join->instances == NULL)
		return 0;
	return flush_due(join, &input, reason);
}

int64_t
join_log_deadline(const struct join *join)
{
	const struct log_context *context =
	    log_contexts_first_due(join->contexts);

	return context != NULL ? context->due_ns : 0;
}

struct journal_position
join_log_start(const struct join *join, const char *source,
    struct journal_position position)
{
	return lmtp_sessions_start(join->sessions, source,
	    log_contexts_start(join->contexts, source, position));
}

bool
join_log_is_ready(struct join *join, const struct log_record *record)
{
	const char *instance =
	    log_instances_find(join->instances, record->line.syslog_name);
	struct log_context *context;
	const struct maillog_view id = record->record.queue_id;
	struct queue_id_key key = {instance, NULL, record->wall_ns};
	bool is_known;

	if (record->gap != LOG_GAP_NONE ||
	    handlers[record->record.kind] == NULL ||
	    log_record_is_preliminary(record))
		return true;
	context = log_contexts_find(join->contexts, instance, id);
	if (context != NULL)
		return join_log_known(join, context) != NULL;
	key.queue_id = join_log_string(join, id);
	is_known = open_messages_find_queue_id(
		       join->messages, &key, NULL, NULL) != NULL;
	arena_reset(join->scratch);
	return is_known;
}

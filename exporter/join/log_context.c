/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table by instance and queue id; lists in the order of beginning, of
 * those that are due, in the order in which they became so, and of those that
 * something was decided on. Owned by the join, on the ingest thread.
 */
#include "exporter/join/log_context.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <uthash.h>

#include "base/memory.h"

#define QUEUE_ID_MAX 64

/* `instance` is compared as a pointer: log_instances has each once. */
struct key {
	const char *instance;
	char queue_id[QUEUE_ID_MAX];
};

struct node {
	struct log_context context;
	struct key key;
	bool is_due;
	TAILQ_ENTRY(node) by_begin;
	TAILQ_ENTRY(node) by_due;
	TAILQ_ENTRY(node) by_decision;
	UT_hash_handle hh;
};

TAILQ_HEAD(node_list, node);

struct log_contexts {
	struct node *table;
	struct node_list nodes;
	struct node_list due;
	struct node_list decided;
};

struct log_contexts *
log_contexts_new(void)
{
	struct log_contexts *contexts = memory_zeroed(1, sizeof(*contexts));

	TAILQ_INIT(&contexts->nodes);
	TAILQ_INIT(&contexts->due);
	TAILQ_INIT(&contexts->decided);
	return contexts;
}

void
log_contexts_clear(struct log_contexts *contexts)
{
	struct node *node;

	while ((node = TAILQ_FIRST(&contexts->nodes)) != NULL)
		log_contexts_remove(contexts, &node->context);
}

void
log_contexts_free(struct log_contexts **contexts)
{
	if (*contexts == NULL)
		return;
	log_contexts_clear(*contexts);
	free(*contexts);
	*contexts = NULL;
}

/* The context is the node's first member. */
static struct node *
node_of(struct log_context *context)
{
	return (struct node *)(void *)context;
}

static void
key_make(struct key *key, const char *instance, struct maillog_view queue_id)
{
	size_t size = queue_id.size;

	memset(key, 0, sizeof(*key));
	if (size > sizeof(key->queue_id) - 1)
		size = sizeof(key->queue_id) - 1;
	key->instance = instance;
	memcpy(key->queue_id, queue_id.at, size);
}

struct log_context *
log_contexts_find(struct log_contexts *contexts, const char *instance,
    struct maillog_view queue_id)
{
	struct node *node;
	struct key key;

	key_make(&key, instance, queue_id);
	HASH_FIND(hh, contexts->table, &key, sizeof(key), node);
	return node != NULL ? &node->context : NULL;
}

static void
set_key(struct log_contexts *contexts, struct node *node,
    struct maillog_view queue_id)
{
	key_make(&node->key, node->context.instance, queue_id);
	node->context.queue_id = node->key.queue_id;
	HASH_ADD(hh, contexts->table, key, sizeof(node->key), node);
}

struct log_context *
log_contexts_begin(struct log_contexts *contexts, const char *source,
    const char *instance, struct maillog_view queue_id,
    const struct log_record *record)
{
	struct node *node = memory_zeroed(1, sizeof(*node));
	struct log_context *context = &node->context;

	context->source = source;
	context->instance = instance;
	context->start = record->start;
	context->begin_wall_ns = record->wall_ns;
	context->precision_ns = record->precision_ns;
	set_key(contexts, node, queue_id);
	TAILQ_INSERT_TAIL(&contexts->nodes, node, by_begin);
	return context;
}

void
log_contexts_rename(struct log_contexts *contexts, struct log_context *context,
    struct maillog_view queue_id)
{
	struct node *node = node_of(context);

	HASH_DEL(contexts->table, node);
	set_key(contexts, node, queue_id);
}

void
log_context_set(char **text_r, struct maillog_view view)
{
	if (view.size == 0)
		return;
	free(*text_r);
	*text_r = memory_zeroed(view.size + 1, 1);
	memcpy(*text_r, view.at, view.size);
}

void
log_context_set_sender(struct log_context *context, struct maillog_view sender)
{
	free(context->sender);
	context->sender = memory_zeroed(sender.size + 1, 1);
	if (sender.size > 0)
		memcpy(context->sender, sender.at, sender.size);
}

void
log_context_keep(struct log_context *context, const struct log_record *record)
{
	struct log_pending *pending;

	context->pending = memory_resize(context->pending,
	    context->pending_count + 1, sizeof(*context->pending));
	pending = &context->pending[context->pending_count++];
	*pending = (struct log_pending){
	    .pid = record->line.pid,
	    .is_cut = record->record.is_cut,
	    .wall_ns = record->wall_ns,
	    .precision_ns = record->precision_ns,
	    .position = record->position,
	    .start = record->start,
	};
	log_context_set(&pending->tag, record->line.tag);
	log_context_set(&pending->text, record->line.text);
}

static struct maillog_view
view(const char *text)
{
	return (struct maillog_view){text, text != NULL ? strlen(text) : 0};
}

void
log_context_read(const struct log_pending *pending, struct log_record *record_r)
{
	*record_r = (struct log_record){
	    .wall_ns = pending->wall_ns,
	    .precision_ns = pending->precision_ns,
	    .position = pending->position,
	    .start = pending->start,
	};
	maillog_line_set_tag(&record_r->line, view(pending->tag));
	record_r->line.pid = pending->pid;
	record_r->line.text = view(pending->text);
	maillog_record_parse(&record_r->line, &record_r->record);
	record_r->record.is_cut |= pending->is_cut;
}

static void
unset_due(struct log_contexts *contexts, struct node *node)
{
	if (node->is_due)
		TAILQ_REMOVE(&contexts->due, node, by_due);
	node->is_due = false;
}

void
log_contexts_set_due(struct log_contexts *contexts, struct log_context *context,
    int64_t due_wall_ns, int64_t due_ns)
{
	struct node *node = node_of(context);

	unset_due(contexts, node);
	context->due_wall_ns = due_wall_ns;
	context->due_ns = due_ns;
	if (due_ns == 0)
		return;
	TAILQ_INSERT_TAIL(&contexts->due, node, by_due);
	node->is_due = true;
}

/* Decisions are few, and so are contexts that are not due or settled soon. */
void
log_contexts_set_decided_due(struct log_contexts *contexts,
    const char *instance, int64_t pid, int64_t due_wall_ns, int64_t due_ns)
{
	struct node *node;

	TAILQ_FOREACH(node, &contexts->decided, by_decision)
	if (node->context.instance == instance && node->context.pid == pid &&
	    !node->is_due)
		log_contexts_set_due(
		    contexts, &node->context, due_wall_ns, due_ns);
}

void
log_contexts_decide(struct log_contexts *contexts, struct log_context *context,
    uint32_t evidence)
{
	struct node *node = node_of(context);

	if (context->evidence == 0)
		TAILQ_INSERT_TAIL(&contexts->decided, node, by_decision);
	context->evidence |= evidence;
}

struct log_context *
log_contexts_first_due(struct log_contexts *contexts)
{
	struct node *node = TAILQ_FIRST(&contexts->due);

	return node != NULL ? &node->context : NULL;
}

struct log_context *
log_contexts_oldest(struct log_contexts *contexts)
{
	struct node *node = TAILQ_FIRST(&contexts->nodes);

	return node != NULL ? &node->context : NULL;
}

size_t
log_contexts_count(const struct log_contexts *contexts)
{
	return HASH_COUNT(contexts->table);
}

void
log_contexts_remove(struct log_contexts *contexts, struct log_context *context)
{
	struct node *node = node_of(context);

	HASH_DEL(contexts->table, node);
	TAILQ_REMOVE(&contexts->nodes, node, by_begin);
	unset_due(contexts, node);
	if (context->evidence != 0)
		TAILQ_REMOVE(&contexts->decided, node, by_decision);
	for (size_t i = 0; i < context->pending_count; i++) {
		free(context->pending[i].tag);
		free(context->pending[i].text);
	}
	free(context->pending);
	free(context->orig_queue_id);
	free(context->client_name);
	free(context->client_address);
	free(context->sasl_method);
	free(context->sasl_user);
	free(context->message_id);
	free(context->sender);
	free(context->decided_for);
	free(node);
}

struct journal_position
log_contexts_start(struct log_contexts *contexts, const char *source,
    struct journal_position position)
{
	struct node *node;

	TAILQ_FOREACH(node, &contexts->nodes, by_begin)
	if (strcmp(node->context.source, source) == 0)
		return node->context.start;
	return position;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table by session id. A session that has lines is held, in the order in
 * which they came; one that only has recipients, or was let go, is kept until
 * there are too many. Owned by the join, on the ingest thread.
 */
#include "exporter/join/lmtp_sessions.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <uthash.h>

#include "base/memory.h"

/* Sessions that are not held: replies whose lines come late. */
#define KEPT_MAX 10000
/* A Sieve script does not do more with a mail, nor Postfix name an address more
 * often. */
#define FILINGS_MAX 64
#define RECIPIENTS_MAX 1000

/* The session is the node's first member. */
struct node {
	struct lmtp_session session;
	char *id;
	char **names; /* of the filings */
	const char *source;
	struct journal_position start;
	bool is_held; /* else it is kept */
	bool is_unasked;
	TAILQ_ENTRY(node) by_age;
	TAILQ_ENTRY(node) by_question;
	UT_hash_handle hh;
};

TAILQ_HEAD(node_list, node);

struct lmtp_sessions {
	struct node *table;
	struct node_list held;
	struct node_list kept;
	struct node_list unasked;
	size_t held_count;
	size_t kept_count;
	size_t waiting_count;
};

struct lmtp_sessions *
lmtp_sessions_new(void)
{
	struct lmtp_sessions *sessions = memory_zeroed(1, sizeof(*sessions));

	TAILQ_INIT(&sessions->held);
	TAILQ_INIT(&sessions->kept);
	TAILQ_INIT(&sessions->unasked);
	return sessions;
}

static struct node *
node_of(struct lmtp_session *session)
{
	return (struct node *)(void *)session;
}

static bool
is_waiting(const struct node *node)
{
	return node->is_held && node->session.recipient_count == 0;
}

static void
unlink_age(struct lmtp_sessions *sessions, struct node *node)
{
	sessions->waiting_count -= is_waiting(node);
	if (node->is_held) {
		TAILQ_REMOVE(&sessions->held, node, by_age);
		sessions->held_count--;
	} else {
		TAILQ_REMOVE(&sessions->kept, node, by_age);
		sessions->kept_count--;
	}
}

static void
hold(struct lmtp_sessions *sessions, struct node *node)
{
	node->is_held = true;
	TAILQ_INSERT_TAIL(&sessions->held, node, by_age);
	sessions->held_count++;
	sessions->waiting_count += is_waiting(node);
}

void
lmtp_sessions_set_asked(
    struct lmtp_sessions *sessions, struct lmtp_session *session)
{
	struct node *node = node_of(session);

	if (node->is_unasked)
		TAILQ_REMOVE(&sessions->unasked, node, by_question);
	node->is_unasked = false;
}

static void
forget(struct lmtp_sessions *sessions, struct node *node)
{
	struct lmtp_session *session = &node->session;

	lmtp_sessions_set_asked(sessions, session);
	unlink_age(sessions, node);
	HASH_DEL(sessions->table, node);
	for (size_t i = 0; i < session->filing_count; i++)
		free(node->names[i]);
	free(node->names);
	free(session->filings);
	free(session->recipients);
	free(node->id);
	free(node);
}

static void
keep(struct lmtp_sessions *sessions, struct node *node)
{
	node->is_held = false;
	TAILQ_INSERT_TAIL(&sessions->kept, node, by_age);
	if (++sessions->kept_count > KEPT_MAX)
		forget(sessions, TAILQ_FIRST(&sessions->kept));
}

void
lmtp_sessions_clear(struct lmtp_sessions *sessions)
{
	struct node *node;

	while ((node = TAILQ_FIRST(&sessions->held)) != NULL)
		forget(sessions, node);
	while ((node = TAILQ_FIRST(&sessions->kept)) != NULL)
		forget(sessions, node);
}

void
lmtp_sessions_free(struct lmtp_sessions **sessions)
{
	if (*sessions == NULL)
		return;
	lmtp_sessions_clear(*sessions);
	free(*sessions);
	*sessions = NULL;
}

static struct node *
find(struct lmtp_sessions *sessions, struct maillog_view id)
{
	struct node *node;

	HASH_FIND(hh, sessions->table, id.at, id.size, node);
	return node;
}

struct lmtp_session *
lmtp_sessions_find(struct lmtp_sessions *sessions, struct maillog_view id)
{
	struct node *node = find(sessions, id);

	return node != NULL ? &node->session : NULL;
}

/* NULL for an empty one. */
static char *
copy(struct maillog_view view)
{
	char *text;

	if (view.size == 0)
		return NULL;
	text = memory_zeroed(view.size + 1, 1);
	memcpy(text, view.at, view.size);
	return text;
}

/* In no list yet. */
static struct node *
add(struct lmtp_sessions *sessions, struct maillog_view id)
{
	struct node *node = memory_zeroed(1, sizeof(*node));

	node->id = copy(id);
	node->session.id = node->id;
	HASH_ADD_KEYPTR(hh, sessions->table, node->id, id.size, node);
	return node;
}

static bool
has_filing(const struct lmtp_session *session, const struct filing_line *line)
{
	for (size_t i = 0; i < session->filing_count; i++) {
		const char *name = session->filings[i].name;
		const struct maillog_view known = {
		    name, name != NULL ? strlen(name) : 0};

		if (session->filings[i].action == line->action &&
		    maillog_view_equal(known, line->name))
			return true;
	}
	return false;
}

/* Its first line. */
static void
begin_lines(struct lmtp_sessions *sessions, struct node *node,
    const struct filing_line *line)
{
	node->source = line->source;
	node->start = line->start;
	node->session.since_ns = line->now_ns;
	hold(sessions, node);
	if (node->session.recipient_count > 0)
		return;
	TAILQ_INSERT_TAIL(&sessions->unasked, node, by_question);
	node->is_unasked = true;
}

static void
append_filing(struct node *node, const struct filing_line *line)
{
	struct lmtp_session *session = &node->session;
	size_t count = session->filing_count + 1;

	session->filings =
	    memory_resize(session->filings, count, sizeof(*session->filings));
	node->names = memory_resize(node->names, count, sizeof(*node->names));
	node->names[count - 1] = copy(line->name);
	session->filings[count - 1] =
	    (struct filing_record){line->action, node->names[count - 1]};
	session->filing_count = count;
}

struct lmtp_session *
lmtp_sessions_add_line(
    struct lmtp_sessions *sessions, const struct filing_line *line)
{
	struct node *node = find(sessions, line->session);
	struct lmtp_session *session;

	if (node == NULL) {
		node = add(sessions, line->session);
		begin_lines(sessions, node, line);
	} else if (node->session.filing_count == 0) {
		unlink_age(sessions, node);
		begin_lines(sessions, node, line);
	}
	session = &node->session;
	if (session->filing_count == FILINGS_MAX || has_filing(session, line))
		return NULL;
	append_filing(node, line);
	return session;
}

static bool
has_recipient(const struct lmtp_session *session,
    const struct answered_recipient *recipient)
{
	for (size_t i = 0; i < session->recipient_count; i++)
		if (session->recipients[i].number == recipient->number &&
		    uuid_equal(
			&session->recipients[i].message, &recipient->message))
			return true;
	return false;
}

struct lmtp_session *
lmtp_sessions_add_recipient(struct lmtp_sessions *sessions,
    struct maillog_view id, const struct answered_recipient *recipient)
{
	struct node *node = find(sessions, id);
	struct lmtp_session *session;

	if (node == NULL) {
		node = add(sessions, id);
		keep(sessions, node);
	}
	session = &node->session;
	if (session->recipient_count == RECIPIENTS_MAX ||
	    has_recipient(session, recipient))
		return NULL;
	sessions->waiting_count -= is_waiting(node);
	session->recipients = memory_resize(session->recipients,
	    session->recipient_count + 1, sizeof(*session->recipients));
	session->recipients[session->recipient_count++] = *recipient;
	lmtp_sessions_set_asked(sessions, session);
	return session;
}

struct lmtp_session *
lmtp_sessions_first_unasked(struct lmtp_sessions *sessions)
{
	struct node *node = TAILQ_FIRST(&sessions->unasked);

	return node != NULL ? &node->session : NULL;
}

struct lmtp_session *
lmtp_sessions_first_held(struct lmtp_sessions *sessions)
{
	struct node *node = TAILQ_FIRST(&sessions->held);

	return node != NULL ? &node->session : NULL;
}

void
lmtp_sessions_let_go(
    struct lmtp_sessions *sessions, struct lmtp_session *session)
{
	struct node *node = node_of(session);

	if (session->recipient_count == 0) {
		forget(sessions, node);
		return;
	}
	unlink_age(sessions, node);
	keep(sessions, node);
}

size_t
lmtp_sessions_held(const struct lmtp_sessions *sessions)
{
	return sessions->held_count;
}

size_t
lmtp_sessions_waiting(const struct lmtp_sessions *sessions)
{
	return sessions->waiting_count;
}

struct journal_position
lmtp_sessions_start(struct lmtp_sessions *sessions, const char *source,
    struct journal_position position)
{
	struct node *node;

	TAILQ_FOREACH(node, &sessions->held, by_age)
	if (strcmp(node->source, source) == 0)
		return journal_position_compare(node->start, position) < 0
			   ? node->start
			   : position;
	return position;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join_fixture: scripts of events, and a join on a real store in a private
 * directory.
 *
 * A script has one event a line:
 *
 *     M a Q1 u1 u2          message `a` with queue id Q1 was accepted
 *     M!5 a Q1 u1           it ended in that phase (a number) instead
 *     M~2 a Q1 u1           the same two days ago;  M^1: forged stamps
 *     M@ a Q1 u1            its client authenticated
 *     D a Q1 u1=250         delivery: stamp of message `a`, queue id Q1
 *     M<b c Q2 u1           its stamp before was that of `b`
 *     D - - u1=250          without a stamp, without a queue id
 *     D+ a Q1 u1=250        more parts follow;  +D the next part of it
 *     D ? Q1 u1=250         a stamp of which nobody knows
 *     H                     a heartbeat of the milter
 *     A a                   an operator acknowledges the loss of message `a`
 *     L smtpd 7 Q1: text    a line of the log: program, process id, text
 *     L:out qmgr 8 text     of instance `out`;  L: rsyslogd 1 text: of none
 *     V s1 text             a line of Dovecot's own log about a session
 *     S 100                 nothing happens for so many seconds
 *     I 50                  from now on so many milliseconds from line to line
 *     X                     whatever waits has waited long enough
 *
 * A recipient is `local` (of example.test) or an address; `!u1` was rejected,
 * `u1=/550` was answered so at RCPT TO, `u1=` not after the data, `u1=250#s1`
 * as Dovecot answers in session s1, `u1=451:4.2.2` with an enhanced code.
 */
#ifndef TESTS_EXPORTER_JOIN_FIXTURE_H
#define TESTS_EXPORTER_JOIN_FIXTURE_H

#include "base/arena.h"
#include "base/log.h"
#include "base/reason.h"
#include "exporter/join/join.h"
#include "exporter/maillog/log_instances.h"
#include "exporter/metrics/metrics.h"
#include "exporter/read/log_record.h"
#include "exporter/read/log_trust.h"
#include "proto/journal_reader.h"
#include "proto/producer_counter.h"
#include "store/store.h"
#include "store/totals.h"

#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/unit.h"

#define SECOND_NS INT64_C(1000000000)
#define DAY_NS (86400 * SECOND_NS)
#define STEPS_MAX 2000
#define STAMP_WAIT_NS (60 * SECOND_NS)
#define STEP_BYTES 100 /* of a journal that is not there */

enum { MILTER, LMTP, MAILLOG, OPERATOR, DOVECOT, JOURNALS };

static const char *const journal_names[JOURNALS] = {
    "milter", "lmtp", "log", "operator", "dovecot"};

/* Where the logs must be read again from; see join_log_start(). */
#define LOG_START "log start"
#define DOVECOT_START "dovecot start"

struct step {
	int journal;
	struct event event;
	char *line; /* MAILLOG, DOVECOT */
	int64_t wall_ns;
	struct journal_position position;
};

struct script {
	struct arena *arena;
	struct step steps[STEPS_MAX];
	size_t count;
	uint64_t written[JOURNALS];
	int64_t start_wall_ns;
	int64_t ns;      /* since then */
	int64_t step_ns; /* from line to line */
	uint64_t segment;
	const struct message_event *messages[128]; /* by label */
	struct delivery_event last_delivery;
};

struct world {
	char directory[PATH_MAX];
	struct totals *totals;
	struct store *store;
	struct join *join;
	struct log_instances *instances; /* NULL: no log is read */
	/* As if it was kept with each commit. */
	struct log_trust *trust;
	bool reads_log;
	const char *maillog_instances; /* NULL: none named */
	const char *instance;          /* of the log; NULL: mx.test */
	int64_t precision_ns;          /* of the log's time */
	int64_t now_ns;                /* when something is applied */
	struct journal_position applied[JOURNALS];
};

static const struct segment_header fixture_segment = {
    .format = SEGMENT_FORMAT,
    .instance = "mx.test",
    .boot_id = {1, 2, 3},
    .program = "test",
};

/* A second passes from line to line unless the script says otherwise. */
static inline struct stamp
script_stamp(const struct script *script, int64_t days, int64_t ms)
{
	int64_t ns = script->ns + ms * 1000000;

	return (struct stamp){
	    script->start_wall_ns + ns - days * DAY_NS, 1000 * SECOND_NS + ns};
}

static inline char *
script_word(struct script *script, char **rest)
{
	return arena_string(script->arena, strtok_r(NULL, " ", rest));
}

static inline char *
script_queue_id(struct script *script, char **rest)
{
	char *word = script_word(script, rest);

	return strcmp(word, "-") == 0 ? NULL : word;
}

static inline char *
script_address(struct script *script, const char *word)
{
	char address[300];

	snprintf(address, sizeof(address), "%s%s", word,
	    strchr(word, '@') != NULL ? "" : "@example.test");
	return arena_string(script->arena, address);
}

static inline void
script_message_recipients(
    struct script *script, struct message_event *message, char **rest)
{
	char *word;

	while ((word = script_word(script, rest)) != NULL) {
		struct message_recipient *recipient =
		    arena_append(script->arena, &message->recipients,
			&message->recipient_count, sizeof(*recipient));

		recipient->rejected = *word == '!';
		if (recipient->rejected)
			recipient->reject_dsn = "5.1.1";
		recipient->address =
		    script_address(script, word + recipient->rejected);
		recipient->rcpt_at = message->mail_at;
	}
}

/* The number behind `mark` in a verb; 0 without it. */
static inline int
script_number(const char *verb, char mark)
{
	const char *at = strchr(verb, mark);

	return at != NULL ? atoi(at + 1) : 0;
}

static inline void
script_message(struct script *script, const char *verb, char **rest)
{
	struct step *step = &script->steps[script->count];
	struct message_event *message = &step->event.message;
	int64_t days = script_number(verb, '~');
	const char *label = script_word(script, rest);

	step->journal = MILTER;
	step->event.type = EVENT_MESSAGE;
	message->mail_at = script_stamp(script, days, 0);
	message->eom_at = script_stamp(script, days, 100);
	message->connect_at = message->helo_at = message->data_at =
	    message->content_at = message->mail_at;
	message->id = uuid_new(message->mail_at.wall_ns);
	message->ending = MESSAGE_ENDING_ACCEPTED;
	message->phase = MESSAGE_PHASE_EOM;
	message->client_address = "192.0.2.1";
	message->sasl_user = strchr(verb, '@') != NULL ? "alice" : NULL;
	message->forged_stamps = (uint32_t)script_number(verb, '^');
	message->sender = "sender@example.net";
	message->queue_id = script_queue_id(script, rest);
	if (strchr(verb, '<') != NULL)
		message->previous =
		    script->messages[(unsigned char)strchr(verb, '<')[1]]->id;
	if (strchr(verb, '!') != NULL) {
		message->ending = MESSAGE_ENDING_ABORTED;
		message->phase = (enum message_phase)script_number(verb, '!');
		message->end_at = message->eom_at;
		message->eom_at = (struct stamp){0};
	}
	script_message_recipients(script, message, rest);
	script->messages[(unsigned char)*label] = message;
}

static inline char *
script_reply(struct script *script, const char *local, const char *session)
{
	char text[300];

	snprintf(
	    text, sizeof(text), "<%s@example.test> %s Saved", local, session);
	return arena_string(script->arena, text);
}

static inline void
script_delivery_recipients(
    struct script *script, struct delivery_event *delivery, char **rest)
{
	char *word;

	while ((word = script_word(script, rest)) != NULL) {
		struct delivery_recipient *recipient =
		    arena_append(script->arena, &delivery->recipients,
			&delivery->recipient_count, sizeof(*recipient));
		char *code = strchr(word, '=');
		char *session = strchr(word, '#');
		char *enhanced = strchr(word, ':');

		*code++ = '\0';
		if (session != NULL)
			recipient->final.text =
			    script_reply(script, word, session + 1);
		recipient->address = script_address(script, word);
		recipient->position = delivery->part * 10 +
				      (uint32_t)delivery->recipient_count - 1;
		recipient->envelope.code = 250;
		recipient->envelope.at = script_stamp(script, 0, 210);
		if (enhanced != NULL)
			recipient->final.enhanced =
			    arena_string(script->arena, enhanced + 1);
		if (*code == '/') {
			recipient->envelope.code = (uint32_t)atoi(code + 1);
		} else if (*code != '\0') {
			recipient->final.code = (uint32_t)atoi(code);
			recipient->final.at = script_stamp(script, 0, 400);
		}
	}
}

static inline void
script_put_stamp(
    struct script *script, struct delivery_event *delivery, const char *label)
{
	const struct message_event *message =
	    script->messages[(unsigned char)*label];

	if (*label == '-')
		return;
	delivery->stamps_seen = 1;
	if (*label == '?') {
		delivery->stamp_id = uuid_new(delivery->mail_at.wall_ns);
		delivery->stamp_queue_id = delivery->queue_id;
		return;
	}
	delivery->stamp_id = message->id;
	delivery->stamp_queue_id = message->queue_id;
}

static inline void
script_delivery(struct script *script, const char *verb, char **rest)
{
	struct step *step = &script->steps[script->count];
	struct delivery_event *delivery = &step->event.delivery;
	const char *label = script_word(script, rest);
	const char *queue_id;

	step->journal = LMTP;
	step->event.type = EVENT_DELIVERY;
	delivery->mail_at = script_stamp(script, 0, 200);
	delivery->data_at = script_stamp(script, 0, 250);
	delivery->content_end_at = script_stamp(script, 0, 300);
	delivery->end_at = script_stamp(script, 0, 400);
	delivery->phase = DELIVERY_PHASE_CONTENT_END;
	delivery->ending = DELIVERY_ENDING_COMPLETED;
	delivery->id = uuid_new(delivery->mail_at.wall_ns);
	/* A part repeats what the transaction is. */
	if (strcmp(verb, "+D") == 0) {
		struct stamp end_at = delivery->end_at;

		*delivery = script->last_delivery;
		delivery->part++;
		delivery->end_at = end_at;
	}
	if (strcmp(verb, "D+") == 0)
		delivery->ending = DELIVERY_ENDING_NONE;
	queue_id = script_queue_id(script, rest);
	if (delivery->part == 0) {
		delivery->queue_id = queue_id;
		script_put_stamp(script, delivery, label);
	}
	script->last_delivery = *delivery;
	script_delivery_recipients(script, delivery, rest);
}

static inline void
script_heartbeat(struct script *script)
{
	struct step *step = &script->steps[script->count];
	struct heartbeat_event *heartbeat = &step->event.heartbeat;

	step->journal = MILTER;
	step->event.type = EVENT_HEARTBEAT;
	heartbeat->at = script_stamp(script, 0, 0);
	heartbeat->increases =
	    arena_alloc(script->arena, PRODUCER_COUNTERS * sizeof(uint64_t));
	for (unsigned i = 0; i < PRODUCER_COUNTERS; i++)
		heartbeat->increases[i] = i + 1;
}

static inline void
script_operation(struct script *script, char **rest)
{
	struct step *step = &script->steps[script->count];
	struct operation_event *operation = &step->event.operation;
	const char *label = script_word(script, rest);

	step->journal = OPERATOR;
	step->event.type = EVENT_OPERATION;
	operation->kind = OPERATION_ACKNOWLEDGE;
	operation->at = script_stamp(script, 0, 0);
	operation->who = "root";
	operation->message = script->messages[(unsigned char)*label]->id;
}

static inline void
script_log(struct script *script, const char *verb, char **rest)
{
	struct step *step = &script->steps[script->count];
	const char *name = *++verb == ':' ? verb + 1 : "postfix";
	const char *program = strtok_r(NULL, " ", rest);
	const char *pid = strtok_r(NULL, " ", rest);
	char line[1000];

	snprintf(line, sizeof(line),
	    "2026-11-30T07:47:42.123456Z mx %s%s%s[%s]: %s", name,
	    *name != '\0' ? "/" : "", program, pid, *rest);
	step->journal = MAILLOG;
	step->line = arena_string(script->arena, line);
	step->wall_ns = script_stamp(script, 0, 0).wall_ns;
}

static inline void
script_dovecot(struct script *script, char **rest)
{
	struct step *step = &script->steps[script->count];
	const char *session = strtok_r(NULL, " ", rest);
	char line[1000];

	snprintf(line, sizeof(line),
	    "Nov 30 07:47:42 lmtp(u)<1><%s>: Info: sieve: msgid=<m>: %s",
	    session, *rest);
	step->journal = DOVECOT;
	step->line = arena_string(script->arena, line);
	step->wall_ns = script_stamp(script, 0, 0).wall_ns;
}

/* Returns whether the line is about the script's clock. */
static inline bool
script_clock(struct script *script, const char *verb, char **rest)
{
	if (*verb == 'S')
		script->ns += atoi(*rest) * SECOND_NS;
	else if (*verb == 'I')
		script->step_ns = atoi(*rest) * INT64_C(1000000);
	return *verb == 'S' || *verb == 'I';
}

static inline void
script_line(struct script *script, char *line)
{
	struct step *step = &script->steps[script->count];
	char *rest, *verb = strtok_r(line, " ", &rest);

	if (script_clock(script, verb, &rest))
		return;
	*step = (struct step){.journal = MILTER};
	if (*verb == 'M')
		script_message(script, verb, &rest);
	else if (*verb == 'L')
		script_log(script, verb, &rest);
	else if (*verb == 'V')
		script_dovecot(script, &rest);
	else if (*verb == 'H')
		script_heartbeat(script);
	else if (*verb == 'A')
		script_operation(script, &rest);
	else if (*verb != 'X')
		script_delivery(script, verb, &rest);
	step->position = (struct journal_position){
	    script->segment, ++script->written[step->journal] * STEP_BYTES};
	script->ns += script->step_ns;
	script->count++;
}

static inline void
script_read(struct script *script, const char *text)
{
	char *copy = strdup(text), *rest = NULL, *line;

	*script =
	    (struct script){.arena = arena_new(64 << 20), .step_ns = SECOND_NS};
	script->start_wall_ns = clock_stamp().wall_ns - STEPS_MAX * SECOND_NS;
	script->segment = (uint64_t)script->start_wall_ns / 1000;
	for (line = strtok_r(copy, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		script_line(script, line);
	free(copy);
	assert_false(arena_failed(script->arena));
}

static inline void
script_free(struct script *script)
{
	arena_free(&script->arena);
}

static inline int
fixture_unlink(
    const char *path, const struct stat *status, int type, struct FTW *walk)
{
	return remove(path);
}

static inline struct log_instances *
world_instances(const struct world *world)
{
	struct reason reason;
	struct log_instances *instances = log_instances_new(
	    world->maillog_instances != NULL ? world->maillog_instances : "",
	    world->instance != NULL ? world->instance : "mx.test", &reason);

	if (instances == NULL)
		fail_msg("%s", reason.text);
	return instances;
}

static inline void
world_open(struct world *world)
{
	struct store_settings settings = {
	    .directory = world->directory,
	    .queue_lifetime_ns = 5 * DAY_NS,
	};
	struct reason reason;

	world->totals = totals_new(metrics_names());
	world->store = store_open(&settings, world->totals, &reason);
	if (world->store == NULL)
		fail_msg("%s", reason.text);
	world->join = join_new(world->store, STAMP_WAIT_NS);
	if (world->reads_log) {
		world->instances = world_instances(world);
		join_read_logs(world->join, world->instances, 0);
		join_trust_logs(world->join, world->trust);
	}
	if (join_rebuild(world->join, world->now_ns, &reason) != 0)
		fail_msg("%s", reason.text);
	for (int i = 0; i < JOURNALS; i++)
		world->applied[i] =
		    store_lower_bound(world->store, journal_names[i]);
	if (world->reads_log)
		world->applied[MAILLOG] =
		    store_lower_bound(world->store, LOG_START);
	if (world->reads_log)
		world->applied[DOVECOT] =
		    store_lower_bound(world->store, DOVECOT_START);
}

static inline void
world_close(struct world *world)
{
	join_free(&world->join);
	log_instances_free(&world->instances);
	store_close(&world->store);
	totals_free(&world->totals);
}

/* In a directory of its own; what *world has set stays. */
static inline void
world_make(struct world *world)
{
	const char *parent = getenv("TMPDIR");

	log_set_level(LOG_LEVEL_ERROR);
	snprintf(world->directory, sizeof(world->directory), "%s/join.XXXXXX",
	    parent != NULL ? parent : "/tmp");
	assert_non_null(mkdtemp(world->directory));
	world->trust = log_trust_new();
	world_open(world);
}

static inline void
world_begin_reading(struct world *world, bool reads_log)
{
	*world = (struct world){.reads_log = reads_log};
	world_make(world);
}

static inline void
world_begin(struct world *world)
{
	world_begin_reading(world, false);
}

static inline void
world_end(struct world *world)
{
	world_close(world);
	log_trust_free(&world->trust);
	nftw(world->directory, fixture_unlink, 10, FTW_DEPTH | FTW_PHYS);
}

static inline void
world_apply_from(struct world *world, const struct step *step,
    const struct segment_header *segment)
{
	const struct journal_record record = {
	    .event = step->event,
	    .position = step->position,
	    .offset = step->position.offset - STEP_BYTES,
	    .segment = segment,
	};
	struct reason reason;

	if (join_apply(world->join, journal_names[step->journal], &record, 0,
		&reason) != 0)
		fail_msg("%s", reason.text);
	world->applied[step->journal] = step->position;
}

static inline void
world_apply_line(struct world *world, const struct step *step)
{
	struct log_record record = {
	    .wall_ns = step->wall_ns,
	    .precision_ns = world->precision_ns,
	    .position = step->position,
	    .start = {step->position.segment,
		step->position.offset - STEP_BYTES},
	};
	struct reason reason;

	if (world->precision_ns > 0)
		record.wall_ns -= record.wall_ns % world->precision_ns;
	maillog_line_parse(step->line, strlen(step->line), &record.line);
	maillog_record_parse(&record.line, &record.record);
	if ((step->journal == MAILLOG ? join_apply_log : join_apply_dovecot)(
		world->join, journal_names[step->journal], &record, 0,
		&reason) != 0)
		fail_msg("%s", reason.text);
	world->applied[step->journal] = step->position;
}

static inline void
world_expire(struct world *world)
{
	struct reason reason;

	if (join_expire(world->join, world->now_ns + STAMP_WAIT_NS, &reason) !=
	    0)
		fail_msg("%s", reason.text);
}

static inline void
world_apply(struct world *world, const struct step *step)
{
	if (step->line != NULL)
		world_apply_line(world, step);
	else if (step->event.type == EVENT_NONE)
		world_expire(world);
	else
		world_apply_from(world, step, &fixture_segment);
}

static inline void
world_commit(struct world *world)
{
	const struct source_position positions[] = {
	    {journal_names[MILTER], world->applied[MILTER]},
	    {journal_names[LMTP], world->applied[LMTP]},
	    {journal_names[OPERATOR], world->applied[OPERATOR]},
	    {journal_names[MAILLOG], world->applied[MAILLOG]},
	    {LOG_START, join_log_start(world->join, journal_names[MAILLOG],
			    world->applied[MAILLOG])},
	    {journal_names[DOVECOT], world->applied[DOVECOT]},
	    {DOVECOT_START, join_log_start(world->join, journal_names[DOVECOT],
				world->applied[DOVECOT])},
	};
	struct reason reason;

	if (store_commit(world->store, positions, world->reads_log ? 7 : 3,
		&reason) != 0)
		fail_msg("%s", reason.text);
	store_shorten_logs(world->store);
}

/* Whether reading would not come to this step any more. */
static inline bool
world_is_past(const struct world *world, const struct step *step)
{
	return journal_position_compare(
		   step->position, world->applied[step->journal]) <= 0;
}

/* Everything in order, in one batch. */
static inline void
world_run(struct world *world, const struct script *script)
{
	for (size_t i = 0; i < script->count; i++)
		world_apply(world, &script->steps[i]);
	world_commit(world);
}

#endif

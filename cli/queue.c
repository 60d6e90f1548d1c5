/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `postlag queue` and `postlag lost`: which messages, and the exit status.
 * Called by main.c; list_text.c has the words.
 */
#include "cli/queue.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/reason.h"
#include "cli/drain_text.h"
#include "cli/exit_status.h"
#include "cli/list_text.h"
#include "cli/store_age.h"
#include "cli/store_command.h"
#include "cli/terminal.h"
#include "cli/text_page.h"
#include "store/query.h"
#include "store/query_drain.h"
#include "store/query_note.h"
#include "store/query_open.h"
#include "store/reach.h"

#define ARENA_BYTES ((size_t)1 << 30)
/* Heartbeats make a running exporter write more often than this. */
#define WRITTEN_LATELY_NS (60 * CLOCK_NS_PER_SECOND)

enum { LIMIT_DEFAULT = 100, FEW_MESSAGES = 10 };

/* clang-format off */
#define OPTIONS(which)                                                         \
	STORE_OPTIONS_TEXT                                                     \
	"  --json       exact times, one JSON object\n"                        \
	"  --limit N    the " which " N messages (default 100)\n"

static const struct store_options_help queue_help = {NULL,
    STORE_OPTION_JSON | STORE_OPTION_LIMIT, true,
    "usage: postlag queue [-c FILE] [--store DIR] [--json] [--limit N]\n\n"
    "Lists the messages with recipients that are in flight, deferred or held,\n"
    "oldest first: age, queue id, sender, and for each such recipient its\n"
    "state and the last that is known of it. Before them it says, by domain,\n"
    "how many wait (all but held ones), and in what time they will be gone if\n"
    "they leave as others did in the last 10 or 70 minutes, who had waited,\n"
    "too, and no more come.\n\n"
    OPTIONS("oldest")
    "\nExit status: 0 listed, also when there is none, 2 wrong usage or\n"
    "unreadable store.\n"};

static const struct store_options_help lost_help = {NULL,
    STORE_OPTION_JSON | STORE_OPTION_LIMIT | STORE_OPTION_ALL |
	STORE_OPTION_AGES,
    true,
    "usage: postlag lost [-c FILE] [--store DIR] [--json] [--limit N] [--all]\n"
    "                    [--since AGE] [--before AGE]\n\n"
    "Lists the messages with recipients that are lost, or of whom it cannot\n"
    "be decided what became of them (unknown), newest first. What postlag ack\n"
    "has acknowledged is left out.\n\n"
    OPTIONS("newest")
    STORE_OPTIONS_AGES_TEXT
    "  --all        acknowledged ones, too\n\n"
    "Exit status, for a monitoring check: 0 nothing is lost or unknown, also\n"
    "when --all lists acknowledged ones; 1 something is; 2 it cannot be told:\n"
    "wrong usage, a store or a file of it that cannot be read, or nothing is\n"
    "known to be lost but the store was not written for a minute, or the\n"
    "exporter does not look for losses.\n"};
/* clang-format on */

static int
print(const struct store_options *options, const struct list *list,
    struct arena *arena)
{
	struct text_style style = terminal_style(stdout);
	struct buffer out = {0};
	struct reason reason;
	int result = options->json ? list_json(list, arena, &out)
				   : list_text(list, &style, arena, &out);

	if (result < 0)
		reason_set(&reason, "too large to be shown");
	else if (fwrite(out.data, 1, out.size, stdout) != out.size ||
		 fflush(stdout) != 0)
		result = reason_set_errno(&reason, "standard output");
	buffer_free(&out);
	return result < 0 ? store_options_unusable(&reason) : EXIT_OK;
}

/* Says so when nobody looks for losses: then nothing is ever lost. */
static bool
are_losses_found(struct store_reader *reader, struct arena *arena)
{
	struct reason reason;
	const char *detection;

	if (store_note(
		reader, NOTE_LOSS_DETECTION, arena, &detection, &reason) != 1 ||
	    strcmp(detection, "on") == 0)
		return true;
	if (strcmp(detection, "off") == 0)
		store_options_say("losses are not looked for: postlag-exporter "
				  "reads no log (maillog), or cannot look into "
				  "the queue (queue_directories, "
				  "config_directories)");
	else
		store_options_say("losses are not found at present: "
				  "postlag-exporter cannot trust the log, see "
				  "its own log for why");
	return false;
}

/* The exit status after everything was listed, by a reader that is up to date
 * or not. */
static int
judge(const struct list *list, struct store_reader *reader, bool is_up_to_date,
    struct arena *arena)
{
	const struct open_answer *answer = list->answer;

	if (answer->incomplete)
		return store_options_unusable(&answer->reason);
	if (list->kind == OPEN_QUEUED)
		return EXIT_OK;
	if (answer->recipients[RECIPIENT_LOST] > 0 ||
	    answer->recipients[RECIPIENT_UNKNOWN] > 0)
		return EXIT_MISSING;
	return is_up_to_date && are_losses_found(reader, arena) ? EXIT_OK
								: EXIT_UNUSABLE;
}

/* The last minutes end where the exporter does. */
static int
ask_drain(struct store_reader *reader, const char *directory,
    const struct open_question *question, struct arena *arena,
    struct drain *drain_r, struct reason *reason)
{
	struct drain_question drain = {
	    .now_wall_ns = clock_stamp().wall_ns,
	    .since_wall_ns = question->since_wall_ns,
	    .records = DRAIN_RECORDS,
	};
	struct store_reach reach;

	if (store_reach(directory, &reach, NULL) == 0 &&
	    reach.written_wall_ns != 0 &&
	    drain.now_wall_ns - reach.written_wall_ns > WRITTEN_LATELY_NS)
		drain.now_wall_ns = reach.written_wall_ns;
	drain_r->now_wall_ns = drain.now_wall_ns;
	return store_drain(reader, &drain, arena, &drain_r->answer, reason);
}

static int
list_messages(const struct store_options *options, const char *directory,
    const struct open_question *question)
{
	struct arena *arena = arena_new(ARENA_BYTES);
	struct store_reader *reader;
	struct open_answer answer;
	struct drain drain = {.with_reasons = false};
	struct list list = {question->kind, &answer, clock_stamp().wall_ns,
	    question->kind != OPEN_QUEUED, NULL};
	struct reason reason;
	int status;

	if (question->kind == OPEN_QUEUED)
		list.drain = &drain;
	reader = store_reader_open(directory, &reason);
	if (reader == NULL ||
	    store_open_messages(reader, question, arena, &answer, &reason) <
		0 ||
	    (list.drain != NULL && ask_drain(reader, directory, question, arena,
				       &drain, &reason) < 0))
		status = store_options_unreadable(directory, &reason);
	else {
		/* Of few messages each tells its own. */
		drain.with_reasons = answer.messages > FEW_MESSAGES;
		status = print(options, &list, arena);
	}
	if (status == EXIT_OK)
		status = judge(&list, reader,
		    store_age_warn(directory, list.now_wall_ns), arena);
	store_reader_free(&reader);
	arena_free(&arena);
	return status;
}

/* What lies longer than the queue lifetime is in no queue, but it may have been
 * a day longer on its way to the last attempt. */
static int64_t
oldest_queued_ns(int64_t queue_lifetime_ns)
{
	return clock_stamp().wall_ns - queue_lifetime_ns - CLOCK_NS_PER_DAY;
}

static int
list_queued(const struct store_options *options, const char *directory)
{
	const struct open_question question = {.kind = OPEN_QUEUED,
	    .limit = (size_t)options->limit,
	    .since_wall_ns = oldest_queued_ns(options->queue_lifetime_ns)};

	return list_messages(options, directory, &question);
}

static int
list_lost(const struct store_options *options, const char *directory)
{
	struct open_question question = {
	    .kind = options->all ? OPEN_EVER_MISSING : OPEN_MISSING,
	    .limit = (size_t)options->limit};

	store_options_ages(options, &question);
	return list_messages(options, directory, &question);
}

int
queue_command(int argc, char **argv)
{
	static const struct store_command command = {.help = &queue_help,
	    .limit = LIMIT_DEFAULT,
	    .needs_queue_lifetime = true,
	    .run = list_queued};

	return store_command(argc, argv, &command);
}

int
lost_command(int argc, char **argv)
{
	static const struct store_command command = {
	    .help = &lost_help, .limit = LIMIT_DEFAULT, .run = list_lost};

	return store_command(argc, argv, &command);
}

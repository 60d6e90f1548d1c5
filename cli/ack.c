/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `postlag ack`: options, which messages, and what is said of it. Called by
 * main.c. What it writes is the exporter's to apply.
 */
#include "cli/ack.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/reason.h"
#include "cli/ack_choice.h"
#include "cli/exit_status.h"
#include "cli/list_text.h"
#include "cli/operator_journal.h"
#include "cli/operator_name.h"
#include "cli/store_command.h"
#include "cli/terminal.h"
#include "cli/text_page.h"
#include "proto/event.h"
#include "store/query.h"

#define ARENA_BYTES ((size_t)1 << 30)

/* How long the exporter is waited for. */
#define PAUSE_NS (CLOCK_NS_PER_SECOND / 20)
#define PAUSES_MAX 40

enum { LIMIT_DEFAULT = 100, MATCHES_MAX = 100 };

/* clang-format off */
static const struct store_options_help help = {NULL,
    STORE_OPTION_AGES | STORE_OPTION_LIMIT | STORE_OPTION_ACKNOWLEDGE, false,
    "usage: postlag ack [-c FILE] [--store DIR] [--journal DIR]\n"
    "                   [--comment TEXT] [--dry-run] KEY...\n"
    "       postlag ack ... --lost [--since AGE] [--before AGE] [--yes]\n\n"
    "Says that you know what became of messages that are lost or unknown: a\n"
    "queue was moved or restored, say. Their recipients count as deleted,\n"
    "and postlag lost leaves them out. If such a message turns up again, that\n"
    "counts. KEY is its id, a queue id, or a Message-ID with or without <>.\n\n"
    STORE_OPTIONS_TEXT
    "  --journal DIR\n"
    "               the journals, instead of those configured in [operator]\n"
    "  --comment TEXT\n"
    "               shown by postlag show, with your login name and the time\n"
    "  --dry-run    only show what would be acknowledged\n"
    "  --lost       everything that postlag lost lists; without --yes this is\n"
    "               only shown\n"
    "  --yes        do it\n"
    STORE_OPTIONS_AGES_TEXT
    "  --limit N    show at most N of them (default 100)\n\n"
    "Exit status: 0 acknowledged or shown, also when --lost finds none; 1 a\n"
    "key was not found or its message cannot be acknowledged (others are); 2\n"
    "wrong usage, or files that cannot be read or written.\n"};
/* clang-format on */

struct ack {
	const struct store_options *options;
	const char *directory; /* of the store */
	struct store_reader *reader;
	struct arena *arena;
	struct open_answer chosen;
	struct operation_event *operations; /* one for each */
	int status;
};

static void
fail(struct ack *ack, const struct reason *reason)
{
	ack->status = store_options_unreadable(ack->directory, reason);
}

/* Choosing. */

static void
refuse(struct ack *ack, const char *key, const struct message_record *record)
{
	char *why = record != NULL
			? ack_choice_refusal(record)
			: memory_string("no message has that id, queue id or "
					"Message-ID");

	store_options_say("%s is not acknowledged: %s", key, why);
	if (ack->status == EXIT_OK)
		ack->status = EXIT_MISSING;
	free(why);
}

/* Short queue ids come again: of several messages those count that fit. */
static void
choose_by_key(struct ack *ack, const char *key)
{
	struct message_record *records;
	struct reason reason;
	bool fits = false;
	long count = store_find(
	    ack->reader, key, MATCHES_MAX, ack->arena, &records, &reason);

	for (long i = 0; i < count; i++) {
		if (!ack_choice_fits(&records[i]))
			continue;
		fits = true;
		if (ack_choice_add(&ack->chosen, &records[i], ack->arena) < 0)
			count = reason_set(&reason, "too much was found");
	}
	if (count < 0)
		fail(ack, &reason);
	else if (!fits)
		refuse(ack, key, count > 0 ? &records[0] : NULL);
}

static void
choose_lost(struct ack *ack)
{
	struct open_question question = {
	    .kind = OPEN_MISSING, .limit = SIZE_MAX >> 1};
	struct reason reason;

	store_options_ages(ack->options, &question);
	if (store_open_messages(
		ack->reader, &question, ack->arena, &ack->chosen, &reason) < 0)
		fail(ack, &reason);
	else if (ack->chosen.incomplete)
		fail(ack, &ack->chosen.reason);
}

static void
choose(struct ack *ack)
{
	char *const *key = ack->options->keys;

	if (ack->options->lost)
		choose_lost(ack);
	for (; *key != NULL && ack->status != EXIT_UNUSABLE; key++)
		choose_by_key(ack, *key);
}

/* Showing. */

static void
show(struct ack *ack)
{
	struct text_style style = terminal_style(stdout);
	struct open_answer shown = ack->chosen;
	struct list list = {
	    OPEN_MISSING, &shown, clock_stamp().wall_ns, false, NULL};
	struct buffer out = {0};
	struct reason reason;

	if (shown.count > (size_t)ack->options->limit)
		shown.count = (size_t)ack->options->limit;
	if (list_text(&list, &style, ack->arena, &out) < 0) {
		reason_set(&reason, "too large to be shown");
		fail(ack, &reason);
	}
	fwrite(out.data, 1, out.size, stdout);
	buffer_free(&out);
}

/* Writing. */

static void
fill_operations(struct ack *ack, const char *name)
{
	size_t count = ack->chosen.count;

	ack->operations = memory_zeroed(count, sizeof(*ack->operations));
	for (size_t i = 0; i < count; i++)
		ack->operations[i] = (struct operation_event){
		    .kind = OPERATION_ACKNOWLEDGE,
		    .at = clock_stamp(),
		    .message = ack->chosen.records[i].event.id,
		    .who = name,
		    .comment = ack->options->comment,
		};
}

static int
write_operations(struct ack *ack)
{
	struct reason reason;
	char *directory = operator_journal_directory(ack->options, &reason);
	char *name = operator_name();
	int result = -1;

	fill_operations(ack, name);
	if (directory != NULL)
		result = operator_journal_write(
		    directory, ack->operations, ack->chosen.count, &reason);
	if (result < 0)
		ack->status = store_options_unusable(&reason);
	free(directory);
	free(name);
	return result;
}

/* Waiting. */

/* Whether the store shows what was said, or that it has been overtaken. */
static bool
is_applied(struct ack *ack, const struct operation_event *operation)
{
	struct arena *arena = arena_new(ARENA_BYTES);
	struct message_record *records;
	char id[UUID_TEXT_SIZE];
	bool applied = false;

	uuid_format(&operation->message, id);
	if (store_find(ack->reader, id, 1, arena, &records, NULL) == 1)
		applied = !ack_choice_fits(&records[0]);
	arena_free(&arena);
	return applied;
}

static bool
wait_for_exporter(struct ack *ack)
{
	static const struct timespec pause = {.tv_nsec = PAUSE_NS};
	size_t applied = 0;

	for (int i = 0; i < PAUSES_MAX; i++) {
		while (applied < ack->chosen.count &&
		       is_applied(ack, &ack->operations[applied]))
			applied++;
		if (applied == ack->chosen.count)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void
acknowledge(struct ack *ack)
{
	if (write_operations(ack) < 0)
		return;
	printf("\nacknowledged\n");
	fflush(stdout);
	if (!wait_for_exporter(ack))
		store_options_say(
		    "it is recorded, and counts as soon as "
		    "postlag-exporter has read it: is it running?");
}

static void
choose_and_acknowledge(struct ack *ack)
{
	bool only_shows =
	    ack->options->dry_run || (ack->options->lost && !ack->options->yes);

	choose(ack);
	if (ack->status == EXIT_UNUSABLE ||
	    (ack->chosen.count == 0 && !ack->options->lost))
		return;
	show(ack);
	if (ack->status == EXIT_UNUSABLE || ack->chosen.count == 0)
		return;
	if (!only_shows)
		acknowledge(ack);
	else
		printf("\nnot acknowledged%s\n",
		    ack->options->dry_run ? "" : "; --yes does it");
}

static int
check(const struct store_options *options)
{
	bool has_keys = options->keys[0] != NULL;

	if (has_keys == options->lost)
		return store_options_misused("ack",
		    has_keys ? "either --lost or keys"
			     : "an id, queue id or Message-ID is needed");
	if (!options->lost &&
	    (options->since_ns != 0 || options->before_ns != 0 || options->yes))
		return store_options_misused(
		    "ack", "--since, --before and --yes go with --lost");
	return 0;
}

static int
run(const struct store_options *options, const char *directory)
{
	struct ack ack = {.options = options,
	    .directory = directory,
	    .arena = arena_new(ARENA_BYTES)};
	struct reason reason;

	ack.reader = store_reader_open(directory, &reason);
	if (ack.reader != NULL)
		choose_and_acknowledge(&ack);
	else
		fail(&ack, &reason);
	store_reader_free(&ack.reader);
	arena_free(&ack.arena);
	free(ack.operations);
	return ack.status;
}

int
ack_command(int argc, char **argv)
{
	static const struct store_command command = {
	    .help = &help, .limit = LIMIT_DEFAULT, .check = check, .run = run};

	return store_command(argc, argv, &command);
}

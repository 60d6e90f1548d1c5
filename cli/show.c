/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `postlag show`: options, the search, what is said when nothing is found.
 * Called by main.c.
 */
#include "cli/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/memory.h"
#include "base/reason.h"
#include "cli/duration_text.h"
#include "cli/exit_status.h"
#include "cli/store_command.h"
#include "cli/terminal.h"
#include "cli/text_page.h"
#include "cli/timeline_text.h"
#include "store/query.h"
#include "store/reach.h"
#include "store/timeline.h"

#define ARENA_BYTES ((size_t)1 << 30)
/* Heartbeats make a running exporter write more often than this. */
#define WRITTEN_LATELY_NS (60 * CLOCK_NS_PER_SECOND)

enum { LIMIT_DEFAULT = 20 };

static const struct store_options_help help = {
    "one id, queue id, Message-ID or session id",
    STORE_OPTION_JSON | STORE_OPTION_LIMIT, false,
    "usage: postlag show [-c FILE] [--store DIR] [--json] [--limit N] KEY\n\n"
    "Shows what became of a message, newest match first. KEY is its id, a\n"
    "queue id, a Message-ID with or without <>, or an LMTP session id of\n"
    "Dovecot's.\n\n" STORE_OPTIONS_TEXT
    "  --json       exact times, a JSON object for each match\n"
    "  --limit N    at most N matches (default 20)\n\n"
    "Exit status: 0 found, 1 not found, 2 wrong usage or unreadable store.\n"};

/* Since when the store reaches, and whether the exporter seems to be at it. */
static void
page_reach(struct text_page *page, const char *directory)
{
	struct store_reach reach;
	char text[CLOCK_TEXT_SIZE], ago[DURATION_TEXT_SIZE];
	int64_t age_ns;

	if (store_reach(directory, &reach, NULL) < 0)
		return;
	if (reach.first_wall_ns == 0) {
		page_wrapped(page, "The store is empty: has postlag-exporter "
				   "been running?");
		page_end_line(page);
		return;
	}
	clock_format(reach.first_wall_ns, text);
	age_ns = clock_stamp().wall_ns - reach.written_wall_ns;
	duration_text(age_ns > 0 ? age_ns : 0, page->style.utf8, ago);
	page_format(
	    page, "The store begins on %.10s and was last written ", text);
	page_format(page, "%s ago.", ago);
	page_end_line(page);
	if (age_ns > WRITTEN_LATELY_NS)
		page_wrapped(
		    page, "It may be behind: is postlag-exporter running?");
	else
		page_wrapped(page, "A message appears here within a second "
				   "after its transaction has ended.");
	page_end_line(page);
}

static int
not_found(const struct store_options *options, const char *directory)
{
	struct buffer text = {0};
	struct text_page page = {terminal_style(stderr), &text, 0};

	page_format(&page,
	    "postlag: no message with the id, queue id, Message-ID or"
	    " session id \"%s\" in %s",
	    options->keys[0], directory);
	page_end_line(&page);
	page_reach(&page, directory);
	fwrite(text.data, 1, text.size, stderr);
	buffer_free(&text);
	return EXIT_MISSING;
}

static void
print_json(const struct timeline *timeline)
{
	char *json = timeline_json(timeline);

	puts(json);
	free(json);
}

static void
print_text(const struct timeline *timeline, const struct text_style *style)
{
	struct buffer text = {0};

	timeline_text(timeline, style, &text);
	fwrite(text.data, 1, text.size, stdout);
	buffer_free(&text);
}

static void
print_separator(const struct text_style *style)
{
	putchar('\n');
	for (unsigned i = 0; i < style->width; i++)
		fputs(style->utf8 ? "\xe2\x94\x80" : "-", stdout);
	fputs("\n\n", stdout);
}

static int
print_records(const struct store_options *options,
    const struct message_record *records, size_t count, struct arena *arena)
{
	struct text_style style = terminal_style(stdout);
	struct timeline *timeline;
	struct reason reason;

	for (size_t i = 0; i < count; i++) {
		timeline = timeline_build(&records[i], arena);
		if (timeline == NULL) {
			reason_set(&reason, "too large to be shown");
			return store_options_unusable(&reason);
		}
		if (options->json) {
			print_json(timeline);
			continue;
		}
		if (i > 0)
			print_separator(&style);
		print_text(timeline, &style);
	}
	if (count == (size_t)options->limit && count > 1)
		fprintf(stderr,
		    "postlag: stopped after %zu matches; there may"
		    " be more (--limit)\n",
		    count);
	if (fflush(stdout) == 0)
		return EXIT_OK;
	reason_set_errno(&reason, "standard output");
	return store_options_unusable(&reason);
}

static int
search(const struct store_options *options, const char *directory)
{
	struct arena *arena = arena_new(ARENA_BYTES);
	struct store_reader *reader;
	struct message_record *records;
	struct reason reason;
	long count = -1;
	int status;

	reader = store_reader_open(directory, &reason);
	if (reader != NULL)
		count = store_find(reader, options->keys[0],
		    (size_t)options->limit, arena, &records, &reason);
	if (count < 0)
		status = store_options_unreadable(directory, &reason);
	else if (count == 0)
		status = not_found(options, directory);
	else
		status = print_records(options, records, (size_t)count, arena);
	store_reader_free(&reader);
	arena_free(&arena);
	return status;
}

int
show_command(int argc, char **argv)
{
	static const struct store_command command = {
	    .help = &help, .limit = LIMIT_DEFAULT, .run = search};

	return store_command(argc, argv, &command);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `postlag search`: options, one page, and how to go on. Called by main.c;
 * search_text.c has the words.
 */
#include "cli/search.h"

#include <stddef.h>

#include "base/arena.h"
#include "base/reason.h"
#include "cli/exit_status.h"
#include "cli/search_page.h"
#include "cli/search_terms.h"
#include "cli/store_command.h"
#include "store/query.h"
#include "store/query_search.h"
#include "store/search.h"

#define ARENA_BYTES ((size_t)1 << 30)

enum { LIMIT_DEFAULT = 50 };

static const struct store_options_help help = {NULL,
    STORE_OPTION_JSON | STORE_OPTION_LIMIT | STORE_OPTION_PAGE, false,
    "usage: postlag search [-c FILE] [--store DIR] [--json] [--limit N]\n"
    "                      [--page NEXT] TERM...\n\n"
    "Finds messages for which every term is true, newest first. A term is\n"
    "KEY:WORD or a bare word (part of an address, or an id); KEY:A,B means A\n"
    "or B, -KEY:A not A, and * any text. Quote what has blanks: 'to:\"a "
    "b\"'.\n\n"
    "  to:, from:        an address, its domain, or what is before the @\n"
    "  status:           delivered, deferred, bounced, held, expired, lost, "
    "...,\n"
    "                    or open, sent, failed, missing\n"
    "  slower:, faster:  until its end, or till now: 500ms, 10s, 1h30m\n"
    "  since:, until:    2h (ago), today, 2026-11-30, 2026-11-30T14:30 (UTC)\n"
    "  queue:, msgid:    a queue id, a Message-ID\n"
    "  client:, relay:   where it came from, where it went\n"
    "  host:, run:       our instance, a load generator's X-Perf-Run\n\n"
    "What to:, status:, relay:, slower: and faster: say must be true of one\n"
    "recipient.\n\n" STORE_OPTIONS_TEXT
    "  --json       one JSON object, as the API has it\n"
    "  --limit N    a page of N messages (default 50)\n"
    "  --page NEXT  the page behind the one that named it\n\n"
    "Exit status: 0 found, 1 nothing found, 2 wrong usage or unreadable "
    "store.\n"};

/* What else is to be said of a page. */
static int
conclude(const struct store_options *options, const struct search_page *page)
{
	if (page->incomplete)
		return store_options_unusable(&page->reason);
	if (!page->is_last && !options->json)
		store_options_say("there may be more: --page %s", page->cursor);
	else if (page->count == 0 && !options->json)
		store_options_say("nothing found");
	return page->count > 0 || !page->is_last ? EXIT_OK : EXIT_MISSING;
}

static int
search(const struct store_options *options, const char *directory,
    const struct search *search)
{
	const struct search_question question = {.search = search,
	    .cursor = options->page,
	    .limit = (size_t)options->limit};
	struct arena *arena = arena_new(ARENA_BYTES);
	struct store_reader *reader;
	struct search_page page;
	struct reason reason;
	int status;

	reader = store_reader_open(directory, &reason);
	if (reader == NULL ||
	    store_search(reader, &question, arena, &page, &reason) != 0)
		status = store_options_unreadable(directory, &reason);
	else
		status = search_page_print(&page, options->json, arena);
	if (status == EXIT_OK)
		status = conclude(options, &page);
	store_reader_free(&reader);
	arena_free(&arena);
	return status;
}

static int
run(const struct store_options *options, const char *directory)
{
	struct arena *arena = arena_new(ARENA_BYTES);
	struct search terms;
	int status = search_terms_read(options, directory, arena, &terms);

	if (status == EXIT_OK)
		status = search(options, directory, &terms);
	arena_free(&arena);
	return status;
}

static int
check(const struct store_options *options)
{
	if (options->keys[0] == NULL)
		return store_options_misused("search", "a term is needed");
	if (options->page != NULL && search_cursor_check(options->page) != 0)
		return store_options_misused(
		    "search", "--page takes what a page before named");
	return 0;
}

int
search_command(int argc, char **argv)
{
	static const struct store_command command = {
	    .help = &help, .limit = LIMIT_DEFAULT, .check = check, .run = run};

	search_terms_spare(argc, argv);
	return store_command(argc, argv, &command);
}

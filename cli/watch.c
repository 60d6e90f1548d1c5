/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `postlag watch`: looks at the store when it was written, prints what is new
 * and meant. Called by main.c; watch_text.c has the words.
 */
#include "cli/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/reason.h"
#include "cli/exit_status.h"
#include "cli/search_terms.h"
#include "cli/store_command.h"
#include "cli/store_watch.h"
#include "cli/terminal.h"
#include "cli/text_page.h"
#include "cli/watch_progress.h"
#include "cli/watch_text.h"
#include "store/query.h"
#include "store/query_feed.h"
#include "store/search.h"
#include "store/search_match.h"

#define ARENA_BYTES ((size_t)1 << 30)
#define MS INT64_C(1000000)
/* What is written within this time is shown together. */
#define GATHER_NS (50 * MS)
/* How soon to look again: after something was written lately, while the store
 * cannot be read, and otherwise. */
#define YOUNG_NS (200 * MS)
#define ABSENT_NS CLOCK_NS_PER_SECOND
#define IDLE_NS (60 * CLOCK_NS_PER_SECOND)

static const struct store_options_help help = {NULL,
    STORE_OPTION_JSON | STORE_OPTION_LIMIT, false,
    "usage: postlag watch [-c FILE] [--store DIR] [--json] [--limit N] "
    "[TERM...]\n\n"
    "Shows what happens from now on, a line for each recipient that is "
    "accepted,\n"
    "and for each state that it comes into later: when, the queue id, the "
    "outcome,\n"
    "how long it took from MAIL FROM, the addresses, where it went, and why.\n"
    "A further attempt that changes nothing has no line. Terms choose, as "
    "those\n"
    "of postlag search do, by the state that the line is about. Goes on until "
    "it\n"
    "is ended, also while the exporter is stopped or there is no store "
    "yet.\n\n" STORE_OPTIONS_TEXT "  --json       a JSON object for each line\n"
    "  --limit N    ends after N lines\n\n"
    "Exit status: 0 when it was ended: by Ctrl-C or SIGTERM, after N lines, "
    "or as\n"
    "nobody reads its output any more; 2 wrong usage or unreadable store.\n"};

struct watch {
	const struct store_options *options;
	const char *directory;
	struct search search;
	struct text_style style;
	struct store_reader *reader;
	struct store_feed *feed;
	struct arena *arena; /* of a page */
	struct buffer out;
	long lines;
	bool is_absent; /* that it is was said */
	struct watch_progress progress;
};

/* Nothing of ours is left behind. */
static void
end_by_signal(int number)
{
	_exit(EXIT_OK);
}

/* Who has gone away is noticed when writing fails. */
static void
set_up_signals(void)
{
	const struct sigaction end = {.sa_handler = end_by_signal};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

static bool
is_over(const struct watch *watch)
{
	return watch->options->limit > 0 &&
	       watch->lines >= watch->options->limit;
}

/* Returns 0, or -1 when it takes too much memory. */
static int
add_line(struct watch *watch, const struct feed_hit *hit)
{
	if (!search_matches(&watch->search, &hit->record, NULL))
		return 0;
	watch->lines++;
	return watch->options->json
		   ? watch_json_line(hit, watch->arena, &watch->out)
		   : watch_text_line(
			 hit, &watch->style, watch->arena, &watch->out);
}

/* Returns 1 to go on, or else 0 with the exit status. */
static int
print(struct watch *watch, const struct feed_page *page, int *status_r)
{
	struct buffer *out = &watch->out;
	struct reason reason;
	int result = 0;

	buffer_clear(out);
	watch->search.now_wall_ns = clock_stamp().wall_ns;
	for (size_t i = 0; i < page->count && result == 0 && !is_over(watch);
	     i++)
		result = add_line(watch, &page->hits[i]);
	if (result != 0)
		reason_set(&reason, "too large to be shown");
	else if ((out->size > 0 &&
		     fwrite(out->data, 1, out->size, stdout) != out->size) ||
		 fflush(stdout) != 0)
		result = errno == EPIPE
			     ? 1
			     : reason_set_errno(&reason, "standard output");
	if (result == 0 && !is_over(watch))
		return 1;
	*status_r = result < 0 ? store_options_unusable(&reason) : EXIT_OK;
	return 0;
}

static void
tell_trouble(const struct feed_page *page)
{
	if (page->has_gap)
		store_options_say("something was missed: more happened than is "
				  "kept for who looks late");
	if (page->incomplete)
		store_options_say("%s", page->reason.text);
}

/* Whether the directory is there; that it is not is said once. */
static bool
is_there(struct watch *watch)
{
	bool is_absent = access(watch->directory, F_OK) != 0 && errno == ENOENT;

	if (is_absent && !watch->is_absent)
		store_options_say(
		    "there is no store in %s yet", watch->directory);
	watch->is_absent = is_absent;
	return !is_absent;
}

/* Opens it as soon as it is there. Returns 1 when it is open, 0 when it is not
 * there, or -1 with a reason. */
static int
open_store(struct watch *watch, struct reason *reason)
{
	bool was_absent = watch->is_absent;

	if (!is_there(watch))
		return 0;
	if (watch->reader != NULL)
		return 1;
	watch->reader = store_reader_open(watch->directory, reason);
	if (watch->reader == NULL)
		return -1;
	watch->feed = store_feed_open(watch->reader, was_absent);
	return 1;
}

/* Looks once. Returns 1 to go on after *pause_ns_r, or else 0 with the exit
 * status. */
static int
look(struct watch *watch, int64_t *pause_ns_r, int *status_r)
{
	struct reason reason;
	struct feed_page page;
	int opened = open_store(watch, &reason);

	*pause_ns_r = ABSENT_NS;
	if (opened == 0)
		return 1;
	arena_reset(watch->arena);
	if (opened < 0 ||
	    store_feed_next(watch->feed, watch->arena, &page, &reason) != 0) {
		if (!is_there(watch))
			return 1;
		*status_r = store_options_unreadable(watch->directory, &reason);
		return 0;
	}
	tell_trouble(&page);
	watch_progress_tell(&watch->progress, watch->reader, watch->directory);
	*pause_ns_r = page.is_young ? YOUNG_NS : IDLE_NS;
	if (!page.is_last)
		*pause_ns_r = 0;
	return print(watch, &page, status_r);
}

static int
go_on(struct watch *watch)
{
	static const struct timespec gather = {0, GATHER_NS};
	struct store_watch *written = store_watch_new(watch->directory);
	int64_t pause_ns;
	int status = EXIT_OK;

	while (look(watch, &pause_ns, &status) == 1) {
		if (pause_ns == 0)
			continue;
		if (store_watch_wait(written, pause_ns) != 0)
			break;
		nanosleep(&gather, NULL);
	}
	store_watch_free(&written);
	return status;
}

static int
run(const struct store_options *options, const char *directory)
{
	struct watch watch = {.options = options,
	    .directory = directory,
	    .style = terminal_style(stdout),
	    .arena = arena_new(ARENA_BYTES)};
	struct arena *terms = arena_new(ARENA_BYTES);
	int status =
	    search_terms_read(options, directory, terms, &watch.search);

	set_up_signals();
	if (status == EXIT_OK)
		status = go_on(&watch);
	store_feed_free(&watch.feed);
	store_reader_free(&watch.reader);
	buffer_free(&watch.out);
	arena_free(&watch.arena);
	arena_free(&terms);
	return status;
}

int
watch_command(int argc, char **argv)
{
	static const struct store_command command = {.help = &help, .run = run};

	search_terms_spare(argc, argv);
	return store_command(argc, argv, &command);
}

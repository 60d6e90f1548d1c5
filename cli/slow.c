/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `postlag slow`: the slowest messages of a period. Called by main.c.
 *
 * The histograms tell from which latency on there are about as many as are
 * wanted; only these are read, and sorted. What is still in the queue counts
 * with its age, so that it is not forgotten because it has no latency yet.
 */
#include "cli/slow.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "cli/exit_status.h"
#include "cli/search_page.h"
#include "cli/store_command.h"
#include "store/query.h"
#include "store/query_latency.h"
#include "store/query_search.h"
#include "store/search.h"
#include "store/search_match.h"
#include "store/series.h"

#define ARENA_BYTES ((size_t)1 << 30)
/* How many more than wanted are read, for some have several recipients. */
#define FACTOR 4

enum { LIMIT_DEFAULT = 20 };

static const struct store_options_help help = {NULL,
    STORE_OPTION_JSON | STORE_OPTION_LIMIT | STORE_OPTION_AGES, true,
    "usage: postlag slow [-c FILE] [--store DIR] [--json] [--limit N]\n"
    "                    [--since AGE] [--before AGE]\n\n"
    "Lists the messages that took longest, from MAIL FROM to a mailbox or the\n"
    "next host, slowest first, with the recipients that did. What is still in\n"
    "the queue counts with its age. Those that began in the last day are\n"
    "looked at, or as the ages say.\n\n" STORE_OPTIONS_TEXT
    "  --json       one JSON object, as that of postlag search\n"
    "  --limit N    the slowest N messages (default "
    "20)\n" STORE_OPTIONS_AGES_TEXT
    "\nExit status: 0 listed, also when there is none, 2 wrong usage or "
    "unreadable\nstore.\n"};

struct period {
	int64_t now_ns, since_ns, until_ns;
};

static struct period
period_of(const struct store_options *options)
{
	int64_t now_ns = clock_stamp().wall_ns;
	int64_t age_ns =
	    options->since_ns != 0 ? options->since_ns : CLOCK_NS_PER_DAY;

	return (struct period){
	    now_ns, now_ns - age_ns, now_ns - options->before_ns};
}

/* The latency that about `wanted` deliveries exceeded, complete in the period
 * or since. */
static int
find_threshold(struct store_reader *reader, const struct period *period,
    uint64_t wanted, int64_t *threshold_ns_r, struct reason *reason)
{
	struct arena *arena = arena_new(ARENA_BYTES);
	const char *series[ROUTES];
	struct latency_question question = {.series = series,
	    .series_count = ROUTES,
	    .period.since_wall_ns = period->since_ns,
	    .period.until_wall_ns = period->now_ns + 1,
	    .period.step_ns = CLOCK_NS_PER_DAY,
	    .with_cells = true};
	struct latency_answer answer;
	uint64_t above = 0;
	int result;

	for (unsigned i = 0; i < ROUTES; i++)
		series[i] = series_of_route((enum route)i);
	result = store_latency(reader, &question, arena, &answer, reason);
	*threshold_ns_r = 0;
	for (size_t i = answer.whole.cell_count; result == 0 && i-- > 0;) {
		*threshold_ns_r =
		    i > 0 ? answer.whole.cells[i - 1].bound_ns : 0;
		above += answer.whole.cells[i].count;
		if (above >= wanted)
			break;
	}
	arena_free(&arena);
	return result;
}

/* How long the slowest of its recipients that are meant took. */
static int64_t
slowest_ns(const struct search_hit *hit, int64_t now_ns)
{
	int64_t slowest = -1;

	for (size_t i = 0; i < hit->record.recipient_count; i++) {
		int64_t took = hit->meant[i] ? search_recipient_took_ns(
						   &hit->record, i, now_ns)
					     : -1;

		if (took > slowest)
			slowest = took;
	}
	return slowest;
}

struct ranked {
	struct search_hit hit;
	int64_t slowest_ns;
};

static int
slowest_first(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	return (a->slowest_ns < b->slowest_ns) -
	       (a->slowest_ns > b->slowest_ns);
}

/* Sorts the hits of a page, and keeps the first `limit`. */
static int
rank(
    struct search_page *page, size_t limit, int64_t now_ns, struct arena *arena)
{
	struct ranked *ranked =
	    arena_alloc(arena, page->count * sizeof(*ranked));

	if (ranked == NULL)
		return -1;
	for (size_t i = 0; i < page->count; i++)
		ranked[i] = (struct ranked){
		    page->hits[i], slowest_ns(&page->hits[i], now_ns)};
	if (page->count > 0)
		qsort(ranked, page->count, sizeof(*ranked), slowest_first);
	if (page->count > limit)
		page->count = limit;
	for (size_t i = 0; i < page->count; i++)
		page->hits[i] = ranked[i].hit;
	page->is_last = true;
	return 0;
}

static int
find_slow(struct store_reader *reader, const struct period *period,
    size_t limit, struct arena *arena, struct search_page *page_r,
    struct reason *reason)
{
	struct search_term terms[] = {
	    {.key = SEARCH_SLOWER},
	    {.key = SEARCH_SINCE, .ns = period->since_ns},
	    {.key = SEARCH_UNTIL, .ns = period->until_ns},
	};
	const struct search search = {
	    terms, sizeof(terms) / sizeof(terms[0]), period->now_ns};
	const struct search_question question = {
	    .search = &search, .limit = SIZE_MAX};

	if (find_threshold(reader, period, FACTOR * (uint64_t)limit,
		&terms[0].ns, reason) != 0 ||
	    store_search(reader, &question, arena, page_r, reason) != 0)
		return -1;
	if (rank(page_r, limit, period->now_ns, arena) != 0)
		return reason_set(reason, "too much was found");
	return 0;
}

static int
tell(const struct store_options *options, const char *directory)
{
	const struct period period = period_of(options);
	struct arena *arena = arena_new(ARENA_BYTES);
	struct search_page page;
	struct reason reason;
	struct store_reader *reader = store_reader_open(directory, &reason);
	int status;

	if (reader == NULL || find_slow(reader, &period, (size_t)options->limit,
				  arena, &page, &reason) != 0)
		status = store_options_unreadable(directory, &reason);
	else
		status = search_page_print(&page, options->json, arena);
	if (status == EXIT_OK && page.incomplete)
		status = store_options_unusable(&page.reason);
	store_reader_free(&reader);
	arena_free(&arena);
	return status;
}

int
slow_command(int argc, char **argv)
{
	static const struct store_command command = {
	    .help = &help, .limit = LIMIT_DEFAULT, .run = tell};

	return store_command(argc, argv, &command);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `postlag stats`: options, the period, one question for each line. Called by
 * main.c; stats_text.c has the words.
 */
#include "cli/stats.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/reason.h"
#include "cli/exit_status.h"
#include "cli/stats_rows.h"
#include "cli/stats_text.h"
#include "cli/store_command.h"
#include "cli/terminal.h"
#include "cli/text_page.h"
#include "store/query.h"
#include "store/series.h"

#define ARENA_BYTES ((size_t)1 << 30)

static const struct store_options_help help = {NULL,
    STORE_OPTION_JSON | STORE_OPTION_AGES | STORE_OPTION_BY |
	STORE_OPTION_LIMIT,
    true,
    "usage: postlag stats [-c FILE] [--store DIR] [--json] [--since AGE]\n"
    "                     [--before AGE] [--by KIND] [--limit N]\n\n"
    "How long deliveries took, from MAIL FROM to the mailbox or the next "
    "host,\n"
    "and how long each phase of them: how many, the median, and what 90, 95\n"
    "and 99 of 100 did not exceed, within 1.1 %. What was complete in the "
    "last\n"
    "day counts, or as the ages say, in whole minutes; beyond a day, in whole\n"
    "hours. By relay or provider, in whole hours, too: a day tells 64 of each\n"
    "apart, the rest is \"other\".\n\n"
    "  -c FILE       configuration (default " CONFIG_DEFAULT_PATH ")\n"
    "  --store DIR   the store, instead of the configured one\n"
    "  --json        one JSON object, in seconds\n"
    "  --since AGE   from so long ago (default 24h), as in 90m, 12h or 7d\n"
    "  --before AGE  up to so long ago\n"
    "  --by KIND     whole latencies by host (the instance that took the "
    "mail),\n"
    "                relay (what took it over), or provider (the "
    "recipient's\n"
    "                domain), most deliveries first\n"
    "  --limit N     how many of these (default 20)\n\n"
    "Exit status: 0, or 2 for wrong usage or an unreadable store.\n"};

/* The whole period in one step. */
static void
set_period(const struct store_options *options, int64_t unit_ns,
    struct query_period *period)
{
	int64_t now_ns = clock_stamp().wall_ns;
	int64_t since_ns = options->since_ns != 0 ? now_ns - options->since_ns
						  : now_ns - CLOCK_NS_PER_DAY;
	int64_t until_ns = now_ns - options->before_ns;

	if (until_ns - since_ns > CLOCK_NS_PER_DAY)
		unit_ns = QUERY_HOUR_NS;
	if (until_ns - since_ns > 60 * CLOCK_NS_PER_DAY)
		unit_ns = CLOCK_NS_PER_DAY;

	period->since_wall_ns = since_ns / unit_ns * unit_ns;
	period->until_wall_ns = (until_ns / unit_ns + 1) * unit_ns;
	period->step_ns = unit_ns;
}

static int
print(const struct store_options *options, const struct stats *stats)
{
	struct text_style style = terminal_style(stdout);
	struct buffer out = {0};
	struct reason reason;
	int result = 0;

	if (options->json)
		stats_json(stats, &out);
	else
		stats_text(stats, &style, &out);
	if (fwrite(out.data, 1, out.size, stdout) != out.size ||
	    fflush(stdout) != 0)
		result = reason_set_errno(&reason, "standard output");
	buffer_free(&out);
	return result < 0 ? store_options_unusable(&reason) : EXIT_OK;
}

/* SERIES_KINDS: not said, or nothing that there is. */
static enum series_kind
kind_of(const struct store_options *options)
{
	unsigned kind = 0;

	while (kind < SERIES_KINDS &&
	       (options->by == NULL ||
		   strcmp(options->by,
		       series_kind_name((enum series_kind)kind)) != 0))
		kind++;
	return (enum series_kind)kind;
}

static int
check(const struct store_options *options)
{
	if (options->by == NULL || kind_of(options) < SERIES_KINDS)
		return 0;
	return store_options_misused(
	    "stats", "--by takes host, relay or provider");
}

static int
ask(const struct store_options *options, struct store_reader *reader,
    struct arena *arena, struct stats *stats, struct reason *reason)
{
	enum series_kind kind = kind_of(options);
	bool by_hour = kind == SERIES_RELAY || kind == SERIES_PROVIDER;
	struct query_period period;
	const struct stats_question question = {reader, &period, arena};

	set_period(
	    options, by_hour ? QUERY_HOUR_NS : QUERY_MINUTE_NS, &period);
	stats->since_wall_ns = period.since_wall_ns;
	stats->until_wall_ns = period.until_wall_ns;
	if (kind < SERIES_KINDS)
		return stats_rows_by(
		    &question, kind, (size_t)options->limit, stats, reason);
	return stats_rows_all(&question, stats, reason);
}

static int
tell(const struct store_options *options, const char *directory)
{
	struct stats stats = {.count = 0};
	struct reason reason;
	struct store_reader *reader = store_reader_open(directory, &reason);
	struct arena *arena = arena_new(ARENA_BYTES);
	int status;

	if (reader == NULL || ask(options, reader, arena, &stats, &reason) != 0)
		status = store_options_unreadable(directory, &reason);
	else
		status = print(options, &stats);
	store_reader_free(&reader);
	arena_free(&arena);
	return status;
}

int
stats_command(int argc, char **argv)
{
	static const struct store_command command = {
	    .help = &help, .limit = 20, .check = check, .run = tell};

	return store_command(argc, argv, &command);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `postlag stats`: options, the period, one question for each line. Called by
 * main.c; stats_text.c has the words.
 */
#include "cli/stats.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "cli/exit_status.h"
#include "cli/stats_text.h"
#include "cli/store_command.h"
#include "cli/terminal.h"
#include "cli/text_page.h"
#include "store/query.h"
#include "store/series.h"

#define ARENA_BYTES ((size_t)1 << 30)

enum { ROWS = ROUTES + PHASES };

static const struct store_options_help help = {NULL,
    STORE_OPTION_JSON | STORE_OPTION_AGES, true,
    "usage: postlag stats [-c FILE] [--store DIR] [--json] [--since AGE]\n"
    "                     [--before AGE]\n\n"
    "How long deliveries took, from MAIL FROM to the mailbox or the next "
    "host,\n"
    "and how long each phase of them: how many, the median, and what 90, 95\n"
    "and 99 of 100 did not exceed, within 1.1 %. What was complete in the "
    "last\n"
    "day counts, or as the ages say, in whole minutes; beyond a day, in whole\n"
    "hours.\n\n"
    "  -c FILE       configuration (default " CONFIG_DEFAULT_PATH ")\n"
    "  --store DIR   the store, instead of the configured one\n"
    "  --json        one JSON object, in seconds\n"
    "  --since AGE   from so long ago (default 24h), as in 90m, 12h or 7d\n"
    "  --before AGE  up to so long ago\n\n"
    "Exit status: 0, or 2 for wrong usage or an unreadable store.\n"};

/* The whole period in one step. */
static void
set_period(const struct store_options *options, struct query_period *period)
{
	int64_t now_ns = clock_stamp().wall_ns;
	int64_t since_ns = options->since_ns != 0 ? now_ns - options->since_ns
						  : now_ns - CLOCK_NS_PER_DAY;
	int64_t until_ns = now_ns - options->before_ns;
	int64_t unit_ns = QUERY_MINUTE_NS;

	if (until_ns - since_ns > CLOCK_NS_PER_DAY)
		unit_ns = QUERY_HOUR_NS;
	if (until_ns - since_ns > 60 * CLOCK_NS_PER_DAY)
		unit_ns = CLOCK_NS_PER_DAY;

	period->since_wall_ns = since_ns / unit_ns * unit_ns;
	period->until_wall_ns = (until_ns / unit_ns + 1) * unit_ns;
	period->step_ns = unit_ns;
}

static void
name_rows(struct stats_row rows[ROWS], const char *series[ROWS])
{
	for (unsigned i = 0; i < ROUTES; i++) {
		rows[i].kind = "route";
		rows[i].name = route_name((enum route)i);
		series[i] = series_of_route((enum route)i);
	}
	for (unsigned i = 0; i < PHASES; i++) {
		rows[ROUTES + i].kind = "phase";
		rows[ROUTES + i].name = phase_describe((enum phase)i)->name;
		series[ROUTES + i] = series_of_phase((enum phase)i);
	}
}

static int
fill_rows(struct store_reader *reader, const struct query_period *period,
    struct stats_row rows[ROWS], struct reason *reason)
{
	struct arena *arena = arena_new(ARENA_BYTES);
	const char *series[ROWS];
	int result = 0;

	name_rows(rows, series);
	for (unsigned i = 0; i < ROWS && result == 0; i++) {
		const struct latency_question question = {
		    .series = &series[i],
		    .series_count = 1,
		    .period = *period,
		};
		struct latency_answer answer;

		arena_reset(arena);
		result =
		    store_latency(reader, &question, arena, &answer, reason);
		if (result == 0 && answer.gap.is_there) {
			*reason = answer.gap.reason;
			result = -1;
		}
		rows[i].point = answer.whole;
	}
	arena_free(&arena);
	return result;
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

static int
tell(const struct store_options *options, const char *directory)
{
	struct stats_row rows[ROWS];
	struct query_period period;
	struct stats stats = {.rows = rows, .count = ROWS};
	struct reason reason;
	struct store_reader *reader = store_reader_open(directory, &reason);
	int status;

	set_period(options, &period);
	stats.since_wall_ns = period.since_wall_ns;
	stats.until_wall_ns = period.until_wall_ns;
	if (reader == NULL || fill_rows(reader, &period, rows, &reason) != 0)
		status = store_options_unreadable(directory, &reason);
	else
		status = print(options, &stats);
	store_reader_free(&reader);
	return status;
}

int
stats_command(int argc, char **argv)
{
	static const struct store_command command = {
	    .help = &help, .limit = 1, .run = tell};

	return store_command(argc, argv, &command);
}

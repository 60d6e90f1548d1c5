/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by stats.c. */
#include "cli/stats_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "cli/duration_text.h"
#include "cli/text_page.h"
#include "store/latency_json.h"

/* Columns end at these places, further right if names are long. */
enum { COUNT_END = 26, COUNT_WIDTH = 10, COLUMN = 10, NAME_MAX_WIDTH = 60 };

static unsigned
count_end(const struct stats *stats)
{
	size_t end = COUNT_END;

	for (size_t i = 0; i < stats->count; i++) {
		size_t size = strlen(stats->rows[i].name);

		if (size > NAME_MAX_WIDTH)
			size = NAME_MAX_WIDTH;
		if (size + COUNT_WIDTH > end)
			end = size + COUNT_WIDTH;
	}
	return (unsigned)end;
}

static void
page_times(struct text_page *page, const struct stats *stats)
{
	char since[CLOCK_TEXT_SIZE], until[CLOCK_TEXT_SIZE];

	clock_format(stats->since_wall_ns, since);
	clock_format(stats->until_wall_ns, until);
	page_format(page, "%.10s %.5s to %.10s %.5s UTC", since, since + 11,
	    until, until + 11);
	page_end_line(page);
}

static void
page_heading(struct text_page *page, const char *kind, unsigned end)
{
	page_end_line(page);
	page_colour(page, PAGE_BOLD);
	page_text(page, strcmp(kind, "route") == 0   ? "deliveries"
			: strcmp(kind, "phase") == 0 ? "phases"
						     : kind);
	page_right(page, "count", end);
	for (unsigned i = 0; i < LATENCY_QUANTILES; i++)
		page_right(page,
		    latency_quantile_name((enum latency_quantile)i),
		    end + (i + 1) * COLUMN);
	page_colour(page, PAGE_PLAIN);
	page_end_line(page);
}

static void
page_row(struct text_page *page, const struct stats_row *row, unsigned end)
{
	char text[DURATION_TEXT_SIZE];

	page_name(page, row->name);
	snprintf(
	    text, sizeof(text), "%llu", (unsigned long long)row->point.count);
	page_right(page, text, end);
	for (unsigned i = 0; i < LATENCY_QUANTILES; i++) {
		duration_text(
		    row->point.quantiles_ns[i], page->style.utf8, text);
		page_right(page, text, end + (i + 1) * COLUMN);
	}
	page_end_line(page);
}

void
stats_text(const struct stats *stats, const struct text_style *style,
    struct buffer *out)
{
	struct text_page page = {*style, out, 0};
	unsigned end = count_end(stats);
	const char *kind = "";

	page_times(&page, stats);
	for (size_t i = 0; i < stats->count; i++) {
		const struct stats_row *row = &stats->rows[i];

		if (row->point.count == 0)
			continue;
		if (strcmp(kind, row->kind) != 0)
			page_heading(&page, row->kind, end);
		kind = row->kind;
		page_row(&page, row, end);
	}
	if (*kind != '\0')
		return;
	page_text(&page, "nothing was delivered");
	page_end_line(&page);
}

void
stats_json(const struct stats *stats, struct buffer *out)
{
	char since[CLOCK_TEXT_SIZE], until[CLOCK_TEXT_SIZE];

	clock_format(stats->since_wall_ns, since);
	clock_format(stats->until_wall_ns, until);
	buffer_append_format(out,
	    "{\"since\": \"%s\", \"until\": \"%s\", \"latencies\": [", since,
	    until);
	for (size_t i = 0; i < stats->count; i++) {
		const struct stats_row *row = &stats->rows[i];

		buffer_append_format(out,
		    "%s{\"%s\": \"%s\", \"latency\": ", i > 0 ? ",\n" : "\n",
		    row->kind, row->name);
		latency_point_json(&row->point, out);
		buffer_append_string(out, "}");
	}
	buffer_append_string(out, "\n]}\n");
}

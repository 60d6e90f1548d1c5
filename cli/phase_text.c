/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of phases. Called by timeline_text.c for the message's phases and by
 * recipient_text.c for those of recipients.
 */
#include "cli/phase_text.h"

#include "cli/duration_text.h"
#include "cli/text_page.h"
#include "store/timeline.h"

enum {
	OFFSET_END = 28,
	DURATION_END = 39,
	BAR_BEGIN = 41,
	BAR_LEAST = 8 /* columns; below that a bar says nothing */
};

static bool
has_bars(const struct text_page *page)
{
	return page->style.width >= BAR_BEGIN + BAR_LEAST;
}

/* What the bars' ends stand for. */
static void
scale(struct text_page *page, const struct timeline *timeline)
{
	char begin[DURATION_TEXT_SIZE], end[DURATION_TEXT_SIZE];

	offset_text(timeline->first_offset_ns, page->style.utf8, begin);
	offset_text(timeline->last_offset_ns, page->style.utf8, end);
	page_pad(page, BAR_BEGIN);
	page_text(page, begin);
	if (page->column + 1 + page_columns(end) <= page->style.width)
		page_right(page, end, page->style.width);
}

void
phase_text_heading(struct text_page *page, const struct timeline *timeline)
{
	page_colour(page, PAGE_BOLD);
	page_text(page, "phase");
	page_right(page, "offset", OFFSET_END);
	page_right(page, "duration", DURATION_END);
	if (has_bars(page))
		scale(page, timeline);
	page_colour(page, PAGE_PLAIN);
	page_end_line(page);
}

static void
row_bar(struct text_page *page, const struct timeline *timeline,
    const struct timeline_phase *phase)
{
	struct page_bar bar = {
	    .begin = (double)phase->offset_ns,
	    .end = (double)phase->offset_ns + (double)phase->duration_ns,
	    .whole_begin = (double)timeline->first_offset_ns,
	    .whole_end = (double)timeline->last_offset_ns,
	};

	if (!has_bars(page))
		return;
	page_pad(page, BAR_BEGIN);
	page_colour(page, PAGE_BAR);
	page_bar(page, &bar);
	page_colour(page, PAGE_PLAIN);
}

static void
row(struct text_page *page, const struct timeline *timeline,
    const struct timeline_phase *phase)
{
	char text[DURATION_TEXT_SIZE];

	page_text(page, phase_describe(phase->phase)->name);
	offset_text(phase->offset_ns, page->style.utf8, text);
	page_right(page, text, OFFSET_END);
	duration_text(phase->duration_ns, page->style.utf8, text);
	page_right(page, text, DURATION_END);
	if (phase->skewed) {
		page_pad(page, BAR_BEGIN);
		page_colour(page, PAGE_WARN);
		page_wrapped(page, "clocks disagree: not a duration");
		page_colour(page, PAGE_PLAIN);
	} else {
		row_bar(page, timeline, phase);
	}
	page_end_line(page);
}

void
phase_text_rows(struct text_page *page, const struct timeline *timeline,
    const struct timeline_phase *phases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		row(page, timeline, &phases[i]);
}
